"""Messages of TensorFlow Serving and gRPC that no package on PyPI brings along, made from their fields.

Numbers and names are those of the originals, so their text and wire formats are read and written as they are.
"""

from collections.abc import Mapping

from zoo.serving.descriptors import Field, message_classes

__all__ = [
    "BatchingParameters",
    "HealthCheckRequest",
    "HealthCheckResponse",
    "MonitoringConfig",
]

_BOOL = ".google.protobuf.BoolValue"
_INT64 = ".google.protobuf.Int64Value"
_STRING = ".google.protobuf.StringValue"

_BATCHING: Mapping[str, Field] = {
    "max_batch_size": Field(1, _INT64),
    "batch_timeout_micros": Field(2, _INT64),
    "max_enqueued_batches": Field(3, _INT64),
    "num_batch_threads": Field(4, _INT64),
    "thread_pool_name": Field(5, _STRING),
    "allowed_batch_sizes": Field(6, "int64", repeated=True),
    "pad_variable_length_inputs": Field(7, "bool"),
    "enable_large_batch_splitting": Field(8, _BOOL),
    "max_execution_batch_size": Field(9, _INT64),
}
_MONITORING = {"prometheus_config": Field(1, ".tensorflow.serving.PrometheusConfig")}
_PROMETHEUS = {"enable": Field(1, "bool"), "path": Field(2, "string")}
_HEALTH_REQUEST = {"service": Field(1, "string")}
_HEALTH_RESPONSE = {"status": Field(1, "int32")}
"""The status is an enum, which looks the same on the wire; see `zoo.serving.health`."""

(BatchingParameters,) = message_classes(
    "session_bundle_config.proto", "tensorflow.serving", {"BatchingParameters": _BATCHING}
).values()
MonitoringConfig, _ = message_classes(
    "monitoring_config.proto",
    "tensorflow.serving",
    {"MonitoringConfig": _MONITORING, "PrometheusConfig": _PROMETHEUS},
).values()
HealthCheckRequest, HealthCheckResponse = message_classes(
    "health.proto",
    "grpc.health.v1",
    {"HealthCheckRequest": _HEALTH_REQUEST, "HealthCheckResponse": _HEALTH_RESPONSE},
).values()
