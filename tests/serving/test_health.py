import grpc
import pytest

from zoo.serving.protos import HealthCheckRequest, HealthCheckResponse
from zoo.serving.server import Server


def check(target, service):
    with grpc.insecure_channel(target) as channel:
        call = channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            request_serializer=HealthCheckRequest.SerializeToString,
            response_deserializer=HealthCheckResponse.FromString,
        )
        return call(HealthCheckRequest(service=service), timeout=10)


@pytest.mark.parametrize("service", ["", "ModelService", "PredictionService"])
def test_a_server_that_answers_is_serving(server, service):
    assert check(server.grpc_target, service).status == 1


def test_the_bytes_are_those_of_the_protocol():
    """Field 1 of the request is a string, field 1 of the response an enum, whose 1 is SERVING."""
    assert HealthCheckRequest(service="a").SerializeToString() == b"\x0a\x01a"
    assert HealthCheckResponse(status=1).SerializeToString() == b"\x08\x01"


def test_an_unknown_service(server):
    with pytest.raises(grpc.RpcError) as caught:
        check(server.grpc_target, "nope")
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


def test_it_is_there_only_if_asked_for(models_folder):
    with (
        Server({"toy": models_folder / "toy"}, grpc_port=0, rest_port=None) as server,
        pytest.raises(grpc.RpcError) as caught,
    ):
        check(server.grpc_target, "")
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
