"""The messages that the gRPC client exchanges with a server, made from their fields: neither TensorFlow nor
tensorflow-serving-api is needed, and both may be imported besides.

Numbers, names and types are those of the originals; fields that the client has no use for are left out, and
enums are numbers, which looks the same on the wire.
"""

from collections.abc import Mapping

from zoo.serving.descriptors import Field, message_classes

__all__ = [
    "STATES",
    "Dim",
    "GetModelMetadataRequest",
    "GetModelMetadataResponse",
    "GetModelStatusRequest",
    "GetModelStatusResponse",
    "ModelSpec",
    "PredictRequest",
    "PredictResponse",
    "SignatureDefMap",
    "TensorProto",
]

STATES = {0: "UNKNOWN", 10: "START", 20: "LOADING", 30: "AVAILABLE", 40: "UNLOADING", 50: "END"}
"""The states of a version, `ModelVersionStatus.State`."""

_PACKAGE = "tensorflow.serving"


def _message(name: str) -> str:
    return f".{_PACKAGE}.{name}"


_SPEC = Field(1, _message("ModelSpec"))

_MESSAGES: Mapping[str, Mapping[str, Field]] = {
    "Dim": {"size": Field(1, "int64"), "name": Field(2, "string")},
    "TensorShapeProto": {"dim": Field(2, _message("Dim"), repeated=True), "unknown_rank": Field(3, "bool")},
    "TensorProto": {
        "dtype": Field(1, "int32"),
        "tensor_shape": Field(2, _message("TensorShapeProto")),
        "tensor_content": Field(4, "bytes"),
        "half_val": Field(13, "int32", repeated=True),
        "float_val": Field(5, "float", repeated=True),
        "double_val": Field(6, "double", repeated=True),
        "int_val": Field(7, "int32", repeated=True),
        "string_val": Field(8, "bytes", repeated=True),
        "int64_val": Field(10, "int64", repeated=True),
        "bool_val": Field(11, "bool", repeated=True),
        "uint32_val": Field(16, "uint32", repeated=True),
        "uint64_val": Field(17, "uint64", repeated=True),
    },
    "TensorInfo": {
        "name": Field(1, "string"),
        "dtype": Field(2, "int32"),
        "tensor_shape": Field(3, _message("TensorShapeProto")),
    },
    "SignatureDef": {
        "inputs": Field(1, _message("TensorInfo"), by_name=True),
        "outputs": Field(2, _message("TensorInfo"), by_name=True),
    },
    "SignatureDefMap": {"signature_def": Field(1, _message("SignatureDef"), by_name=True)},
    "ModelSpec": {
        "name": Field(1, "string"),
        "version": Field(2, ".google.protobuf.Int64Value"),
        "signature_name": Field(3, "string"),
        "version_label": Field(4, "string"),
    },
    "PredictRequest": {"model_spec": _SPEC, "inputs": Field(2, _message("TensorProto"), by_name=True)},
    "PredictResponse": {"outputs": Field(1, _message("TensorProto"), by_name=True)},
    "GetModelMetadataRequest": {"model_spec": _SPEC, "metadata_field": Field(2, "string", repeated=True)},
    "GetModelMetadataResponse": {"metadata": Field(2, ".google.protobuf.Any", by_name=True)},
    "StatusProto": {"error_code": Field(1, "int32"), "error_message": Field(2, "string")},
    "ModelVersionStatus": {
        "version": Field(1, "int64"),
        "state": Field(2, "int32"),
        "status": Field(3, _message("StatusProto")),
    },
    "GetModelStatusRequest": {"model_spec": _SPEC},
    "GetModelStatusResponse": {
        "model_version_status": Field(1, _message("ModelVersionStatus"), repeated=True)
    },
}

_classes = message_classes("zoo_client.proto", _PACKAGE, _MESSAGES)

Dim = _classes["Dim"]
ModelSpec = _classes["ModelSpec"]
TensorProto = _classes["TensorProto"]
SignatureDefMap = _classes["SignatureDefMap"]
PredictRequest = _classes["PredictRequest"]
PredictResponse = _classes["PredictResponse"]
GetModelMetadataRequest = _classes["GetModelMetadataRequest"]
GetModelMetadataResponse = _classes["GetModelMetadataResponse"]
GetModelStatusRequest = _classes["GetModelStatusRequest"]
GetModelStatusResponse = _classes["GetModelStatusResponse"]
