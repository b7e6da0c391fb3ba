"""The client's own messages are those of TensorFlow and TensorFlow Serving, and live beside them."""

import subprocess
import sys
from pathlib import Path

import pytest
from tensorflow.core.protobuf import meta_graph_pb2
from tensorflow_serving.apis import (
    get_model_metadata_pb2,
    get_model_status_pb2,
    predict_pb2,
)

from zoo.serving import client_messages

ROOT = Path(__file__).parents[2]
ORIGINALS = {
    "PredictRequest": predict_pb2,
    "PredictResponse": predict_pb2,
    "GetModelStatusRequest": get_model_status_pb2,
    "GetModelStatusResponse": get_model_status_pb2,
    "GetModelMetadataRequest": get_model_metadata_pb2,
    "GetModelMetadataResponse": get_model_metadata_pb2,
    "SignatureDefMap": get_model_metadata_pb2,
}


def differences(ours, original, path=""):
    """Fields that the original has not, or not so; an enum passes for a number."""
    for field in ours.fields:
        where = f"{path}.{field.name}"
        other = original.fields_by_number.get(field.number)
        if other is None or other.name != field.name:
            yield f"{where}: number {field.number} is {other and other.name}"
            continue
        kind = field.TYPE_INT32 if other.type == other.TYPE_ENUM else other.type
        if (field.type, field.is_repeated) != (kind, other.is_repeated):
            yield f"{where}: {field.type} instead of {kind}"
        elif field.message_type and not field.message_type.full_name.startswith("google."):
            yield from differences(field.message_type, other.message_type, where)


@pytest.mark.parametrize(("name", "module"), ORIGINALS.items())
def test_fields_are_those_of_the_originals(name, module):
    ours = getattr(client_messages, name).DESCRIPTOR
    assert list(differences(ours, getattr(module, name).DESCRIPTOR)) == []


def test_a_field_that_differs_would_be_seen():
    ours = client_messages.PredictRequest.DESCRIPTOR
    assert list(differences(ours, get_model_metadata_pb2.GetModelMetadataRequest.DESCRIPTOR)) == [
        ".inputs: number 2 is metadata_field"
    ]


def test_states_have_the_numbers_of_the_original():
    states = get_model_status_pb2.ModelVersionStatus.State
    assert {number: name for name, number in states.items()} == client_messages.STATES


def test_maps_survive_the_way_there_and_back():
    original = get_model_metadata_pb2.SignatureDefMap()
    signature = original.signature_def["serving_default"]
    signature.CopyFrom(meta_graph_pb2.SignatureDef(method_name="tensorflow/serving/predict"))
    signature.inputs["text"].dtype = 7
    ours = client_messages.SignatureDefMap.FromString(original.SerializeToString())
    assert ours.signature_def["serving_default"].inputs["text"].dtype == 7
    assert get_model_metadata_pb2.SignatureDefMap.FromString(ours.SerializeToString()) == original


def test_they_can_be_imported_before_tensorflows_own():
    """The tests have imported TensorFlow's first."""
    script = """
from zoo.serving.client_messages import PredictRequest
import sys
assert "tensorflow" not in sys.modules
ours = PredictRequest()
ours.model_spec.name = "m"
ours.inputs["text"].string_val.append(b"a")
from tensorflow_serving.apis import predict_pb2
theirs = predict_pb2.PredictRequest.FromString(ours.SerializeToString())
assert theirs.model_spec.name == "m" and theirs.inputs["text"].string_val == [b"a"]
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
