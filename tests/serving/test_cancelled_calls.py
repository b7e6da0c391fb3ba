"""A server that stops may cancel a call which it had not begun to answer: clients ask again."""

from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from tensorflow_serving.apis.get_model_metadata_pb2 import GetModelMetadataResponse

from zoo.serving.client import GrpcClient, Retries, ServingError


@pytest.fixture
def cancels():
    """The target of a server that cancels calls, and how many it still will."""
    left = [0]

    class Handler(grpc.GenericRpcHandler):
        def service(self, details):
            def answer(request, context):
                if left[0]:
                    left[0] -= 1
                    context.abort(grpc.StatusCode.CANCELLED, "CANCELLED")
                return GetModelMetadataResponse().SerializeToString()

            return grpc.unary_unary_rpc_method_handler(answer)

    server = grpc.server(ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers((Handler(),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}", left
    server.stop(None).wait()


def test_a_call_that_was_cancelled_is_asked_again(cancels):
    target, left = cancels
    left[0] = 2
    with GrpcClient(target, model="a", retries=Retries(first_pause=0.01)) as client:
        assert client.metadata() == {}
    assert left == [0]


def test_without_retries_it_says_that_there_was_no_answer(cancels):
    target, left = cancels
    left[0] = 1
    told = rf"no answer from {target} \(CANCELLED\)"
    once = GrpcClient(target, model="a", retries=Retries(most=0))
    with once as client, pytest.raises(ServingError, match=told) as caught:
        client.metadata()
    assert caught.value.code == "UNAVAILABLE"
