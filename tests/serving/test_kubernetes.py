"""The manifests: by Kubernetes' own schemas, and that they fit each other and the image."""

import kubernetes_validate
import pytest
import yaml
from deployed import SERVING, entry_point, in_image, read_flags, require_files, stages

from zoo.serving.batching_parameters import read_parameters

FOLDER = SERVING / "kubernetes"
VERSION = "1.30"
RESOURCES = [
    resource
    for path in sorted(FOLDER.iterdir())
    for resource in yaml.safe_load_all(path.read_text(encoding="utf-8"))
]


def find(kind, name="models"):
    (found,) = [each for each in RESOURCES if each["kind"] == kind and each["metadata"]["name"] == name]
    return found


@pytest.fixture
def pod():
    return find("Deployment")["spec"]["template"]


@pytest.fixture
def container(pod):
    (found,) = pod["spec"]["containers"]
    return found


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda each: f"{each['kind']} {each['metadata']['name']}")
def test_resources_fit_the_schemas(resource):
    kubernetes_validate.validate(resource, VERSION, strict=True)


def test_a_misspelled_field_would_be_seen():
    with pytest.raises(kubernetes_validate.ValidationError, match="replica"):
        kubernetes_validate.validate({**find("Deployment"), "spec": {"replica": 3}}, VERSION, strict=True)


def test_everything_selects_the_pods_of_the_deployment(pod):
    labels = pod["metadata"]["labels"]
    selectors = [
        find("Deployment")["spec"]["selector"]["matchLabels"],
        find("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        find("NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
        find("Service", "models-grpc")["spec"]["selector"],
        find("Service", "models-rest")["spec"]["selector"],
        *(each["labelSelector"]["matchLabels"] for each in pod["spec"]["topologySpreadConstraints"]),
    ]
    assert selectors == [labels] * len(selectors)
    assert (
        find("HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]["name"]
        == find("Deployment")["metadata"]["name"]
    )


def test_replicas_outlive_the_loss_of_one():
    smallest = find("HorizontalPodAutoscaler")["spec"]["minReplicas"]
    assert find("PodDisruptionBudget")["spec"]["minAvailable"] < smallest
    assert "replicas" not in find("Deployment")["spec"], "each roll-out would go back to so many"
    assert find("Deployment")["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0


def test_the_service_for_grpc_is_headless(container):
    """Its name stands for the addresses of all pods, not for one that a connection would stick to."""
    assert find("Service", "models-grpc")["spec"]["clusterIP"] == "None"
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    given = read_flags(entry_point()[1])
    assert ports == {"grpc": int(given["port"]), "rest": int(given["rest_api_port"])}
    for service in ("models-grpc", "models-rest"):
        (port,) = find("Service", service)["spec"]["ports"]
        assert ports[port["targetPort"]] == port["port"]


def test_the_flags_are_known_and_follow_those_of_the_image(container):
    assert "command" not in container
    require_files(read_flags(entry_point()[1] + container["args"]))


def test_threads_are_as_many_as_the_cpus(container):
    given = read_flags(container["args"])
    cpus = container["resources"]["requests"]["cpu"]
    assert given["tensorflow_inter_op_parallelism"] == cpus
    parameters = read_parameters(str(in_image(given["batching_parameters_file"])))
    assert 2 * parameters.num_batch_threads == int(cpus), "an export searches a batch in two parts"
    # Only requests that wait at the same time can share a batch.
    for threads in ("rest_api_num_threads", "grpc_max_threads"):
        assert int(given[threads]) >= parameters.rows * parameters.num_batch_threads


def test_the_probes_work_with_the_image(container):
    for probe in ("startupProbe", "readinessProbe"):
        shell, script = container[probe]["exec"]["command"]
        assert shell == "/bin/bash"
        assert in_image(script).is_file()
    assert container["livenessProbe"]["grpc"] == {"port": 8500}
    assert read_flags(container["args"])["enable_grpc_healthcheck_service"] == "true"


def test_a_pod_ends_after_its_connections_have(pod, container):
    """Each lives for its age, which gRPC stretches by a tenth, and then until its calls are answered."""
    channel = dict(
        each.split("=") for each in read_flags(container["args"])["grpc_channel_arguments"].split(",")
    )
    age, grace = (int(channel[f"grpc.max_connection_age{part}_ms"]) / 1000 for part in ("", "_grace"))
    program, seconds = container["lifecycle"]["preStop"]["exec"]["command"]
    assert program == "/bin/sleep"
    assert float(seconds) > 1.1 * age
    assert pod["spec"]["terminationGracePeriodSeconds"] >= float(seconds) + grace


def test_nothing_runs_as_root_or_writes(pod, container):
    user = dict(stages()[-1])["USER"]
    of_pod = pod["spec"]["securityContext"]
    assert f"{of_pod['runAsUser']}:{of_pod['runAsGroup']}" == user
    assert of_pod["runAsNonRoot"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_prometheus_is_told_where_the_metrics_are(pod):
    notes = pod["metadata"]["annotations"]
    assert (notes["prometheus.io/port"], notes["prometheus.io/path"]) == (
        "8501",
        "/monitoring/prometheus/metrics",
    )
