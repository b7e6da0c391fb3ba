"""Both clients against a server, and against what only looks like one.

`tests/docker` has TensorFlow Serving itself answer the same tests: what only the embedded server does, such
as its limits, is tested elsewhere.
"""

import http.server
import json
import math
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import google.protobuf
import grpc
import pytest
import typing_extensions

from zoo.serving.client import (
    Alignment,
    GrpcClient,
    Hypothesis,
    RestClient,
    Scored,
    ServingError,
    TensorInfo,
    VersionStatus,
)

ROOT = Path(__file__).parents[2]
NOWHERE = {"rest": "http://127.0.0.1:1", "grpc": "127.0.0.1:1"}


@pytest.fixture(params=["rest", "grpc"])
def protocol(request):
    return request.param


@pytest.fixture
def connect(protocol, server):
    """Makes a client; every test runs over REST and over gRPC."""
    opened = []

    def make(model="toy", **options):
        kinds = {"rest": (RestClient, server.rest_url), "grpc": (GrpcClient, server.grpc_target)}
        kind, place = kinds[protocol]
        client = kind(options.pop("at", place), model=model, **options)
        opened.append(client)
        return client

    yield make
    for client in opened:
        client.close()


def test_answer(connect):
    assert connect().answer(["ab", "é", ""]) == ["AB", "é", ""]


def test_an_empty_batch(connect):
    client = connect()
    assert client.answer([]) == []
    assert client.greedy([]) == []
    assert client.beam([]) == []


def test_bytes_that_are_not_utf8_arrive_and_come_back_replaced(connect):
    assert connect().answer([b"a\xff"]) == ["A\ufffd"]


def test_bytes_that_an_operating_system_handed_over_arrive_as_they_were(connect):
    """Python keeps what is not UTF-8 in arguments and names of files as lone surrogates."""
    client = connect("texts")
    out = client.predict({"text": ["a\udcff", "\udcc3\udca9", "a\nb\u0000"]}, signature="raw")
    assert out["raw_bytes"] == [b"a\xff", "é".encode(), b"a\nb\x00"]
    assert out["plain"] == ["a\ufffd", "é", "a\nb\u0000"]


def test_other_lone_surrogates_are_refused(connect):
    with pytest.raises(ServingError, match="half of a surrogate pair") as caught:
        connect().answer(["fine", "a\ud83d"])
    assert caught.value.code == "INVALID_ARGUMENT"


@pytest.mark.parametrize("names", [{"model": "m\udcff"}, {"model": "m", "label": "\ud83d"}])
def test_names_are_unicode(connect, names):
    with pytest.raises(ValueError, match="Expected names in Unicode"):
        connect(**names)
    with pytest.raises(ServingError) as caught:
        connect().predict({"odd\udcff": ["a"]})
    assert caught.value.code == "INVALID_ARGUMENT"


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_the_command_line_shows_what_is_not_utf8_as_the_model_reads_it(server, protocol, errors):
    port = {"rest": server.rest_port, "grpc": server.grpc_port}[protocol]
    command = [sys.executable, "-m", "zoo", "ask", b"a\xff", "--model", "toy", "--over", protocol]
    environment = os.environ | {"PYTHONIOENCODING": f"utf-8:{errors}", "COLUMNS": "100"}
    done = subprocess.run(
        [*command, "--port", str(port)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        timeout=60,
        check=False,
    )
    shown = done.stdout.decode("utf-8")
    assert "a\ufffd" in shown
    assert "A\ufffd" in shown
    assert done.returncode == 0


def test_outputs_named_bytes_come_back_as_they_are(connect):
    out = connect("texts").predict({"text": [b"a\xff", "é"]}, signature="raw")
    assert out == {"raw_bytes": [b"a\xff", "é".encode()], "plain": ["a\ufffd", "é"]}


def test_greedy(connect):
    assert connect().greedy(["ab"]) == [Hypothesis("AB", score=-2.0, length=2, ranked_score=-2.0)]


def test_beam_leaves_out_unreached_places(connect):
    assert connect().beam(["ab", "c"]) == [
        [Hypothesis("AB", score=-2.0, length=2, ranked_score=-1.0)],
        [Hypothesis("C", score=-1.0, length=1, ranked_score=-0.5)],
    ]


def test_score_without_padding(connect):
    assert connect().score(["a", "b"], ["xyz", "p"]) == [
        Scored(-1.0, ["x", "y", "z"], [-0.5, -0.5, -0.5]),
        Scored(-1.0, ["p"], [-0.5]),
    ]


def test_align_without_padding(connect):
    client = connect()
    assert client.align(["ab", "c"]) == [
        Alignment(["a", "b"], ["A", "B"], [[1.0, 1.0], [1.0, 1.0]]),
        Alignment(["c"], ["C"], [[1.0]]),
    ]
    assert client.align(["a"], ["xy"]) == [Alignment(["a"], ["x", "y"], [[1.0], [1.0]])]


def test_numbers_take_the_signatures_dtype(connect):
    assert connect("half").predict({"x": [1, 2.5]}) == {"y": [3.5, 4.25]}
    assert connect("half").predict({"x": [[math.inf]]}) == {"y": [[math.inf]]}


def test_a_version_can_be_asked_for(connect):
    assert connect("half", version=1).predict({"x": [1]}) == {"y": [2.5]}
    assert connect("half", version=1).status() == [VersionStatus(1, "AVAILABLE", "")]


def test_a_label_can_be_asked_for(connect):
    client = connect("half", label="stable")
    assert client.predict({"x": [1]}) == {"y": [2.5]}
    with pytest.raises(ServingError, match="Unrecognized servable version label: nope") as caught:
        connect("half", label="nope").predict({"x": [1]})
    assert caught.value.code == "INVALID_ARGUMENT"
    assert str(caught.value).endswith("`zoo serve` reads them when it starts.")


def test_a_version_and_a_label_cannot_be_asked_for_at_once(connect):
    with pytest.raises(ValueError, match="a version or for a label, got version 1 and label 'stable'"):
        connect("half", version=1, label="stable")


def test_status(connect):
    assert connect("half").status() == [VersionStatus(2, "AVAILABLE", ""), VersionStatus(1, "AVAILABLE", "")]
    assert connect("half").is_available()
    assert not connect("nope").is_available()


def test_metadata(connect):
    signatures = connect().metadata()
    assert set(signatures) == {"serving_default", "greedy", "beam", "score", "align"}
    assert signatures["beam"].inputs == {"text": TensorInfo("DT_STRING", (None,))}
    assert signatures["beam"].outputs["score"] == TensorInfo("DT_FLOAT", (None, 2))


def test_a_model_that_is_not_there(connect):
    with pytest.raises(ServingError, match="Check the model's name and version") as caught:
        connect("nope").answer(["a"])
    assert caught.value.code == "NOT_FOUND"
    assert caught.value.message == "Servable not found for request: Latest(nope)"


@pytest.mark.parametrize("inputs", [{"txt": ["a"]}, {"text": [1.5]}])
def test_inputs_that_do_not_fit(connect, inputs):
    with pytest.raises(ServingError, match=r"metadata\(\)") as caught:
        connect().predict(inputs)
    assert caught.value.code == "INVALID_ARGUMENT"


def test_a_signature_that_is_not_there(connect):
    with pytest.raises(ServingError, match="nothing") as caught:
        connect().predict({"text": ["a"]}, signature="nothing")
    assert caught.value.code == "INVALID_ARGUMENT"


def test_a_server_that_is_not_there(connect, protocol):
    with pytest.raises(ServingError, match="zoo serve") as caught:
        connect(at=NOWHERE[protocol]).answer(["a"])
    assert caught.value.code == "UNAVAILABLE"


def test_a_server_that_is_too_slow(connect):
    with pytest.raises(ServingError, match="longer timeout") as caught:
        connect("texts", timeout=0.3).predict({"steps": [2**31 - 1]}, signature="slow")
    assert caught.value.code == "DEADLINE_EXCEEDED"


def test_waiting_ends_at_once_or_in_time(connect, protocol):
    connect().wait_until_available(5)
    with pytest.raises(ServingError, match=r"was not available within 0\.2 s: no answer from "):
        connect(at=NOWHERE[protocol]).wait_until_available(0.2)
    with pytest.raises(ServingError, match="Could not find any versions of model nope"):
        connect("nope").wait_until_available(0.1)


def test_large_answers_arrive(connect):
    long = "x" * 90_000
    assert connect().answer([long]) == [long.upper()]
    # More than 4 MiB, which a gRPC client refuses unless told otherwise, for a request that no limit minds.
    source, target = "x" * 1_100, "y" * 1_050
    found = connect().predict({"text": [source], "target": [target]}, signature="align")
    assert found["alignment"] == [[[1.0] * len(source)] * len(target)]


def test_a_client_can_be_shared_by_threads(connect):
    client = connect()
    wrong = []

    def ask(number):
        for turn in range(10):
            text = f"text {number} {turn}"
            if client.answer([text]) != [text.upper()]:
                wrong.append(text)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


class Careless(http.server.BaseHTTPRequestHandler):
    """Says that it keeps connections, and closes each after one answer."""

    protocol_version = "HTTP/1.1"
    body = b'{"outputs": {"text": ["A"], "score": [1.0]}}'
    status = 200

    def do_GET(self):
        info = {"dtype": "DT_STRING", "tensor_shape": {}}
        signature = {"inputs": {}, "outputs": {"text": info, "score": info}}
        metadata = {"signature_def": {"signature_def": {"serving_default": signature}}}
        self.send(200, json.dumps({"metadata": metadata}).encode())

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send(self.status, self.body)

    def send(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def log_message(self, *_arguments):
        pass


@pytest.fixture
def careless():
    handler = type("Handler", (Careless,), {})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True).start()
        handler.url = f"http://127.0.0.1:{running.server_port}"
        yield handler
        running.shutdown()


def test_rest_asks_again_where_a_kept_connection_was_closed(careless):
    with RestClient(careless.url, model="m") as client:
        for _ in range(3):
            assert client.predict({"text": ["a"]})["text"] == ["A"]


def test_rest_says_what_came_where_it_is_no_answer(careless):
    careless.status, careless.body = 502, b"<html>Bad gateway</html>"
    with pytest.raises(ServingError, match="answered HTTP 502 with '<html>Bad gateway") as caught:
        RestClient(careless.url, model="m").predict({"text": ["a"]})
    assert caught.value.code == "UNKNOWN"


@pytest.mark.parametrize("url", ["127.0.0.1:8501", "ftp://host", "http://"])
def test_rest_wants_a_url(url):
    with pytest.raises(ValueError, match=r"expected a URL such as http://127\.0\.0\.1:8501"):
        RestClient(url, model="m")


def run_isolated(script):
    """In a Python without site-packages: the standard library and the zoo's own sources are all there is."""
    whole = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n" + textwrap.dedent(script)
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", whole], capture_output=True, text=True, timeout=60, check=False
    )


def test_rest_needs_the_standard_library_alone(server):
    done = run_isolated(
        f"""
        from zoo.serving.client import RestClient
        with RestClient({server.rest_url!r}, model="toy") as client:
            client.wait_until_available(10)
            assert client.answer(["ab"]) == ["AB"]
            assert client.beam(["ab"])[0][0].text == "AB"
            assert "serving_default" in client.metadata()
        """
    )
    assert done.returncode == 0, done.stderr


def test_grpc_needs_neither_tensorflow_nor_its_messages(server, tmp_path):
    for module in (grpc, google.protobuf, typing_extensions):
        place = Path(module.__file__)
        found = place.parent if place.name == "__init__.py" else place
        found = found.parent if module is google.protobuf else found
        (tmp_path / found.name).symlink_to(found)
    done = run_isolated(
        f"""
        sys.path.append({str(tmp_path)!r})
        from zoo.serving.client import GrpcClient
        with GrpcClient({server.grpc_target!r}, model="toy") as client:
            client.wait_until_available(10)
            assert client.answer(["ab"]) == ["AB"]
            assert client.beam(["ab"])[0][0].text == "AB"
            assert "serving_default" in client.metadata()
        assert not [name for name in sys.modules if name.startswith("tensorflow") or name == "numpy"]
        """
    )
    assert done.returncode == 0, done.stderr


def test_grpc_says_what_to_install():
    done = run_isolated(
        """
        from zoo.serving.client import GrpcClient
        GrpcClient(model="toy")
        """
    )
    assert done.returncode == 1
    assert "pip install grpcio protobuf" in done.stderr
    assert "or use RestClient" in done.stderr


@pytest.mark.parametrize(
    "body",
    [
        '{"a": 1}',
        "[" * 100_000,
        '{"metadata": []}',
        '{"error": {"code": 3}}',
        '["a"]',
        "<html>",
        '{"outputs": "a"}',
    ],
)
@pytest.mark.parametrize("status", [200, 500])
def test_what_is_no_tensorflow_serving_is_a_serving_error(body, status):
    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_arguments):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Other) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with RestClient(f"http://127.0.0.1:{server.server_port}", model="m") as client:
            assert not client.is_available()
            for call in (client.status, client.metadata, lambda: client.answer(["a"])):
                with pytest.raises(ServingError) as error:
                    call()
                assert error.value.code != "OK"
        server.shutdown()
