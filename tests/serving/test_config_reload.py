"""HandleReloadConfigRequest: the set of models is replaced while requests run."""

import threading

import grpc
import pytest
from google.protobuf import text_format
from tensorflow_serving.apis.model_management_pb2 import ReloadConfigRequest
from tensorflow_serving.apis.model_service_pb2_grpc import ModelServiceStub
from tiny_models import half_plus_two

from zoo.serving.client import RestClient, ServingError
from zoo.serving.server import Server


@pytest.fixture
def folder(tmp_path):
    half_plus_two(tmp_path / "a" / "1", offset=1.0)
    half_plus_two(tmp_path / "a" / "2", offset=2.0)
    half_plus_two(tmp_path / "b" / "1", offset=3.0)
    return tmp_path


@pytest.fixture
def server(folder):
    with Server({"a": folder / "a"}, grpc_port=0, rest_port=0) as running:
        yield running


@pytest.fixture
def reload(server):
    with grpc.insecure_channel(server.grpc_target) as channel:

        def call(*entries):
            entries = " ".join(f"config {{ {entry} }}" for entry in entries)
            text = f"config {{ model_config_list {{ {entries} }} }}"
            request = text_format.Parse(text, ReloadConfigRequest())
            return ModelServiceStub(channel).HandleReloadConfigRequest(request, timeout=30)

        yield call


def entry(folder, name, more=""):
    return f"name: '{name}' base_path: '{folder / name}' model_platform: 'tensorflow' {more}"


def ask(server, model):
    with RestClient(server.rest_url, model=model) as client:
        return client.predict({"x": [0.0]})["y"]


def test_a_reload_replaces_the_models_and_returns_when_they_are_loaded(server, folder, reload):
    failures, enough = [], threading.Event()

    def ask_on():
        while not enough.is_set():
            if ask(server, "a") not in ([2.0], [1.0]):
                failures.append("another answer")

    asker = threading.Thread(target=ask_on)
    asker.start()
    response = reload(
        entry(folder, "a", "model_version_policy { specific { versions: 1 } }"), entry(folder, "b")
    )
    assert response.status.error_code == 0
    assert ask(server, "b") == [3.0]
    assert ask(server, "a") == [1.0]
    enough.set()
    asker.join()
    assert failures == []
    reload(entry(folder, "b"))
    with pytest.raises(ServingError, match="NOT_FOUND"):
        ask(server, "a")


@pytest.mark.parametrize(
    ("entries", "code", "message"),
    [
        (["name: 'a' base_path: 'rel' model_platform: 'tensorflow'"], "INVALID_ARGUMENT", "absolute path"),
        (["name: 'a' base_path: '/a'"], "INVALID_ARGUMENT", "Illegal setting neither"),
        (
            ["name: 'a' base_path: '/a' model_platform: 'tensorflow'"] * 2,
            "INVALID_ARGUMENT",
            "Illegal to list model a multiple times in config list",
        ),
        (
            ["name: 'a' base_path: '/a\\000b' model_platform: 'tensorflow'"],
            "INVALID_ARGUMENT",
            r"Expected model a to have a path without NUL characters; got base_path()='/a\x00b'",
        ),
        (["name: 'x' base_path: '/nowhere' model_platform: 'tensorflow'"], "UNKNOWN", "1 model(s) did not"),
        (
            ["name: 'a' base_path: '/a' model_platform: 'tensorflow' version_labels { key: 'x' value: 9 }"],
            "FAILED_PRECONDITION",
            "Request to assign label to version 9 of model a",
        ),
    ],
)
def test_what_is_refused(server, reload, entries, code, message):
    with pytest.raises(grpc.RpcError) as caught:
        reload(*entries)
    assert caught.value.code().name == code
    assert message in caught.value.details()
    if code != "UNKNOWN":
        assert ask(server, "a") == [2.0], "a refused config changes nothing"


def test_a_reload_without_a_list(server):
    with grpc.insecure_channel(server.grpc_target) as channel, pytest.raises(grpc.RpcError) as caught:
        ModelServiceStub(channel).HandleReloadConfigRequest(ReloadConfigRequest(), timeout=30)
    assert caught.value.details() == (
        "ServerModelConfig type not supported by HandleReloadConfigRequest. "
        "Only ModelConfigList is currently supported"
    )
