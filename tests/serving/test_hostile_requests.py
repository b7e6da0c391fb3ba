"""Whatever comes over the wire, the server refuses what is the client's fault, and goes on answering."""

import http.client
import json
import socket
from pathlib import Path

import grpc
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from tensorflow_serving.apis.predict_pb2 import PredictRequest
from tiny_models import half_plus_two, texts

from zoo.serving.client import GrpcClient, RestClient, ServingError
from zoo.serving.server import Server
from zoo.serving.settings import Flags, Settings

PREDICT = "/tensorflow.serving.PredictionService/Predict"
METHODS = [
    PREDICT,
    "/tensorflow.serving.PredictionService/GetModelMetadata",
    "/tensorflow.serving.ModelService/GetModelStatus",
]
FAULTS_OF_CLIENTS = {
    "INVALID_ARGUMENT",
    "FAILED_PRECONDITION",
    "NOT_FOUND",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "RESOURCE_EXHAUSTED",
}
SIGNATURES = ["", "serving_default", "pair", "raw", "scalar", "number", "square", "nope"]

NAMES = st.sampled_from(["text", "x", "steps", "b64", ""]) | st.text(max_size=3)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={"instances": VALUES, "inputs": VALUES, "signature_name": st.sampled_from(SIGNATURES) | LEAVES},
)
SHAPES = st.lists(st.integers(-2, 3) | st.sampled_from([2**31, 2**62]), max_size=4)
TYPES = st.integers(0, 30)


@pytest.fixture(scope="module")
def connection(server):
    made = http.client.HTTPConnection("127.0.0.1", server.rest_port, timeout=20)
    yield made
    made.close()


@pytest.fixture(scope="module")
def channel(server):
    with grpc.insecure_channel(server.grpc_target) as made:
        yield made


def post(connection, path, body):
    connection.request("POST", path, body)
    response = connection.getresponse()
    return response.status, response.read()


def call(channel, method, request):
    """The code of the answer; bytes go as they are."""
    try:
        channel.unary_unary(method)(request, timeout=20)
    except grpc.RpcError as error:
        return error.code().name
    return "OK"


def require_refused_well(status, body):
    assert status in (200, 400, 404, 501), (status, body)
    if status != 200:
        assert list(json.loads(body)) == ["error"]


@pytest.fixture(autouse=True)
def still_answers(server):
    yield
    for client in (RestClient(server.rest_url, model="half"), GrpcClient(server.grpc_target, model="half")):
        with client:
            assert client.predict({"x": [1.0]}) == {"y": [3.5]}


@settings(max_examples=60)
@given(body=st.binary(max_size=60) | st.text(max_size=30).map(lambda text: text.encode("utf-8", "replace")))
def test_bodies_that_are_anything(connection, body):
    require_refused_well(*post(connection, "/v1/models/half:predict", body))


@settings(max_examples=120)
@given(document=DOCUMENTS, model=st.sampled_from(["half", "texts"]))
def test_documents_that_are_nearly_right(connection, document, model):
    require_refused_well(*post(connection, f"/v1/models/{model}:predict", json.dumps(document).encode()))


@settings(max_examples=60)
@given(instances=VALUES.filter(lambda value: isinstance(value, list)), depth=st.integers(0, 40))
def test_rows_of_any_rank(connection, instances, depth):
    for _ in range(depth):
        instances = [instances]
    body = json.dumps({"instances": instances}).encode()
    require_refused_well(*post(connection, "/v1/models/half:predict", body))


@settings(max_examples=80)
@given(method=st.sampled_from(METHODS), request=st.binary(max_size=60))
def test_calls_that_are_anything(channel, method, request):
    assert call(channel, method, request) in FAULTS_OF_CLIENTS | {"OK"}


def test_bytes_that_are_no_message_are_the_caller_s_fault(channel):
    with pytest.raises(grpc.RpcError) as caught:
        channel.unary_unary(PREDICT)(b"\xff", timeout=20)
    assert caught.value.code().name == "INVALID_ARGUMENT"
    assert caught.value.details().startswith("The request cannot be read as the message of this call: ")


@settings(max_examples=100)
@given(data=st.data())
def test_requests_with_bytes_changed(channel, data):
    good = PredictRequest()
    good.model_spec.name = "half"
    good.inputs["x"].CopyFrom(tf.make_tensor_proto([1.0, 2.0]))
    request = bytearray(good.SerializeToString())
    for _ in range(data.draw(st.integers(1, 3))):
        request[data.draw(st.integers(0, len(request) - 1))] = data.draw(st.integers(0, 255))
    assert call(channel, PREDICT, bytes(request)) in FAULTS_OF_CLIENTS | {"OK"}


@settings(max_examples=120)
@given(
    model=st.sampled_from(["half", "texts"]),
    signature=st.sampled_from(SIGNATURES),
    shape=SHAPES,
    dtype=TYPES,
    content=st.binary(max_size=16),
    floats=st.lists(st.floats(width=32), max_size=3),
    strings=st.lists(st.binary(max_size=4), max_size=3),
    unknown_rank=st.booleans(),
)
def test_tensors_that_are_nearly_right(
    channel, model, signature, shape, dtype, content, floats, strings, unknown_rank
):
    request = PredictRequest()
    request.model_spec.name, request.model_spec.signature_name = model, signature
    tensor = request.inputs["x" if model == "half" or signature == "square" else "text"]
    tensor.dtype, tensor.tensor_content = dtype, content
    tensor.tensor_shape.unknown_rank = unknown_rank
    for size in shape:
        tensor.tensor_shape.dim.add(size=size)
    tensor.float_val.extend(floats)
    tensor.string_val.extend(strings)
    assert call(channel, PREDICT, request.SerializeToString()) in FAULTS_OF_CLIENTS | {"OK"}


@pytest.mark.parametrize(
    "name",
    [
        "..",
        "../half",
        "../../etc/passwd",
        "half/../half",
        "/etc",
        "half/1",
        "half\0",
        "half/",
        "~",
        "$HOME",
        "*",
    ],
)
def test_a_model_s_name_is_no_path(server, connection, channel, name):
    for escaped in (name.replace("\0", "%00"), "".join(f"%{byte:02x}" for byte in name.encode())):
        for verb in (":predict", ""):
            connection.request("POST" if verb else "GET", f"/v1/models/{escaped}{verb}", b"{}")
            response = connection.getresponse()
            body = response.read()
            assert response.status in (400, 404), (escaped, response.status, body)
            assert b"root:" not in body
    request = PredictRequest()
    request.model_spec.name = name
    assert call(channel, PREDICT, request.SerializeToString()) == "NOT_FOUND"


def test_it_listens_on_loopback_unless_told_otherwise(server):
    assert Flags().host == server.host == "127.0.0.1"
    for port in (server.rest_port, server.grpc_port):
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        with pytest.raises(OSError):  # noqa: PT011 - the kind differs between systems
            socket.create_connection(("127.0.0.2", port), timeout=1)


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    """A server with limits that are soon reached."""
    folder: Path = tmp_path_factory.mktemp("narrow")
    half_plus_two(folder / "half" / "1")
    texts(folder / "texts" / "1")
    limits = Settings(max_body_bytes=10_000, max_request_rows=3, max_text_bytes=5, enable_batching=True)
    models = {path.name: path for path in folder.iterdir()}
    with Server(models, grpc_port=0, rest_port=0, settings=limits) as running:
        yield running


@pytest.fixture(params=["REST", "gRPC"])
def narrow_client(narrow, request):
    def make(model):
        if request.param == "REST":
            return RestClient(narrow.rest_url, model=model)
        return GrpcClient(narrow.grpc_target, model=model)

    return make


def test_rows_have_a_limit(narrow_client):
    with narrow_client("half") as client:
        assert client.predict({"x": [0.0] * 3}) == {"y": [2.0] * 3}
        with pytest.raises(
            ServingError, match=r"has 4 rows, and this server takes 3 .*--max_request_rows=4"
        ) as caught:
            client.predict({"x": [0.0] * 4})
    assert caught.value.code == "INVALID_ARGUMENT"


def test_texts_have_a_limit(narrow_client):
    with narrow_client("texts") as client:
        assert client.predict({"text": ["abcde"]}) == {"text": ["ABCDE"]}
        with pytest.raises(ServingError, match="a text of 6 bytes, and this server takes 5") as caught:
            client.predict({"text": ["a", "ééé"]})
    assert caught.value.code == "INVALID_ARGUMENT"


def test_one_long_text_does_not_make_many_rows_long(server):
    with (
        RestClient(server.rest_url, model="texts") as client,
        pytest.raises(ServingError, match="has 1000 rows, the longest of 70000 bytes") as caught,
    ):
        client.predict({"text": ["a" * 70_000] + ["a"] * 999})
    assert caught.value.code == "INVALID_ARGUMENT"


def test_requests_have_a_limit_in_bytes(narrow_client):
    with narrow_client("half") as client, pytest.raises(ServingError) as caught:
        client.predict({"x": [0.5] * 10_000})
    assert caught.value.code == "RESOURCE_EXHAUSTED"


@pytest.mark.parametrize("size", [200_000, 20_000_000])
def test_rest_says_that_a_body_was_too_large(server, size):
    """The server answers before it has read all of it, and hangs up."""
    with RestClient(server.rest_url, model="toy") as client:
        with pytest.raises(ServingError) as caught:
            client.answer(["x" * size])
        assert caught.value.code == "RESOURCE_EXHAUSTED"
        assert client.answer(["ab"]) == ["AB"]


def test_with_batching_a_request_without_rows_is_answered(narrow):
    """TensorFlow Serving says nothing, and soon answers nobody."""
    connection = http.client.HTTPConnection("127.0.0.1", narrow.rest_port, timeout=20)
    assert post(connection, "/v1/models/half:predict", b'{"inputs": []}') == (200, b'{"outputs": []}')
    connection.close()


def test_there_are_limits_by_default():
    assert (Flags().max_body_bytes, Flags().max_request_rows, Flags().max_text_bytes) == (2**24, 1000, 2**20)
