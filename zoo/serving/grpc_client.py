"""The gRPC client; grpcio and tensorflow-serving-api are imported when one is made."""

from collections.abc import Mapping, Sequence
from typing import Any

from zoo.serving.answers import Client, ServingError, Signature, TensorInfo, VersionStatus

__all__ = ["GrpcClient"]

_UNLIMITED = -1


class GrpcClient(Client):
    """Asks a model over gRPC, TensorFlow Serving's or the embedded server's.

    Args:
        target: host and port.
        model: the model's name.
        version: the version to ask; None asks the latest.
        timeout: seconds that one call may take; sent along as its deadline.

    Raises:
        ImportError: grpcio or tensorflow-serving-api is not installed.
    """

    def __init__(
        self,
        target: str = "127.0.0.1:8500",
        *,
        model: str,
        version: int | None = None,
        timeout: float = 30.0,
    ) -> None:
        super().__init__(model, version, timeout)
        self.target = target
        self._wire = _import_wire()
        # By default a client refuses answers of more than 4 MiB.
        limits = ("grpc.max_receive_message_length", "grpc.max_send_message_length")
        options = [(limit, _UNLIMITED) for limit in limits]
        self._channel = self._wire.grpc.insecure_channel(target, options=options)
        self._prediction = self._wire.prediction_service.PredictionServiceStub(self._channel)
        self._model_service = self._wire.model_service.ModelServiceStub(self._channel)

    def predict(
        self, inputs: Mapping[str, Sequence[Any]], *, signature: str = "serving_default"
    ) -> dict[str, list[Any]]:
        """As `Client.predict` says. The dtypes of the inputs are looked up in the metadata, once."""
        known = self._signature(signature).inputs
        request = self._wire.predict.PredictRequest(model_spec=self._spec(signature))
        for name, rows in inputs.items():
            dtype = known[name].dtype if name in known else "DT_STRING"
            request.inputs[name].CopyFrom(self._write(name, rows, dtype))
        response = self._call(self._prediction.Predict, request)
        return {name: self._read(name, proto) for name, proto in response.outputs.items()}

    def status(self) -> list[VersionStatus]:
        """As `Client.status` says."""
        wire = self._wire.get_model_status
        response = self._call(
            self._model_service.GetModelStatus, wire.GetModelStatusRequest(model_spec=self._spec())
        )
        state_name = wire.ModelVersionStatus.State.Name
        return [
            VersionStatus(entry.version, state_name(entry.state), entry.status.error_message)
            for entry in response.model_version_status
        ]

    def metadata(self) -> dict[str, Signature]:
        """As `Client.metadata` says."""
        wire = self._wire.get_model_metadata
        request = wire.GetModelMetadataRequest(model_spec=self._spec(), metadata_field=["signature_def"])
        response = self._call(self._prediction.GetModelMetadata, request)
        signatures = wire.SignatureDefMap()
        response.metadata["signature_def"].Unpack(signatures)
        return {
            name: Signature(self._infos(entry.inputs), self._infos(entry.outputs))
            for name, entry in signatures.signature_def.items()
            if not name.startswith("__")
        }

    def close(self) -> None:
        """Close the channel; the client cannot be used again."""
        self._channel.close()

    def _call(self, method: Any, request: Any) -> Any:
        try:
            return method(request, timeout=self.timeout)
        except self._wire.grpc.RpcError as error:
            message = error.details() or "no explanation."
            if error.code().name == "UNAVAILABLE":
                message = f"no server answers at {self.target} ({message})."
            raise ServingError(error.code().name, message) from error

    def _spec(self, signature: str = "") -> Any:
        spec = self._wire.model.ModelSpec(name=self.model, signature_name=signature)
        if self.version is not None:
            spec.version.value = self.version
        return spec

    def _write(self, name: str, rows: Sequence[Any], dtype: str) -> Any:
        tf = self._wire.tensorflow
        try:
            return tf.make_tensor_proto(rows, dtype=tf.dtypes.DType(self._wire.types.DataType.Value(dtype)))
        except (TypeError, ValueError) as error:
            raise ServingError("INVALID_ARGUMENT", f"input {name!r} is not {dtype}: {error}.") from error

    def _read(self, name: str, proto: Any) -> Any:
        values = self._wire.tensorflow.make_ndarray(proto).tolist()
        is_text = proto.dtype == self._wire.types.DT_STRING and not name.endswith("_bytes")
        return _texts(values) if is_text else values

    def _infos(self, infos: Mapping[str, Any]) -> dict[str, TensorInfo]:
        return {
            name: TensorInfo(self._wire.types.DataType.Name(info.dtype), _shape(info.tensor_shape))
            for name, info in infos.items()
        }


class _Wire:
    """The modules that the protocol needs."""

    def __init__(self) -> None:
        import grpc
        import tensorflow
        from tensorflow.core.framework import types_pb2
        from tensorflow_serving.apis import (
            get_model_metadata_pb2,
            get_model_status_pb2,
            model_pb2,
            model_service_pb2_grpc,
            predict_pb2,
            prediction_service_pb2_grpc,
        )

        self.grpc = grpc
        self.tensorflow = tensorflow
        self.types = types_pb2
        self.model = model_pb2
        self.predict = predict_pb2
        self.get_model_status = get_model_status_pb2
        self.get_model_metadata = get_model_metadata_pb2
        self.prediction_service = prediction_service_pb2_grpc
        self.model_service = model_service_pb2_grpc


def _import_wire() -> _Wire:
    try:
        return _Wire()
    except ImportError as error:
        raise ImportError(
            f"the gRPC client needs grpcio and tensorflow-serving-api, and {error.name} cannot be imported: "
            "install them with `pip install tensorflow-serving-api`, or use RestClient, which needs neither"
        ) from error


def _texts(value: Any) -> Any:
    if isinstance(value, list):
        return [_texts(item) for item in value]
    return value.decode("utf-8", "replace")


def _shape(shape: Any) -> tuple[int | None, ...] | None:
    if shape.unknown_rank:
        return None
    return tuple(None if axis.size < 0 else axis.size for axis in shape.dim)
