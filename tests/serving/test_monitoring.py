import re
import urllib.request

import pytest
from tiny_models import half_plus_two

from zoo.serving.client import GrpcClient, RestClient
from zoo.serving.messages import RefusalError
from zoo.serving.monitoring import DEFAULT_PATH, Monitoring, metrics_path
from zoo.serving.rest import RestApi
from zoo.serving.servables import Servables
from zoo.serving.server import Server
from zoo.serving.settings import Settings


def write(tmp_path, text):
    path = tmp_path / "monitoring.config"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("prometheus_config { enable: true }", DEFAULT_PATH),
        ('prometheus_config { enable: true path: "/metrics" }', "/metrics"),
        ("prometheus_config { enable: false }", None),
        ("", None),
    ],
)
def test_where_the_page_is(tmp_path, text, path):
    assert metrics_path(write(tmp_path, text)) == path


def test_without_a_file_there_is_no_page():
    assert metrics_path("") is None


def test_a_file_that_does_not_parse(tmp_path):
    with pytest.raises(RefusalError, match="Invalid protobuf file: '"):
        metrics_path(write(tmp_path, "prometheus: 1"))


def samples(page):
    """Name with labels, to value."""
    lines = [line for line in page.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_requests_are_counted_by_model_and_status():
    monitoring = Monitoring()
    for status in ("OK", "OK", "NOT_FOUND"):
        monitoring.count_request("m", status)
    assert "# TYPE :tensorflow:serving:request_count counter" in monitoring.page().splitlines()
    found = samples(monitoring.page())
    assert found[':tensorflow:serving:request_count{model_name="m",status="OK"}'] == 2
    assert found[':tensorflow:serving:request_count{model_name="m",status="NOT_FOUND"}'] == 1


def test_a_histogram_has_33_buckets_from_10_microseconds_on_and_one_for_the_rest():
    monitoring = Monitoring()
    for microseconds in (9.0, 10.0, 17.0, 1e12):
        monitoring.time_request("m", "predict", "REST", microseconds / 1e6)
    name = ":tensorflow:serving:request_latency"
    labels = 'model_name="m",API="predict",entrypoint="REST"'
    found = samples(monitoring.page())
    buckets = [(key, value) for key, value in found.items() if key.startswith(f"{name}_bucket")]
    assert [re.search('le="(.*)"', key)[1] for key, _ in buckets][:5] == [
        "10",
        "18",
        "32.4",
        "58.32",
        "104.976",
    ]
    assert [value for _, value in buckets][:3] == [1, 3, 3]
    assert len(buckets) == 34
    assert buckets[-1] == (f'{name}_bucket{{{labels},le="+Inf"}}', 4)
    assert found[f"{name}_count{{{labels}}}"] == 4
    assert found[f"{name}_sum{{{labels}}}"] == pytest.approx(1e12, rel=1e-5)


def test_names_are_escaped_and_their_number_is_bounded():
    monitoring = Monitoring()
    monitoring.count_request('a"\\\n\udcff', "OK")
    assert 'model_name="a\\"\\\\\\n?"' in monitoring.page()
    for number in range(10_100):
        monitoring.count_request(f"m{number}", "NOT_FOUND")
    assert len(samples(monitoring.page())) < 10_010
    assert 'model_name="(other)"' in monitoring.page()


def test_names_that_were_counted_before_the_bound_was_reached_go_on_being_counted():
    monitoring = Monitoring()
    monitoring.count_request("known", "OK")
    for number in range(10_100):
        monitoring.count_request(f"m{number}", "NOT_FOUND")
    monitoring.count_request("known", "OK")
    monitoring.count_request("known", "INTERNAL")
    found = samples(monitoring.page())
    name = ":tensorflow:serving:request_count"
    assert found[f'{name}{{model_name="known",status="OK"}}'] == 2
    assert found[f'{name}{{model_name="(other)",status="INTERNAL"}}'] == 1


@pytest.fixture
def api():
    return RestApi(Servables({}), metrics_path="/metrics")


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD"])
def test_the_page_over_rest(api, method):
    reply = api.answer(method, "/metrics", b"")
    assert (reply.status, reply.content_type) == (200, "text/plain")


def test_the_page_takes_no_query(api):
    reply = api.answer("GET", "/metrics?x=1", b"")
    assert (reply.status, reply.content_type) == (400, "text/plain")
    assert reply.body == b"Unexpected path: /metrics?x=1. Should be /metrics"


def test_unknown_models_are_counted_too(api):
    api.answer("POST", "/v1/models/nope:predict", b"{}")
    api.answer("GET", "/nothing", b"")
    found = samples(api.answer("GET", "/metrics", b"").body.decode())
    assert found[':tensorflow:serving:request_count{model_name="nope",status="NOT_FOUND"}'] == 1
    assert sum(value for name, value in found.items() if "request_count" in name) == 1


def test_both_interfaces_are_counted(tmp_path):
    half_plus_two(tmp_path / "half" / "1")
    config = write(tmp_path, "prometheus_config { enable: true path: '/metrics' }")
    settings = Settings(monitoring_config_file=config)
    with Server({"half": tmp_path / "half"}, grpc_port=0, rest_port=0, settings=settings) as server:
        for client in (
            RestClient(server.rest_url, model="half"),
            GrpcClient(server.grpc_target, model="half"),
        ):
            with client:
                client.predict({"x": [1.0]})
        with urllib.request.urlopen(f"{server.rest_url}/metrics") as answer:
            page = samples(answer.read().decode())
    name = ":tensorflow:serving:"
    # The REST client asks for the metadata first.
    assert page[f'{name}request_count{{model_name="half",status="OK"}}'] == 3
    for api, entrypoint in (("predict", "REST"), ("Predict", "GRPC")):
        labels = f'model_name="half",API="{api}",entrypoint="{entrypoint}"'
        assert page[f"{name}request_latency_count{{{labels}}}"] == 1
        labels = f'model_name="half",API="{api}",runtime="TF1"'
        assert page[f"{name}runtime_latency_count{{{labels}}}"] == 1
