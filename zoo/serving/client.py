"""Clients of a served model, for REST and for gRPC, with the same calls.

    from zoo.serving.client import RestClient

    with RestClient("http://127.0.0.1:8501", model="dates") as client:
        client.answer(["Friday, February 15, 2019"])      # ["2019-02-15"]

`RestClient` needs nothing but Python. `GrpcClient` needs grpcio and protobuf, and imports them only when one
is made. Neither needs TensorFlow. A client keeps its connections, and can be used from several threads.
"""

from zoo.serving.answers import (
    Alignment,
    Classified,
    Client,
    Hypothesis,
    Scored,
    ServingError,
    Signature,
    Tagged,
    TensorInfo,
    Valued,
    VersionStatus,
)
from zoo.serving.client_retries import Retries
from zoo.serving.client_texts import readable
from zoo.serving.grpc_client import GrpcClient
from zoo.serving.rest_client import RestClient

__all__ = [
    "Alignment",
    "Classified",
    "Client",
    "GrpcClient",
    "Hypothesis",
    "RestClient",
    "Retries",
    "Scored",
    "ServingError",
    "Signature",
    "Tagged",
    "TensorInfo",
    "Valued",
    "VersionStatus",
    "readable",
]
