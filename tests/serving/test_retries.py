"""Clients ask again where nothing was answered, and nowhere else, within their deadline."""

import http.server
import json
import threading
import time
from concurrent import futures
from itertools import islice

import grpc
import pytest

from zoo.serving import client_messages
from zoo.serving.answers import ServingError
from zoo.serving.client import GrpcClient, RestClient, Retries

SOON = Retries(most=4, first_pause=0.01, longest_pause=0.02)


def test_pauses_double_up_to_the_longest_and_are_drawn():
    many = [list(Retries(most=5, first_pause=1.0, longest_pause=4.0).pauses()) for _ in range(200)]
    for pauses in many:
        assert len(pauses) == 5
        for pause, whole in zip(pauses, [1, 2, 4, 4, 4], strict=True):
            assert whole / 2 <= pause <= whole
    assert len({pauses[0] for pauses in many}) > 100


def test_pauses_of_many_tries():
    assert list(islice(Retries(most=10**6).pauses(), 3000))[-1] <= 2.0


@pytest.mark.parametrize(
    "wrong", [{"most": -1}, {"first_pause": -0.1}, {"first_pause": 3.0}, {"longest_pause": 0.0}]
)
def test_retries_that_cannot_be(wrong):
    with pytest.raises(ValueError, match="expected most >= 0 and 0 <= first_pause <= longest_pause"):
        Retries(**wrong)


class Asked:
    """A question that fails in the ways given, one after the other, and then is answered."""

    def __init__(self, *codes):
        self.codes = list(codes)
        self.seconds = []

    def __call__(self, seconds):
        self.seconds.append(seconds)
        if self.codes:
            raise ServingError(self.codes.pop(0), f"{len(self.codes)} more")
        return "answer"


def test_unavailable_is_asked_again_with_the_seconds_that_are_left():
    asked = Asked("UNAVAILABLE", "UNAVAILABLE")
    assert SOON.ask(asked, timeout=10.0) == "answer"
    assert len(asked.seconds) == 3
    assert 10.0 >= asked.seconds[0] > asked.seconds[1] > asked.seconds[2] > 8.0


@pytest.mark.parametrize(
    "code",
    [
        "INVALID_ARGUMENT",
        "NOT_FOUND",
        "DEADLINE_EXCEEDED",
        "RESOURCE_EXHAUSTED",
        "INTERNAL",
        "UNKNOWN",
        "ABORTED",
    ],
)
def test_other_codes_are_not_asked_again(code):
    asked = Asked(code)
    with pytest.raises(ServingError, match=code):
        SOON.ask(asked, timeout=10.0)
    assert len(asked.seconds) == 1


def test_after_the_last_try_comes_its_error():
    asked = Asked(*["UNAVAILABLE"] * 9)
    with pytest.raises(ServingError, match="4 more"):
        SOON.ask(asked, timeout=10.0)
    assert len(asked.seconds) == 5


def test_no_pause_goes_beyond_the_deadline():
    asked = Asked(*["UNAVAILABLE"] * 9)
    began = time.monotonic()
    with pytest.raises(ServingError, match="UNAVAILABLE"):
        Retries(most=9, first_pause=60.0, longest_pause=60.0).ask(asked, timeout=1.0)
    assert time.monotonic() - began < 1.0
    assert len(asked.seconds) == 1


METADATA = {
    "metadata": {
        "signature_def": {
            "signature_def": {
                "serving_default": {
                    "inputs": {"text": {"dtype": "DT_STRING", "tensor_shape": {}}},
                    "outputs": {"text": {"dtype": "DT_STRING", "tensor_shape": {}}},
                }
            }
        }
    }
}
ANSWER = {"outputs": ["A"]}


class Flaky(http.server.BaseHTTPRequestHandler):
    """Answers predictions in the ways given, one after the other, and then as it should."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.gets += 1
        if self.path.endswith("/metadata"):
            self.say(200, METADATA)
        else:
            self.say(503, {"error": "not now"})

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.server.posts += 1
        self.server.ways.pop(0)(self) if self.server.ways else self.say(200, ANSWER)

    def say(self, status, document, missing=0):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) - missing])

    def unavailable(self):
        self.say(503, {"error": "the queue is full"})

    def broken(self):
        self.say(500, {"error": "broken"})

    def hang_up(self):
        self.close_connection = True

    def hang_up_in_between(self):
        self.say(200, ANSWER, missing=3)
        self.close_connection = True

    def drip(self):
        """Send a byte now and then, so that no single wait is long."""
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        for _ in range(100):
            self.wfile.write(b" ")
            time.sleep(0.05)

    def log_message(self, *_arguments):
        pass


@pytest.fixture
def flaky():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Flaky) as running:
        running.ways, running.posts, running.gets, running.daemon_threads = [], 0, 0, True
        running.block_on_close = False
        threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture
def rest(flaky):
    with RestClient(f"http://127.0.0.1:{flaky.server_port}", model="m", retries=SOON, timeout=10.0) as client:
        yield client


@pytest.mark.parametrize("way", [Flaky.unavailable, Flaky.hang_up, Flaky.hang_up_in_between])
def test_rest_asks_again_where_nothing_was_answered(flaky, rest, way):
    flaky.ways = [way, way]
    assert rest.answer(["a"]) == ["A"]
    assert flaky.posts == 3


def test_rest_does_not_ask_again_what_failed(flaky, rest):
    flaky.ways = [Flaky.broken]
    with pytest.raises(ServingError, match="broken"):
        rest.answer(["a"])
    assert flaky.posts == 1


def test_rest_gives_up_after_the_last_try(flaky, rest):
    flaky.ways = [Flaky.unavailable] * 9
    with pytest.raises(ServingError, match="the queue is full") as caught:
        rest.answer(["a"])
    assert caught.value.code == "UNAVAILABLE"
    assert flaky.posts == 5


def test_the_status_is_asked_once(flaky, rest):
    assert not rest.is_available()
    assert flaky.gets == 1


def test_an_answer_that_drips_ends_at_the_deadline(flaky):
    flaky.ways = [Flaky.drip]
    with RestClient(f"http://127.0.0.1:{flaky.server_port}", model="m", timeout=0.4) as client:
        client.metadata()
        began = time.monotonic()
        with pytest.raises(ServingError, match="DEADLINE_EXCEEDED"):
            client.answer(["a"])
        assert time.monotonic() - began < 2.0


def test_connections_are_kept_and_closed(flaky, rest):
    for _ in range(3):
        rest.answer(["a"])
    (kept,) = rest._idle
    assert kept.sock is not None
    rest.close()
    assert kept.sock is None
    assert rest.answer(["a"]) == ["A"]
    with futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(rest.answer, [["a"]] * 20)) == [["A"]] * 20
    assert 1 <= len(rest._idle) <= 4


class Replica:
    """A gRPC server that counts its predictions and fails as often as it is told."""

    def __init__(self, fail=(), code=grpc.StatusCode.UNAVAILABLE, port=0):
        self.failures, self.code, self.asked = list(fail), code, 0
        self.server = grpc.server(futures.ThreadPoolExecutor(4), options=[("grpc.so_reuseport", 0)])
        services = {
            "PredictionService": {"Predict": self.predict, "GetModelMetadata": self.metadata},
            "ModelService": {"GetModelStatus": self.predict},
        }
        for name, methods in services.items():
            handlers = {
                method: grpc.unary_unary_rpc_method_handler(function) for method, function in methods.items()
            }
            self.server.add_generic_rpc_handlers(
                (grpc.method_handlers_generic_handler(f"tensorflow.serving.{name}", handlers),)
            )
        self.port = self.server.add_insecure_port(f"127.0.0.1:{port}")
        self.server.start()

    def predict(self, _request, context):
        self.asked += 1
        if self.failures:
            context.abort(self.code, self.failures.pop())
        response = client_messages.PredictResponse()
        tensor = response.outputs["text"]
        tensor.dtype = 7
        tensor.tensor_shape.dim.add(size=1)
        tensor.string_val.append(str(self.port).encode())
        return response.SerializeToString()

    def metadata(self, _request, _context):
        signatures = client_messages.SignatureDefMap()
        signatures.signature_def["serving_default"].inputs["text"].dtype = 7
        response = client_messages.GetModelMetadataResponse()
        response.metadata["signature_def"].value = signatures.SerializeToString()
        return response.SerializeToString()


@pytest.fixture
def replica():
    started = []

    def start(**options):
        started.append(Replica(**options))
        return started[-1]

    yield start
    for each in started:
        each.server.stop(0).wait()


def test_grpc_asks_again_where_the_server_was_unavailable(replica):
    one = replica(fail=["busy", "busy"])
    with GrpcClient(f"127.0.0.1:{one.port}", model="m", retries=SOON) as client:
        assert client.answer(["a"]) == [str(one.port)]
    assert one.asked == 3


def test_a_server_that_says_why_it_cannot_answer_is_not_taken_for_none(replica):
    one = replica(fail=["the queue is full."])
    target = f"127.0.0.1:{one.port}"
    once = GrpcClient(target, model="m", retries=Retries(most=0))
    with once as client, pytest.raises(ServingError) as caught:
        client.answer(["a"])
    assert caught.value.message == f"no answer from {target} (the queue is full)."


@pytest.mark.parametrize("code", ["INTERNAL", "RESOURCE_EXHAUSTED", "INVALID_ARGUMENT"])
def test_grpc_does_not_ask_again_what_failed(replica, code):
    one = replica(fail=["no"], code=grpc.StatusCode[code])
    with (
        GrpcClient(f"127.0.0.1:{one.port}", model="m", retries=SOON) as client,
        pytest.raises(ServingError, match=f"{code}: no"),
    ):
        client.answer(["a"])
    assert one.asked == 1


def test_the_status_is_asked_once_over_grpc(replica):
    one = replica(fail=["busy", "busy"])
    with GrpcClient(f"127.0.0.1:{one.port}", model="m", retries=SOON) as client:
        assert not client.is_available()
    assert one.asked == 1


def test_grpc_goes_round_all_addresses_and_passes_over_one_that_is_gone(replica):
    """As behind a headless service, whose name stands for the addresses of all replicas."""
    first, second = replica(), replica()
    target = f"ipv4:127.0.0.1:{first.port},127.0.0.1:{second.port}"
    with GrpcClient(target, model="m", retries=SOON) as client:
        deadline = time.monotonic() + 10
        while not (first.asked and second.asked) and time.monotonic() < deadline:
            client.answer(["a"])
        first.asked = second.asked = 0
        for _ in range(20):
            client.answer(["a"])
        assert (first.asked, second.asked) == (10, 10)
        first.server.stop(0).wait()
        assert {client.answer(["a"])[0] for _ in range(10)} == {str(second.port)}


def test_grpc_takes_a_name_to_look_up(replica):
    one = replica()
    with GrpcClient(f"dns:///localhost:{one.port}", model="m", retries=SOON) as client:
        assert client.answer(["a"]) == [str(one.port)]
