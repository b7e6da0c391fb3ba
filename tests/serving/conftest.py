import http.client
import json
from typing import NamedTuple

import pytest
from tiny_models import half_plus_two, seq2seq, texts

from zoo.serving.configs import ModelConfig, Policy
from zoo.serving.servables import Servables
from zoo.serving.server import Server
from zoo.serving.settings import Settings


class Answer(NamedTuple):
    status: int
    json: object
    raw: bytes
    content_type: str


@pytest.fixture(scope="session")
def models_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    half_plus_two(folder / "half" / "1", offset=2.0)
    half_plus_two(folder / "half" / "2", offset=3.0)
    texts(folder / "texts" / "1")
    seq2seq(folder / "toy" / "7")
    return folder


@pytest.fixture(scope="session")
def server(models_folder):
    """One server for every test that only asks."""
    models = {path.name: ModelConfig(path) for path in models_folder.iterdir()}
    models["half"] = ModelConfig(models_folder / "half", Policy.all(), {"stable": 1, "gone": 9})
    settings = Settings(
        rest_api_timeout_in_ms=2000,
        max_body_bytes=100_000,
        allow_version_labels_for_unavailable_models=True,
        enable_grpc_healthcheck_service=True,
    )
    with Server(models, grpc_port=0, rest_port=0, settings=settings) as running:
        yield running


@pytest.fixture(scope="session")
def ask(server):
    """Sends an HTTP request; a body that is not bytes goes as JSON."""

    def send(method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", server.rest_port, timeout=20)
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        raw = response.read()
        connection.close()
        try:
            parsed = json.loads(raw)
        except ValueError:
            parsed = None
        return Answer(response.status, parsed, raw, response.headers["content-type"])

    return send


@pytest.fixture(scope="session")
def predict(ask):
    """POSTs a document to a model's :predict, `half` by default."""

    def send(document, model="half"):
        return ask("POST", f"/v1/models/{model}:predict", document)

    return send


@pytest.fixture
def base(tmp_path):
    folder = tmp_path / "half"
    folder.mkdir()
    return folder


@pytest.fixture
def open_servables(base):
    """Makes servables of the model `half`, polled once; all are closed after the test."""
    opened = []

    def make(policy=Policy.latest(), labels=None, **settings):  # noqa: B008 - frozen
        config = ModelConfig(base, policy, labels or {})
        servables = Servables({"half": config}, settings=Settings(**settings))
        opened.append(servables)
        servables.poll()
        return servables

    yield make
    for servables in opened:
        servables.close()
