"""The gRPC client; grpcio and protobuf are all it needs, and imported when one is made."""

import json
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from zoo.serving.answers import Client, ServingError, Signature, TensorInfo, VersionStatus
from zoo.serving.client_retries import NO_RETRIES, Retries
from zoo.serving.client_target import check_target
from zoo.serving.client_texts import named

__all__ = ["GrpcClient"]

_PREDICTION = "/tensorflow.serving.PredictionService"
_MODELS = "/tensorflow.serving.ModelService"
_UNLIMITED = -1
_UNANSWERED = ("UNAVAILABLE", "CANCELLED")
"""No call is cancelled from here: a server that stops says so of those that it had not begun to answer."""
_LEAST_SECONDS_BETWEEN_LOOKUPS = 5.0
"""By default a client looks a host up every 30 seconds at most, even where none of its addresses answers."""


class GrpcClient(Client):
    """Asks a model over gRPC, TensorFlow Serving's or the embedded server's.

    All addresses that the target stands for are asked in turn, and those that do not answer are left out. So
    `dns:///models:8500`, with the name of a headless service of Kubernetes, spreads the calls over its
    replicas; a connection to a service with one address would stay with one replica for good.

    Args:
        target: host and port, or a target as gRPC names it, such as `dns:///models:8500`.
        model: the model's name.
        version: the version to ask; None asks the latest.
        label: the label of the version to ask, such as `stable`, in place of its number.
        timeout: seconds that one call may take, tries and pauses included; sent along as its deadline. The
            first question looks up the signatures besides, in a call of its own.
        retries: when to ask again; `status` and what waits for it ask once.

    Raises:
        ImportError: grpcio or protobuf is not installed.
        ValueError: the target is none, both a version and a label are given, or one of the rest is no name,
            version or time.
    """

    def __init__(
        self,
        target: str = "127.0.0.1:8500",
        *,
        model: str,
        version: int | None = None,
        label: str | None = None,
        timeout: float = 30.0,
        retries: Retries = Retries(),  # noqa: B008 - frozen
    ) -> None:
        super().__init__(model, version, label, timeout)
        check_target(target)
        self.target = target
        self.retries = retries
        self._wire = _import_wire()
        self._channel = self._wire.grpc.insecure_channel(target, options=_options(retries))
        messages = self._wire.messages
        self._predict = self._method(f"{_PREDICTION}/Predict", messages.PredictResponse)
        self._get_metadata = self._method(
            f"{_PREDICTION}/GetModelMetadata", messages.GetModelMetadataResponse
        )
        self._get_status = self._method(f"{_MODELS}/GetModelStatus", messages.GetModelStatusResponse)

    def predict(
        self, inputs: Mapping[str, Sequence[Any]], *, signature: str = "serving_default"
    ) -> dict[str, list[Any]]:
        """As `Client.predict` says. The dtypes of the inputs are looked up in the metadata, once."""
        known = self._signature(signature).inputs
        wire = self._wire
        request = wire.messages.PredictRequest(model_spec=self._spec(signature))
        for name, rows in inputs.items():
            dtype = known[name].dtype if name in known else "DT_STRING"
            request.inputs[named(name)].CopyFrom(wire.tensors.write(name, rows, dtype))
        response = self._call(self._predict, request, self.retries)
        return {name: wire.tensors.read(name, proto) for name, proto in response.outputs.items()}

    def status(self) -> list[VersionStatus]:
        """As `Client.status` says."""
        request = self._wire.messages.GetModelStatusRequest(model_spec=self._spec())
        response = self._call(self._get_status, request, NO_RETRIES)
        states = self._wire.messages.STATES
        return [
            VersionStatus(entry.version, states.get(entry.state, "UNKNOWN"), entry.status.error_message)
            for entry in response.model_version_status
        ]

    def metadata(self) -> dict[str, Signature]:
        """As `Client.metadata` says."""
        messages = self._wire.messages
        request = messages.GetModelMetadataRequest(model_spec=self._spec(), metadata_field=["signature_def"])
        response = self._call(self._get_metadata, request, self.retries)
        signatures = messages.SignatureDefMap.FromString(response.metadata["signature_def"].value)
        return {
            name: Signature(self._infos(entry.inputs), self._infos(entry.outputs))
            for name, entry in signatures.signature_def.items()
            if not name.startswith("__")
        }

    def close(self) -> None:
        """Close the channel; the client cannot be used again."""
        self._channel.close()

    def _method(self, path: str, answer: Any) -> Any:
        return self._channel.unary_unary(
            path,
            request_serializer=lambda request: request.SerializeToString(),
            response_deserializer=answer.FromString,
        )

    def _call(self, method: Any, request: Any, retries: Retries) -> Any:
        def once(seconds: float) -> Any:
            try:
                return method(request, timeout=seconds)
            except self._wire.grpc.RpcError as error:
                code, message = error.code().name, error.details() or "no explanation."
                if code in _UNANSWERED:
                    code, message = "UNAVAILABLE", f"no answer from {self.target} ({message.rstrip('.')})."
                raise ServingError(code, message) from error

        return retries.ask(once, self.timeout)

    def _spec(self, signature: str = "") -> Any:
        spec = self._wire.messages.ModelSpec(name=self.model, signature_name=signature)
        if self.version is not None:
            spec.version.value = self.version
        if self.label is not None:
            spec.version_label = self.label
        return spec

    def _infos(self, infos: Mapping[str, Any]) -> dict[str, TensorInfo]:
        return {
            name: TensorInfo(self._wire.tensors.dtype_name(info.dtype), _shape(info.tensor_shape))
            for name, info in infos.items()
        }


def _options(retries: Retries) -> list[tuple[str, Any]]:
    """How the channel is to behave; reconnecting keeps the pace of asking again."""
    pauses = {"initial": retries.first_pause, "max": retries.longest_pause}
    return [
        # By default a client refuses answers of more than 4 MiB.
        ("grpc.max_receive_message_length", _UNLIMITED),
        ("grpc.max_send_message_length", _UNLIMITED),
        ("grpc.service_config", json.dumps({"loadBalancingConfig": [{"round_robin": {}}]})),
        ("grpc.dns_min_time_between_resolutions_ms", int(1000 * _LEAST_SECONDS_BETWEEN_LOOKUPS)),
        *((f"grpc.{name}_reconnect_backoff_ms", max(1, int(1000 * pause))) for name, pause in pauses.items()),
    ]


def _import_wire() -> Any:
    """The modules that the protocol needs."""
    try:
        import grpc

        from zoo.serving import client_messages, client_tensors
    except ImportError as error:
        raise ImportError(
            f"the gRPC client needs grpcio and protobuf, and {error.name} cannot be imported: "
            "install them with `pip install grpcio protobuf`, or use RestClient, which needs neither"
        ) from error
    return SimpleNamespace(grpc=grpc, messages=client_messages, tensors=client_tensors)


def _shape(shape: Any) -> tuple[int | None, ...] | None:
    if shape.unknown_rank:
        return None
    return tuple(None if axis.size < 0 else axis.size for axis in shape.dim)
