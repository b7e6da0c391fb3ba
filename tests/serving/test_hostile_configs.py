"""Whatever config comes over the wire, the server says what is wrong, and takes over the next good one."""

import grpc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tensorflow_serving.apis.model_management_pb2 import ReloadConfigRequest
from tiny_models import half_plus_two

from zoo.serving.client import RestClient
from zoo.serving.server import Server

RELOAD = "/tensorflow.serving.ModelService/HandleReloadConfigRequest"
ANSWERS = {"OK", "INVALID_ARGUMENT", "FAILED_PRECONDITION"}
NOT_AVAILABLE = "UNKNOWN"
"""What is said of a new model that has no version to serve, as TensorFlow Serving says it."""

NAMES = st.sampled_from(["half", "other", ""]) | st.text(max_size=3)
PLACES = st.sampled_from(
    ["HOME", "HOME/1", "/", "", "rel", "/nowhere", "/no\0where", "\0", "/" + "x" * 5000, "gs://a/b"]
) | st.text(max_size=5).map(lambda text: f"/nowhere/{text}")
BYTES = st.sampled_from([0, 1, ord("/"), 127, 255]) | st.integers(0, 255)
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 2)
ENTRIES = st.fixed_dictionaries(
    {
        "name": NAMES,
        "base_path": PLACES,
        "model_platform": st.sampled_from(["tensorflow"] * 8 + ["", "torch"]),
    },
    optional={
        "latest": st.integers(0, 2**32 - 1),
        "specific": st.lists(NUMBERS, max_size=3),
        "version_labels": st.dictionaries(st.text(max_size=3), NUMBERS, max_size=1),
    },
)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reloaded") / "half"
    half_plus_two(folder / "1")
    return folder


@pytest.fixture(scope="module")
def reload(home):
    """Sends bytes as a config to a server of its own; the code of the answer."""
    with (
        Server({"half": home}, grpc_port=0, rest_port=0) as server,
        grpc.insecure_channel(server.grpc_target) as channel,
        RestClient(server.rest_url, model="half") as client,
    ):

        def send(request):
            try:
                channel.unary_unary(RELOAD)(request, timeout=20)
            except grpc.RpcError as error:
                return error.code().name
            return "OK"

        def send_and_recover(request):
            """Whatever it was, what comes next is taken over and served."""
            code = send(request)
            assert send(config(home)) == "OK"
            assert client.predict({"x": [1.0]}) == {"y": [2.5]}
            return code

        yield send_and_recover


def config(home, *entries):
    """A request; without entries a good one. HOME in a base path is the folder of a model that is there."""
    request = ReloadConfigRequest()
    listed = request.config.model_config_list
    for entry in entries or [{"name": "half", "base_path": "HOME", "model_platform": "tensorflow"}]:
        made = listed.config.add(name=entry["name"], model_platform=entry["model_platform"])
        made.base_path = entry["base_path"].replace("HOME", str(home))
        made.version_labels.update(entry.get("version_labels", {}))
        if "latest" in entry:
            made.model_version_policy.latest.num_versions = entry["latest"]
        if "specific" in entry:
            made.model_version_policy.specific.versions.extend(entry["specific"])
    return request.SerializeToString()


@settings(max_examples=60)
@given(request=st.binary(max_size=60))
def test_configs_that_are_anything(reload, request):
    assert reload(request) in ANSWERS | {NOT_AVAILABLE}


@settings(max_examples=150)
@given(entries=st.lists(ENTRIES, min_size=1, max_size=3))
def test_configs_that_are_nearly_right(reload, home, entries):
    assert reload(config(home, *entries)) in ANSWERS | {NOT_AVAILABLE}


@settings(max_examples=150)
@given(data=st.data())
def test_configs_with_bytes_changed(reload, home, data):
    request = bytearray(config(home))
    for _ in range(data.draw(st.integers(1, 3))):
        request[data.draw(st.integers(0, len(request) - 1))] = data.draw(BYTES)
    assert reload(bytes(request)) in ANSWERS | {NOT_AVAILABLE}


def test_a_nul_in_a_path_is_the_caller_s_fault(reload, home):
    entries = [
        {"name": "half", "base_path": "HOME", "model_platform": "tensorflow"},
        {"name": "bad", "base_path": "/a\0b", "model_platform": "tensorflow"},
    ]
    assert reload(config(home, *entries)) == "INVALID_ARGUMENT"
