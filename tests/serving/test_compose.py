"""The compose file, as Docker Compose itself reads it, and what Prometheus and Grafana are given in it."""

import functools
import json
import re
import subprocess

import jsonschema
import promql_parser
import pytest
import yaml
from deployed import ROOT, SERVING, read_flags, require_files, stages, tool

from zoo.serving.monitoring import DEFAULT_PATH, Monitoring

METRICS = {
    "request_count": {"model_name", "status"},
    "request_latency": {"model_name", "API", "entrypoint"},
    "runtime_latency": {"model_name", "API", "runtime"},
    "batching_session:wrapped_run_count": set(),
    "batching_session:queuing_latency": {"thread_pool_name"},
}
"""Those of TensorFlow Serving that are shown, with their labels; a histogram has three series of each."""
OF_TENSORFLOW_SERVING_ALONE = {"batching_session:queuing_latency"}
OF_PROMETHEUS = {"up": {"job", "instance"}}
PREFIX = ":tensorflow:serving:"


@functools.cache
def compose():
    """The file as Docker Compose resolves it, with all profiles."""
    done = subprocess.run(
        [
            tool("docker-compose"),
            "-f",
            SERVING / "compose.yaml",
            "--profile",
            "*",
            "config",
            "--format",
            "json",
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def services():
    return compose()["services"]


def test_the_services():
    assert services().keys() == {"models", "prometheus", "grafana", "client"}


def test_the_models_are_built_from_the_dockerfile_and_get_flags_that_the_server_knows():
    models = services()["models"]
    assert models["build"] == {"context": str(ROOT), "dockerfile": "Dockerfile"}
    require_files(read_flags(models["command"]))
    # The image's entry point passes on signals.
    assert models.get("entrypoint") is None


def test_ports_are_open_to_this_machine_alone():
    for name, service in services().items():
        for port in service.get("ports", []):
            assert port["host_ip"] == "127.0.0.1", name
    assert [port["target"] for port in services()["models"]["ports"]] == [8500, 8501]


def test_what_is_mounted_is_here():
    for service in services().values():
        for volume in service.get("volumes", []):
            assert (volume["type"], volume["read_only"]) == ("bind", True)
            assert volume["source"].startswith(str(SERVING))
            assert subprocess.run(["test", "-e", volume["source"]], check=False).returncode == 0, volume


def test_whatever_is_waited_for_has_a_health_check():
    in_image = {"models": any(name == "HEALTHCHECK" for name, _ in stages()[-1])}
    waited_for = set()
    for service in services().values():
        for name, how in service.get("depends_on", {}).items():
            assert how["condition"] == "service_healthy"
            assert in_image.get(name) or services()[name]["healthcheck"]["test"][0] == "CMD"
            waited_for.add(name)
    assert waited_for == {"models", "prometheus"}


def test_images_are_pinned():
    for name, service in services().items():
        if "build" not in service:
            assert re.search(r":v?\d+\.\d+\.\d+$", service["image"]), name


def test_there_are_no_secrets():
    assert "secrets" not in compose()
    for service in services().values():
        for name in service.get("environment") or {}:
            assert not re.search("PASSWORD|SECRET|TOKEN|KEY", name)
        assert service["cap_drop"] == ["ALL"]


PROMETHEUS = {
    "type": "object",
    "additionalProperties": False,
    "required": ["scrape_configs"],
    "properties": {
        "global": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                name: {"type": "string", "pattern": "^[0-9]+[sm]$"}
                for name in ("scrape_interval", "evaluation_interval")
            },
        },
        "rule_files": {"type": "array", "items": {"type": "string"}},
        "scrape_configs": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["job_name", "static_configs"],
                "properties": {
                    "job_name": {"type": "string"},
                    "metrics_path": {"type": "string", "pattern": "^/"},
                    "fallback_scrape_protocol": {"enum": ["PrometheusText0.0.4"]},
                    "static_configs": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "additionalProperties": False,
                            "properties": {
                                "targets": {"type": "array", "items": {"pattern": r"^[\w.-]+:\d+$"}}
                            },
                        },
                    },
                },
            },
        },
    },
}
ALERTS = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "groups": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["name", "rules"],
                "properties": {
                    "name": {"type": "string"},
                    "rules": {
                        "type": "array",
                        "minItems": 1,
                        "items": {
                            "type": "object",
                            "additionalProperties": False,
                            "required": ["alert", "expr", "for", "labels", "annotations"],
                            "properties": {
                                "alert": {"pattern": "^[A-Z][A-Za-z]+$"},
                                "expr": {"type": "string"},
                                "for": {"pattern": "^[0-9]+[sm]$"},
                                "labels": {"required": ["severity"]},
                                "annotations": {"required": ["summary"]},
                            },
                        },
                    },
                },
            },
        }
    },
}
DASHBOARD = {
    "type": "object",
    "required": ["uid", "title", "schemaVersion", "panels", "templating", "time"],
    "properties": {
        "schemaVersion": {"type": "integer"},
        "panels": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["id", "type", "title", "description", "gridPos", "datasource", "targets"],
                "properties": {
                    "type": {"const": "timeseries"},
                    "gridPos": {"required": ["x", "y", "w", "h"]},
                    "targets": {
                        "type": "array",
                        "minItems": 1,
                        "items": {"required": ["refId", "expr", "legendFormat", "datasource"]},
                    },
                },
            },
        },
    },
}


def read(name):
    text = (SERVING / name).read_text(encoding="utf-8")
    return json.loads(text) if name.endswith(".json") else yaml.safe_load(text)


@pytest.mark.parametrize(
    ("name", "schema"),
    [("prometheus.yaml", PROMETHEUS), ("alerts.yaml", ALERTS), ("grafana/models.json", DASHBOARD)],
)
def test_files_have_the_form_that_their_readers_want(name, schema):
    jsonschema.validate(read(name), schema)


def test_prometheus_asks_where_the_server_shows_its_metrics():
    (job,) = read("prometheus.yaml")["scrape_configs"]
    assert job["metrics_path"] == DEFAULT_PATH
    assert job["static_configs"] == [{"targets": ["models:8501"]}]
    mounted = {volume["target"]: volume["source"] for volume in services()["prometheus"]["volumes"]}
    for rules in read("prometheus.yaml")["rule_files"]:
        assert f"/etc/prometheus/{rules}" in mounted


def test_grafana_finds_prometheus_and_the_dashboard():
    (source,) = read("grafana/datasource.yaml")["datasources"]
    assert source["url"] == "http://prometheus:9090"
    (provider,) = read("grafana/dashboards.yaml")["providers"]
    grafana = services()["grafana"]
    mounted = [volume["target"] for volume in grafana["volumes"]]
    home = grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert home in mounted
    assert home.startswith(f"{provider['options']['path']}/")
    dashboard = read("grafana/models.json")
    used = {each["datasource"]["uid"] for panel in dashboard["panels"] for each in (panel, *panel["targets"])}
    assert used == {source["uid"]}


def test_panels_do_not_cover_each_other():
    taken = set()
    for panel in read("grafana/models.json")["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken
        assert place["x"] + place["w"] <= 24
        taken |= cells


def expressions():
    for panel in read("grafana/models.json")["panels"]:
        yield from (target["expr"].replace("$__rate_interval", "5m") for target in panel["targets"])
    for group in read("alerts.yaml")["groups"]:
        yield from (rule["expr"] for rule in group["rules"])


def selectors(node):
    """What an expression asks for: metrics, each with the labels that it is chosen by."""
    if isinstance(node, promql_parser.VectorSelector):
        yield node.name, {matcher.name for matcher in node.matchers.matchers}
    for name in ("expr", "lhs", "rhs", "param", "vector_selector", "vs"):
        if (child := getattr(node, name, None)) is not None:
            yield from selectors(child)
    for child in getattr(node, "args", []):
        yield from selectors(child)


def base(metric):
    """The metric of a series: a histogram's have endings."""
    if metric in OF_PROMETHEUS:
        return metric
    assert metric.startswith(PREFIX)
    return re.sub("_(bucket|sum|count)$", "", metric) if "latency" in metric else metric


@pytest.mark.parametrize("expression", list(expressions()))
def test_expressions_ask_for_metrics_and_labels_that_there_are(expression):
    found = list(selectors(promql_parser.parse(expression)))
    assert len(found) == len(re.findall(r"\bup\b|:tensorflow:", expression))
    labels = {f"{PREFIX}{name}": known for name, known in METRICS.items()} | OF_PROMETHEUS
    for metric, chosen in found:
        assert chosen <= labels[base(metric)] | {"instance"}, metric
        assert metric.endswith("_bucket") == ("latency" in metric)
    grouped = {word for by in re.findall(r"by \(([^)]*)\)", expression) for word in by.split(", ")}
    assert grouped <= set.union(*(labels[base(metric)] for metric, _ in found)) | {"le", "instance"}


def test_the_embedded_server_shows_the_same_metrics_with_the_same_labels():
    monitoring = Monitoring()
    monitoring.count_request("m", "OK")
    monitoring.time_request("m", "predict", "REST", 0.001)
    with monitoring.timed_run("m", "predict"):
        monitoring.count_batch()
    shown = {}
    for name, labels in re.findall(r"^([\w:]+)\{(.*)\} ", monitoring.page(), re.MULTILINE):
        shown[base(name).removeprefix(PREFIX)] = set(re.findall(r'(\w+)="', labels)) - {"le"}
    assert shown == {
        name: labels for name, labels in METRICS.items() if name not in OF_TENSORFLOW_SERVING_ALONE
    }


def test_legends_name_labels_that_are_there():
    for panel in read("grafana/models.json")["panels"]:
        for target in panel["targets"]:
            grouped = ",".join(re.findall(r"by \(([^)]*)\)", target["expr"]))
            for label in re.findall(r"{{(\w+)}}", target["legendFormat"]):
                assert label in grouped
