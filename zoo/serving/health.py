"""gRPC's own health service, `grpc.health.v1.Health`, as load balancers and Kubernetes ask it.

As in TensorFlow Serving it says SERVING from the first moment, whichever models there are; since a server
listens only once its models are loaded, that is also true. `Watch` is not offered, which clients take for
"healthy", as the protocol has it: each watcher would hold a thread.
"""

from typing import Any

import grpc

from zoo.serving import messages
from zoo.serving.protos import HealthCheckRequest, HealthCheckResponse

__all__ = ["add_health"]

_SERVING = 1
_SERVICES = {"", "ModelService", "PredictionService"}


def add_health(server: grpc.Server) -> None:
    """Register the service with a gRPC server."""
    check = grpc.unary_unary_rpc_method_handler(
        _check,
        request_deserializer=HealthCheckRequest.FromString,
        response_serializer=HealthCheckResponse.SerializeToString,
    )
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": check}),)
    )


def _check(request: Any, context: grpc.ServicerContext) -> Any:
    if request.service not in _SERVICES:
        refusal = messages.UNKNOWN_SERVICE(service=request.service)
        context.abort(grpc.StatusCode[refusal.code], refusal.message)
    return HealthCheckResponse(status=_SERVING)
