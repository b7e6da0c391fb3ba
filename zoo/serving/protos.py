"""Messages of TensorFlow Serving and gRPC that no package on PyPI brings along, made from their fields.

Numbers and names are those of the originals, so their text and wire formats are read and written as they are.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, wrappers_pb2
from google.protobuf.descriptor_pb2 import FieldDescriptorProto

__all__ = [
    "BatchingParameters",
    "HealthCheckRequest",
    "HealthCheckResponse",
    "MonitoringConfig",
]


class _Field(NamedTuple):
    """A field: its number, its type (a scalar one, or a message by full name), and whether it repeats."""

    number: int
    type: str
    repeated: bool = False


_BOOL = ".google.protobuf.BoolValue"
_INT64 = ".google.protobuf.Int64Value"
_STRING = ".google.protobuf.StringValue"

_BATCHING: Mapping[str, _Field] = {
    "max_batch_size": _Field(1, _INT64),
    "batch_timeout_micros": _Field(2, _INT64),
    "max_enqueued_batches": _Field(3, _INT64),
    "num_batch_threads": _Field(4, _INT64),
    "thread_pool_name": _Field(5, _STRING),
    "allowed_batch_sizes": _Field(6, "int64", repeated=True),
    "pad_variable_length_inputs": _Field(7, "bool"),
    "enable_large_batch_splitting": _Field(8, _BOOL),
    "max_execution_batch_size": _Field(9, _INT64),
}
_MONITORING = {"prometheus_config": _Field(1, ".tensorflow.serving.PrometheusConfig")}
_PROMETHEUS = {"enable": _Field(1, "bool"), "path": _Field(2, "string")}
_HEALTH_REQUEST = {"service": _Field(1, "string")}
_HEALTH_RESPONSE = {"status": _Field(1, "int32")}
"""The status is an enum, which looks the same on the wire; see `zoo.serving.health`."""


def _file(name: str, package: str, messages: Mapping[str, Mapping[str, _Field]]) -> dict[str, Any]:
    """The classes of the messages of a file, by name."""
    made = descriptor_pb2.FileDescriptorProto(name=name, package=package, syntax="proto3")
    made.dependency.append(wrappers_pb2.DESCRIPTOR.name)
    for message, fields in messages.items():
        made.message_type.add(name=message).field.extend(
            _descriptor(field_name, field) for field_name, field in fields.items()
        )
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(wrappers_pb2.DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(made.SerializeToString())
    return {
        message: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{message}"))
        for message in messages
    }


def _descriptor(name: str, field: _Field) -> FieldDescriptorProto:
    made = FieldDescriptorProto(name=name, number=field.number)
    made.label = made.LABEL_REPEATED if field.repeated else made.LABEL_OPTIONAL
    if field.type.startswith("."):
        made.type, made.type_name = made.TYPE_MESSAGE, field.type
    else:
        made.type = FieldDescriptorProto.Type.Value(f"TYPE_{field.type.upper()}")
    return made


(BatchingParameters,) = _file(
    "session_bundle_config.proto", "tensorflow.serving", {"BatchingParameters": _BATCHING}
).values()
MonitoringConfig, _ = _file(
    "monitoring_config.proto",
    "tensorflow.serving",
    {"MonitoringConfig": _MONITORING, "PrometheusConfig": _PROMETHEUS},
).values()
HealthCheckRequest, HealthCheckResponse = _file(
    "health.proto",
    "grpc.health.v1",
    {"HealthCheckRequest": _HEALTH_REQUEST, "HealthCheckResponse": _HEALTH_RESPONSE},
).values()
