import base64
import gzip
import http.client
import json
import socket
import time

import numpy as np
import pytest

from zoo.serving.rest import RestApi


def error(answer):
    assert answer.content_type == "application/json"
    return answer.status, answer.json["error"]


def test_rows(predict):
    answer = predict({"instances": [1, 2.0, -5]})
    assert (answer.status, answer.content_type) == (200, "application/json")
    assert answer.json == {"predictions": [3.5, 4.0, 0.5]}


@pytest.mark.parametrize("form", [("instances", "predictions"), ("inputs", "outputs")])
@pytest.mark.parametrize(
    ("rows", "answer"),
    [
        ([[1.0, 2.0], [3.0, 4.0]], [[3.5, 4.0], [4.5, 5.0]]),
        ([[[1.0], [2.0]], [[3.0], [4.0]]], [[[3.5], [4.0]], [[4.5], [5.0]]]),
        ([[[[1.0, 2.0]]]], [[[[3.5, 4.0]]]]),
        ([[[], []]], [[[], []]]),
    ],
)
def test_rows_of_higher_rank(predict, form, rows, answer):
    asked, answered = form
    assert predict({asked: rows}).json == {answered: answer}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"instances": [{"text": "a"}, {"text": "é"}]}, {"predictions": ["A", "é"]}),
        ({"instances": [["a", "b"]]}, {"predictions": [["A", "B"]]}),
        ({"instances": [{"b64": base64.b64encode(b"abc").decode()}]}, {"predictions": ["ABC"]}),
        ({"instances": ["\0\"\\\n\x7f"]}, {"predictions": ["\0\"\\\n\x7f"]}),
        ({"inputs": ["a", "b"]}, {"outputs": ["A", "B"]}),
        ({"inputs": {"text": ["a"]}}, {"outputs": ["A"]}),
        ({"inputs": "a"}, {"outputs": "A"}),
        ({"inputs": {"text": []}}, {"outputs": []}),
        ({"signature_name": "", "inputs": ["a"]}, {"outputs": ["A"]}),
        (
            {"signature_name": "pair", "instances": ["a", "bc"]},
            {"predictions": [{"text": "a", "length": 1}, {"text": "bc", "length": 2}]},
        ),
        (
            {"signature_name": "pair", "inputs": {"text": ["a", "bc"]}},
            {"outputs": {"text": ["a", "bc"], "length": [1, 2]}},
        ),
        ({"signature_name": "pair", "inputs": {"text": []}}, {"outputs": {"text": [], "length": []}}),
        (
            {"signature_name": "raw", "instances": [{"b64": "/w=="}]},
            {"predictions": [{"raw_bytes": {"b64": "/w=="}, "plain": "\udcff"}]},
        ),
        ({"signature_name": "scalar", "inputs": ["abc", "d"]}, {"outputs": 4}),
    ],
)  # fmt: skip
def test_forms(predict, document, expected):
    answer = predict(document, "texts")
    assert answer.status == 200, answer.raw
    assert json.loads(answer.raw.decode("utf-8", "surrogateescape")) == expected


def test_a_beam_comes_as_a_row_for_each_source(predict):
    row = predict({"signature_name": "beam", "instances": ["ab"]}, "toy").json["predictions"][0]
    assert row == {"text": ["AB", ""], "score": [-2.0, -1e9], "ranked_score": [-1.0, -5e8], "length": [2, 0]}


@pytest.mark.parametrize(("version", "expected"), [("/versions/1", 2.5), ("/versions/2", 3.5), ("", 3.5)])
def test_versions(ask, version, expected):
    answer = ask("POST", f"/v1/models/half{version}:predict", {"instances": [1]})
    assert answer.json == {"predictions": [expected]}


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("/v1/models/nope:predict", {}, 404, "Servable not found for request: Latest(nope)"),
        ("/v1/models/half/versions/9:predict", {}, 404, "Servable not found for request: Specific(half, 9)"),
        ("/v1/models/half/labels/gone:predict", {}, 404, "Servable not found for request: Specific(half, 9)"),
        ("/v1/models/half/labels/x:predict", {}, 400, "Unrecognized servable version label: x"),
        ("/v1/models/half:predict", b"", 400, "JSON Parse error: The document is empty"),
        ("/v1/models/half:predict", [1], 400, "JSON Value: [1] Is not object"),
        ("/v1/models/half:predict", {}, 400, "Missing 'inputs' or 'instances' key"),
        (
            "/v1/models/half:predict",
            {"instances": []},
            400,
            'JSON Value: {\n    "instances": []\n} No values in \'instances\' array',
        ),
        (
            "/v1/models/half:predict",
            {"instances": 5},
            400,
            'JSON Value: {\n    "instances": 5\n} Expecting \'instances\' to be an list/array',
        ),
        (
            "/v1/models/half:predict",
            {"instances": [1], "signature_name": "foo"},
            400,
            'Serving signature name: "foo" not found in signature def',
        ),
        (
            "/v1/models/texts:predict",
            {"instances": ["a"], "signature_name": "scalar"},
            400,
            "Tensor name: total has no shape information ",
        ),
        ("/v1/models/half:predict?x=1", {}, 400, "Malformed request: POST /v1/models/half:predict?x=1"),
        ("/v1/models/half:Predict", {}, 400, "Malformed request: POST /v1/models/half:Predict"),
        ("/v1/models/half", {}, 400, "Malformed request: POST /v1/models/half"),
        ("/v1/models/a%zz:predict", {}, 400, "Malformed request: POST /v1/models/a%zz:predict"),
    ],
)  # fmt: skip
def test_refusals(ask, path, body, status, message):
    assert error(ask("POST", path, body)) == (status, message)


@pytest.mark.parametrize("key", ["both", "signature"])
def test_refusals_quote_the_request(predict, key):
    documents = {
        "both": ({"instances": [1], "inputs": [1]}, "Not formatted correctly expecting only one of"),
        "signature": (
            {"instances": [1], "signature_name": None},
            "'signature_name' key must be a string value.",
        ),
    }
    document, message = documents[key]
    status, text = error(predict(document))
    assert status == 400
    assert text.startswith('JSON Value: {\n    "instances": [1],\n')
    assert message in text


def test_the_error_of_a_kernel_reaches_the_caller(predict):
    status, message = error(predict({"signature_name": "square", "inputs": [1, 2, 3]}, "texts"))
    assert status == 400
    assert message.startswith("Matrix size-incompatible: In[0]: [1,3], In[1]: [2,1]")


def test_the_error_of_a_kernel_may_quote_bytes_that_are_no_text(predict):
    status, message = error(predict({"signature_name": "number", "inputs": [{"b64": "/w=="}]}, "texts"))
    assert status == 400
    assert "could not correctly convert string: \ufffd" in message


def test_nesting_beyond_reason_is_the_callers_fault(ask):
    body = b'{"instances": ' + b"[" * 20_000 + b"]" * 20_000 + b"}"
    status, message = error(ask("POST", "/v1/models/half:predict", body))
    assert status == 400
    assert "nested too deeply" in message
    body = b'{"instances": 1, "deep": ' + b"[" * 700 + b"]" * 700 + b"}"
    assert error(ask("POST", "/v1/models/half:predict", body))[0] == 400


def test_a_body_beyond_the_limit_is_refused(ask):
    status, message = error(ask("POST", "/v1/models/half:predict", b" " * 100_001))
    assert status == 413
    assert "larger than 100000 bytes" in message


def test_a_gzip_bomb_is_refused(ask):
    body = gzip.compress(b" " * 10_000_000)
    assert len(body) < 100_000
    answer = ask("POST", "/v1/models/half:predict", body, {"Content-Encoding": "gzip"})
    assert answer.status == 413


def test_a_gzip_body_is_inflated(ask):
    body = gzip.compress(b'{"instances": [1]}')
    headers = {"Content-Encoding": "gzip"}
    assert ask("POST", "/v1/models/half:predict", body, headers).json == {"predictions": [3.5]}
    assert error(ask("POST", "/v1/models/half:predict", body[:-4], headers))[0] == 400


def test_classify_is_left_to_tensorflow_serving(ask):
    assert error(ask("POST", "/v1/models/half:classify", {}))[0] == 501


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/models/half:predict", 400),
        ("PUT", "/v1/models/half:predict", 400),
        ("DELETE", "/v1/models/half", 400),
        ("TRACE", "/v1/models/half", 501),
        ("CONNECT", "/v1/models/half", 501),
        ("CONNECT", "example.org:443", 501),
        ("GET", "/", 404),
        ("GET", "/v2/models/half", 404),
        ("GET", "/v1/models/half/", 400),
        ("GET", "/v1/models/half/versions/x", 400),
        ("GET", "/v1/models", 400),
        ("GET", "/v1/models/..%2F..%2Fetc", 404),
    ],
)
def test_urls_that_mean_nothing(ask, method, path, status):
    assert error(ask(method, path))[0] == status


def test_a_version_beyond_64_bits_gets_no_body(ask):
    answer = ask("GET", "/v1/models/half/versions/99999999999999999999")
    assert (answer.status, answer.raw) == (400, b"")


def test_preflight_requests(ask):
    assert ask("OPTIONS", "/v1/models/half:predict", None, {"Origin": "http://x"}).status == 200
    assert ask("OPTIONS", "/v1/models/half:predict").status == 400


def test_status(ask):
    available = {"state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}
    one, two = {"version": "1", **available}, {"version": "2", **available}
    assert ask("GET", "/v1/models/half").json == {"model_version_status": [two, one]}
    assert ask("GET", "/V1/Models/h%61lf/versions/1").json == {"model_version_status": [one]}
    assert error(ask("GET", "/v1/models/nope")) == (404, "Could not find any versions of model nope")
    assert error(ask("GET", "/v1/models/half/versions/9")) == (404, "Could not find version 9 of model half")


def test_metadata(ask):
    answer = ask("GET", "/v1/models/half/versions/1/metadata").json
    assert answer["model_spec"] == {"name": "half", "signature_name": "", "version": "1"}
    signature = answer["metadata"]["signature_def"]["signature_def"]["serving_default"]
    assert signature["inputs"] == {
        "x": {
            "dtype": "DT_FLOAT",
            "name": "serving_default_x:0",
            "tensor_shape": {"dim": [{"size": "-1", "name": ""}], "unknown_rank": False},
        }
    }
    assert signature["method_name"] == "tensorflow/serving/predict"
    assert signature["defaults"] == {}


def test_a_connection_is_kept_through_answers_and_errors(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.rest_port, timeout=20)
    ports = set()
    for body in (b'{"instances": [1]}', b"{", b'{"instances": [2]}'):
        connection.request("POST", "/v1/models/half:predict", body)
        connection.getresponse().read()
        ports.add(connection.sock.getsockname())
    connection.close()
    assert len(ports) == 1


def test_small_answers_are_not_delayed(server):
    """Where header and body wait for each other's acknowledgement, every answer takes 40 ms."""
    connection = http.client.HTTPConnection("127.0.0.1", server.rest_port, timeout=20)
    times = []
    for _ in range(20):
        started = time.perf_counter()
        connection.request("POST", "/v1/models/half:predict", b'{"instances": [1]}')
        connection.getresponse().read()
        times.append(time.perf_counter() - started)
    connection.close()
    assert min(times[5:]) < 0.03


def test_chunks_and_requests_sent_ahead(server):
    body = b'{"instances": [1]}'
    head = b"POST /v1/models/half:predict HTTP/1.1\r\nHost: x\r\n"
    chunked = head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    last = head + b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    with socket.create_connection(("127.0.0.1", server.rest_port), timeout=20) as connection:
        connection.sendall(chunked + last)
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    assert received.count(b"HTTP/1.1 200") == 2
    assert received.count(b'{"predictions": [3.5]}') == 2


def test_a_slow_model_times_out_and_the_server_stays_usable(server):
    api = RestApi(server.servables, timeout=0.2)
    body = json.dumps({"signature_name": "slow", "instances": [2**31 - 1]}).encode()
    late = api.answer("POST", "/v1/models/texts:predict", body)
    assert late.status == 504
    assert json.loads(late.body) == {"error": "Timed out waiting for notification"}
    assert api.answer("POST", "/v1/models/texts:predict", b'{"instances": ["a"]}').status == 200


def test_a_fault_of_the_server_is_an_answer_too(server, monkeypatch, caplog):
    monkeypatch.setattr("zoo.serving.documents.parse", lambda body: np.zeros(2)[3])
    reply = RestApi(server.servables).answer("POST", "/v1/models/half:predict", b"{}")
    assert reply.status == 500
    assert "IndexError" in json.loads(reply.body)["error"]
    assert "IndexError" in caplog.text
