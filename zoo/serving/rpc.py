"""The gRPC interface: Predict and GetModelMetadata, GetModelStatus and HandleReloadConfigRequest.

The other calls of the two services answer UNIMPLEMENTED.
"""

import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import grpc
import numpy as np
import tensorflow as tf
from tensorflow.core.framework.tensor_pb2 import TensorProto
from tensorflow.core.protobuf.error_codes_pb2 import Code
from tensorflow.core.protobuf.meta_graph_pb2 import SignatureDef
from tensorflow_serving.apis import model_service_pb2_grpc, prediction_service_pb2_grpc
from tensorflow_serving.apis.get_model_metadata_pb2 import (
    GetModelMetadataRequest,
    GetModelMetadataResponse,
    SignatureDefMap,
)
from tensorflow_serving.apis.get_model_status_pb2 import GetModelStatusRequest, GetModelStatusResponse
from tensorflow_serving.apis.model_management_pb2 import ReloadConfigRequest, ReloadConfigResponse
from tensorflow_serving.apis.model_pb2 import ModelSpec
from tensorflow_serving.apis.predict_pb2 import PredictRequest, PredictResponse

from zoo.serving import configs, messages
from zoo.serving.messages import RefusalError
from zoo.serving.monitoring import Monitoring
from zoo.serving.servables import Servables

__all__ = ["add_services"]

_log = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")
_LONGEST_MESSAGE = 1024
_LONGEST_DEADLINE = 1e8
"""Seconds; gRPC tells of calls without a deadline as ones with a very long one."""
_MOST_ELEMENTS = 2**24
"""Elements of one input, as many as the largest message has bytes; a few bytes can claim any shape, with one
value for all, and the array for it would be made."""

_VALUE_FIELDS = {
    "float32": "float_val",
    "float64": "double_val",
    "bool": "bool_val",
    "int8": "int_val",
    "int16": "int_val",
    "int32": "int_val",
    "int64": "int64_val",
    "uint8": "int_val",
    "uint16": "int_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
    "object": "string_val",
}
"""Where a TensorProto keeps the values of a numpy dtype; TensorFlow Serving answers in these fields."""


def add_services(server: grpc.Server, servables: Servables, monitoring: Monitoring) -> None:
    """Register both services with a gRPC server."""
    prediction = _PredictionService(servables, monitoring)
    prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(prediction, server)
    model_service_pb2_grpc.add_ModelServiceServicer_to_server(_ModelService(servables), server)


class _PredictionService(prediction_service_pb2_grpc.PredictionServiceServicer):
    def __init__(self, servables: Servables, monitoring: Monitoring) -> None:
        self._servables = servables
        self._monitoring = monitoring

    def Predict(self, request: PredictRequest, context: grpc.ServicerContext) -> PredictResponse:  # noqa: N802
        name, started = request.model_spec.name, time.perf_counter()

        def work() -> PredictResponse:
            response = self._predict(request, _timeout(context))
            self._monitoring.time_request(name, "Predict", "GRPC", time.perf_counter() - started)
            return response

        return _answer(context, work, lambda code: self._monitoring.count_request(name, code))

    def GetModelMetadata(  # noqa: N802
        self, request: GetModelMetadataRequest, context: grpc.ServicerContext
    ) -> GetModelMetadataResponse:
        return _answer(context, lambda: self._metadata(request))

    def _predict(self, request: PredictRequest, timeout: float | None) -> PredictResponse:
        target = _target(request)
        with self._servables.acquire(*target) as (version, servable):
            key = request.model_spec.signature_name or "serving_default"
            if key not in servable.signatures:
                raise messages.UNKNOWN_SIGNATURE_GRPC(signature=key)
            signature = servable.signatures[key]
            inputs = _read_inputs(signature, request.inputs)
            names = _wanted_outputs(signature, request.output_filter)
            with self._monitoring.timed_run(target.name, "Predict"):
                outputs = servable.run(signature, inputs, names, timeout=timeout)
        response = PredictResponse(model_spec=_spec(target.name, version, key))
        for output, tensor in outputs.items():
            response.outputs[output].CopyFrom(_to_proto(tensor))
        return response

    def _metadata(self, request: GetModelMetadataRequest) -> GetModelMetadataResponse:
        if not request.metadata_field:
            raise messages.NO_METADATA_FIELD()
        for field in request.metadata_field:
            if field != "signature_def":
                raise messages.UNKNOWN_METADATA_FIELD(field=field)
        target = _target(request)
        with self._servables.acquire(*target) as (version, servable):
            signatures = SignatureDefMap(signature_def=servable.signatures)
        response = GetModelMetadataResponse(model_spec=_spec(target.name, version))
        response.metadata["signature_def"].Pack(signatures)
        return response


class _ModelService(model_service_pb2_grpc.ModelServiceServicer):
    def __init__(self, servables: Servables) -> None:
        self._servables = servables

    def GetModelStatus(  # noqa: N802
        self, request: GetModelStatusRequest, context: grpc.ServicerContext
    ) -> GetModelStatusResponse:
        return _answer(context, lambda: self._status(request))

    def HandleReloadConfigRequest(  # noqa: N802
        self, request: ReloadConfigRequest, context: grpc.ServicerContext
    ) -> ReloadConfigResponse:
        return _answer(context, lambda: self._reload(request))

    def _reload(self, request: ReloadConfigRequest) -> ReloadConfigResponse:
        self._servables.replace(configs.read_list(request.config))
        response = ReloadConfigResponse()
        response.status.error_code = Code.Value("OK")
        return response

    def _status(self, request: GetModelStatusRequest) -> GetModelStatusResponse:
        if not request.HasField("model_spec"):
            raise messages.MISSING_MODEL_SPEC()
        spec = request.model_spec
        version = spec.version.value if spec.HasField("version") else None
        response = GetModelStatusResponse()
        for status in self._servables.status(spec.name, version):
            entry = response.model_version_status.add(version=status.version, state=int(status.state))
            entry.status.error_code = Code.Value(status.error_code)
            entry.status.error_message = status.error_message
        return response


def _answer(
    context: grpc.ServicerContext,
    work: Callable[[], _Answer],
    count: Callable[[str], None] = lambda code: None,
) -> _Answer:
    """Do the work; a refusal, or a fault of ours, becomes the status of the call. The code is counted."""
    try:
        answer = work()
    except RefusalError as error:
        refusal = error
    except Exception as error:
        _log.exception("a gRPC call failed")
        refusal = messages.INTERNAL(problem=type(error).__name__)
    else:
        count("OK")
        return answer
    count(refusal.code)
    message = refusal.message
    if len(message) > _LONGEST_MESSAGE:
        message = f"{message[:_LONGEST_MESSAGE]}...TRUNCATED"
    context.abort(grpc.StatusCode[refusal.code], message)
    raise AssertionError("abort raises")


def _timeout(context: grpc.ServicerContext) -> float | None:
    remaining = context.time_remaining()
    return None if remaining is None or remaining > _LONGEST_DEADLINE else remaining


class _Target(NamedTuple):
    """The model asked for; without version and label its latest version."""

    name: str
    version: int | None
    label: str | None


def _target(request: PredictRequest | GetModelMetadataRequest) -> _Target:
    if not request.HasField("model_spec"):
        raise messages.MISSING_MODEL_SPEC()
    spec = request.model_spec
    if not spec.name:
        raise messages.MISSING_SPEC_NAME()
    chosen = spec.WhichOneof("version_choice")
    version = spec.version.value if chosen == "version" else None
    return _Target(spec.name, version, spec.version_label if chosen == "version_label" else None)


def _spec(name: str, version: int, signature: str = "") -> ModelSpec:
    spec = ModelSpec(name=name, signature_name=signature)
    spec.version.value = version
    return spec


def _read_inputs(signature: SignatureDef, sent: Mapping[str, TensorProto]) -> dict[str, np.ndarray]:
    if len(sent) != len(signature.inputs):
        raise messages.INPUT_COUNT(
            sent=len(sent),
            expected=len(signature.inputs),
            sent_names=_join(sent),
            names=_join(signature.inputs),
            extra=_join(set(sent) - set(signature.inputs)),
            missing=_join(set(signature.inputs) - set(sent)),
        )
    for name, info in sorted(signature.inputs.items()):
        if name not in sent:
            raise messages.INPUT_NAME(name=name, tensor=info.name, names=_join(sent))
    return {name: _from_proto(name, proto) for name, proto in sent.items()}


def _wanted_outputs(signature: SignatureDef, output_filter: Sequence[str]) -> list[str]:
    for name, times in Counter(output_filter).items():
        if name not in signature.outputs:
            raise messages.UNKNOWN_OUTPUT(name=name, names=_join(signature.outputs))
        if times > 1:
            raise messages.DUPLICATE_OUTPUT(name=name)
    return list(output_filter) or sorted(signature.outputs)


def _join(names: Any) -> str:
    return ",".join(sorted(names))


def _from_proto(name: str, proto: TensorProto) -> np.ndarray:
    sizes = [axis.size for axis in proto.tensor_shape.dim]
    if proto.tensor_shape.unknown_rank or min(sizes, default=0) < 0 or math.prod(sizes) > _MOST_ELEMENTS:
        raise messages.BAD_TENSOR(name=name)
    try:
        return tf.make_ndarray(proto)
    except (TypeError, ValueError, LookupError) as error:
        raise messages.BAD_TENSOR(name=name) from error


def _to_proto(tensor: np.ndarray) -> TensorProto:
    field = _VALUE_FIELDS.get(tensor.dtype.name)
    if field is None:
        return tf.make_tensor_proto(tensor)
    proto = TensorProto(dtype=tf.as_dtype(tensor.dtype).as_datatype_enum)
    for size in tensor.shape:
        proto.tensor_shape.dim.add(size=size)
    getattr(proto, field).extend(tensor.ravel().tolist())
    return proto
