import grpc
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.framework.tensor_pb2 import TensorProto
from tensorflow_serving.apis.classification_pb2 import ClassificationRequest
from tensorflow_serving.apis.get_model_metadata_pb2 import GetModelMetadataRequest, SignatureDefMap
from tensorflow_serving.apis.get_model_status_pb2 import GetModelStatusRequest, ModelVersionStatus
from tensorflow_serving.apis.inference_pb2 import MultiInferenceRequest
from tensorflow_serving.apis.model_service_pb2_grpc import ModelServiceStub
from tensorflow_serving.apis.predict_pb2 import PredictRequest
from tensorflow_serving.apis.prediction_service_pb2_grpc import PredictionServiceStub
from tensorflow_serving.apis.regression_pb2 import RegressionRequest


@pytest.fixture(scope="module")
def channel(server):
    with grpc.insecure_channel(server.grpc_target) as opened:
        yield opened


@pytest.fixture(scope="module")
def predict(channel):
    stub = PredictionServiceStub(channel)

    def call(request, timeout=20.0):
        return stub.Predict(request, timeout=timeout)

    return call


def request(model="half", signature="", version=None, output_filter=(), **inputs):
    made = PredictRequest(output_filter=output_filter)
    made.model_spec.name = model
    made.model_spec.signature_name = signature
    if version is not None:
        made.model_spec.version.value = version
    for name, values in inputs.items():
        proto = values if isinstance(values, TensorProto) else tf.make_tensor_proto(values)
        made.inputs[name].CopyFrom(proto)
    return made


def refusal(call, *arguments):
    with pytest.raises(grpc.RpcError) as caught:
        call(*arguments)
    return caught.value.code().name, caught.value.details()


def test_predict_answers_in_value_fields(predict):
    response = predict(request(x=[1.0, 2.0]))
    assert list(response.outputs) == ["y"]
    assert list(response.outputs["y"].float_val) == [3.5, 4.0]
    assert not response.outputs["y"].tensor_content
    assert response.outputs["y"].tensor_shape.dim[0].size == 2
    spec = response.model_spec
    assert (spec.name, spec.signature_name, spec.version.value) == ("half", "serving_default", 2)


def test_a_call_without_a_deadline(predict):
    assert list(predict(request(x=[1.0]), None).outputs["y"].float_val) == [3.5]


def test_an_explicit_version(predict):
    response = predict(request(x=[1.0], version=1))
    assert list(response.outputs["y"].float_val) == [2.5]
    assert response.model_spec.version.value == 1


def test_strings_are_bytes_and_may_be_none(predict):
    texts = tf.make_tensor_proto([b"a", b"\xff"], tf.string)
    assert list(predict(request("texts", text=texts)).outputs["text"].string_val) == [b"A", b"\xff"]
    nothing = tf.make_tensor_proto([], tf.string, [0])
    empty = predict(request("texts", text=nothing)).outputs["text"]
    assert tf.make_ndarray(empty).shape == (0,)


def test_several_outputs_of_two_axes(predict):
    outputs = predict(request("toy", "beam", text=["ab"])).outputs
    assert set(outputs) == {"text", "score", "ranked_score", "length"}
    assert tf.make_ndarray(outputs["text"]).tolist() == [[b"AB", b""]]
    assert tf.make_ndarray(outputs["length"]).tolist() == [[2, 0]]
    assert outputs["length"].dtype == tf.int32.as_datatype_enum


def test_inputs_may_be_one_repeated_value_or_raw_content(predict):
    repeated = TensorProto(dtype=tf.float32.as_datatype_enum, float_val=[1.0])
    repeated.tensor_shape.dim.add(size=3)
    assert list(predict(request(x=repeated)).outputs["y"].float_val) == [3.5] * 3
    raw = TensorProto(
        dtype=tf.float32.as_datatype_enum, tensor_content=np.array([1, 2], np.float32).tobytes()
    )
    raw.tensor_shape.dim.add(size=2)
    assert list(predict(request(x=raw)).outputs["y"].float_val) == [3.5, 4.0]


def test_an_output_filter_chooses_outputs(predict):
    response = predict(request("toy", "beam", output_filter=["text", "score"], text=["a"]))
    assert set(response.outputs) == {"text", "score"}


def too_large():
    proto = TensorProto(dtype=tf.float32.as_datatype_enum, float_val=[1.0])
    proto.tensor_shape.dim.add(size=2**40)
    return proto


@pytest.mark.parametrize(
    ("made", "code", "message"),
    [
        (PredictRequest(), "INVALID_ARGUMENT", "Missing ModelSpec"),
        (request(""), "INVALID_ARGUMENT", "ModelSpec has no name specified."),
        (request("nope"), "NOT_FOUND", "Servable not found for request: Latest(nope)"),
        (request(version=9), "NOT_FOUND", "Servable not found for request: Specific(half, 9)"),
        (
            request(signature="foo", x=[1.0]),
            "FAILED_PRECONDITION",
            'Serving signature key "foo" not found.',
        ),
        (
            request("toy", "score", text=["a"], y=["b"], z=["c"]),
            "INVALID_ARGUMENT",
            "input size does not match signature: 3!=2 len({text,y,z}) != len({target,text}). "
            "Sent extra: {y,z}. Missing but required: {target}.",
        ),
        (
            request("texts", foo=["a"]),
            "INVALID_ARGUMENT",
            "Signature input alias: text(feed name: serving_default_text:0) not found in request "
            "and no default value provided. "
            "Inputs expected to be in the request {foo}, or default input alias set: ",
        ),
        (request(x=too_large()), "INVALID_ARGUMENT", "tensor parsing error: x"),
        (request(x=TensorProto()), "INVALID_ARGUMENT", "tensor parsing error: x"),
        (request(x=TensorProto(dtype=120)), "INVALID_ARGUMENT", "tensor parsing error: x"),
        (
            request(output_filter=["z"], x=[1.0]),
            "INVALID_ARGUMENT",
            "output tensor alias not found in signature: z Outputs expected to be in the set {y}.",
        ),
        (
            request(output_filter=["y", "y"], x=[1.0]),
            "INVALID_ARGUMENT",
            "duplicate output tensor alias: y",
        ),
        (
            request("texts", text=[1.0]),
            "INVALID_ARGUMENT",
            "Expects arg[0] to be string but float is provided",
        ),
        (request(x=["a"]), "INVALID_ARGUMENT", "Expects arg[0] to be float but string is provided"),
    ],
)  # fmt: skip
def test_refusals(predict, made, code, message):
    assert refusal(predict, made) == (code, message)


def test_a_label_names_a_version(predict):
    made = request(x=[1.0])
    made.model_spec.version_label = "stable"
    response = predict(made)
    assert list(response.outputs["y"].float_val) == [2.5]
    assert response.model_spec.version.value == 1


def test_a_label_of_a_version_that_is_not_there(predict):
    made = request(x=[1.0])
    made.model_spec.version_label = "gone"
    assert refusal(predict, made) == ("NOT_FOUND", "Servable not found for request: Specific(half, 9)")


def test_a_label_that_nobody_gave(predict):
    made = request(x=[1.0])
    made.model_spec.version_label = "nobody"
    assert refusal(predict, made) == ("INVALID_ARGUMENT", "Unrecognized servable version label: nobody")


def test_long_messages_are_cut(predict):
    name = "n" * 3000
    code, message = refusal(predict, request(name))
    assert code == "NOT_FOUND"
    assert message == f"Servable not found for request: Latest({name})"[:1024] + "...TRUNCATED"


def test_the_deadline_ends_the_run_and_the_server_stays_usable(predict):
    assert refusal(predict, request("texts", "slow", steps=[2**31 - 1]), 0.3)[0] == "DEADLINE_EXCEEDED"
    assert tf.make_ndarray(predict(request("texts", "slow", steps=[5])).outputs["done"]).tolist() == [5]


def test_the_server_sends_the_deadline_to_the_graph(server):
    with server.servables.acquire("texts") as (_, servable):
        signature = servable.signatures["slow"]
        with pytest.raises(Exception, match="DEADLINE_EXCEEDED: Timed out waiting for notification"):
            servable.run(signature, {"steps": np.array([2**31 - 1], np.int32)}, ["done"], timeout=0.1)


def metadata_request(*fields, model="half", version=None, label=None):
    made = GetModelMetadataRequest(metadata_field=fields)
    choose(made.model_spec, model, version, label)
    return made


def choose(spec, model, version, label):
    spec.name = model
    if version is not None:
        spec.version.value = version
    if label is not None:
        spec.version_label = label


@pytest.mark.parametrize(("chosen", "version"), [({}, 2), ({"version": 1}, 1), ({"label": "stable"}, 1)])
def test_metadata(channel, chosen, version):
    response = PredictionServiceStub(channel).GetModelMetadata(metadata_request("signature_def", **chosen))
    assert (response.model_spec.name, response.model_spec.version.value) == ("half", version)
    signatures = SignatureDefMap()
    assert response.metadata["signature_def"].Unpack(signatures)
    assert signatures.signature_def["serving_default"].inputs["x"].name == "serving_default_x:0"


@pytest.mark.parametrize(
    ("made", "code", "message"),
    [
        (
            metadata_request(),
            "INVALID_ARGUMENT",
            "GetModelMetadataRequest must specify at least one metadata_field",
        ),
        (metadata_request("size"), "INVALID_ARGUMENT", "Metadata field size is not supported"),
        (
            metadata_request("signature_def", model="nope"),
            "NOT_FOUND",
            "Servable not found for request: Latest(nope)",
        ),
        (
            metadata_request("signature_def", version=9),
            "NOT_FOUND",
            "Servable not found for request: Specific(half, 9)",
        ),
        (
            metadata_request("signature_def", label="nobody"),
            "INVALID_ARGUMENT",
            "Unrecognized servable version label: nobody",
        ),
        (GetModelMetadataRequest(metadata_field=["signature_def"]), "INVALID_ARGUMENT", "Missing ModelSpec"),
    ],
)
def test_metadata_refusals(channel, made, code, message):
    assert refusal(PredictionServiceStub(channel).GetModelMetadata, made) == (code, message)


def status_request(model="half", version=None, label=None):
    made = GetModelStatusRequest()
    choose(made.model_spec, model, version, label)
    return made


@pytest.mark.parametrize(
    ("chosen", "versions"),
    [({}, [2, 1]), ({"version": 1}, [1]), ({"label": "stable"}, [2, 1]), ({"label": "nobody"}, [2, 1])],
)
def test_status(channel, chosen, versions):
    """A label is passed over, as in TensorFlow Serving."""
    entries = ModelServiceStub(channel).GetModelStatus(status_request(**chosen)).model_version_status
    assert [(entry.version, entry.state) for entry in entries] == [
        (version, ModelVersionStatus.AVAILABLE) for version in versions
    ]


@pytest.mark.parametrize(
    ("made", "code", "message"),
    [
        (GetModelStatusRequest(), "INVALID_ARGUMENT", "Missing ModelSpec"),
        (status_request("nope"), "NOT_FOUND", "Could not find any versions of model nope"),
        (status_request(version=9), "NOT_FOUND", "Could not find version 9 of model half"),
    ],
)
def test_status_refusals(channel, made, code, message):
    assert refusal(ModelServiceStub(channel).GetModelStatus, made) == (code, message)


def test_what_is_left_to_tensorflow_serving(channel):
    assert refusal(PredictionServiceStub(channel).Classify, ClassificationRequest())[0] == "UNIMPLEMENTED"
    assert refusal(PredictionServiceStub(channel).Regress, RegressionRequest())[0] == "UNIMPLEMENTED"
    assert (
        refusal(PredictionServiceStub(channel).MultiInference, MultiInferenceRequest())[0] == "UNIMPLEMENTED"
    )
