"""Sends golden cases as bytes over a socket, and tells where an answer is not the recorded one.

Bodies are compared as JSON: floats to 1e-6, ints and floats kept apart, messages to the letter. What a case
says under `compare` loosens that: `status` alone, the `shape` alone, or a message's `first_line`.
"""

import base64
import http.client
import json
import math
import re
import socket
from typing import NamedTuple

CORS = "access-control-"
COMPARED = ("content-encoding",)


class Answer(NamedTuple):
    status: int
    headers: dict
    body: bytes


def ask(case, port, timeout=60.0):
    """The answers to a case: two where it is sent twice.

    Raises:
        OSError, http.client.HTTPException: the server gave no answer.
    """
    transport = case.get("transport")
    request = _request(case)
    times = 2 if transport in ("twice", "pipeline") else 1
    with (
        socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection,
        connection.makefile("rb") as stream,
    ):
        if transport == "pipeline":
            connection.sendall(request * times)
            return [_receive(stream, case["method"]) for _ in range(times)]
        answers = []
        for _ in range(times):
            connection.sendall(request)
            if transport == "no-length":
                connection.shutdown(socket.SHUT_WR)
            answers.append(_receive(stream, case["method"]))
        return answers


def _request(case):
    transport = case.get("transport")
    body = base64.b64decode(case.get("body_base64", "")) or case.get("body", "").encode()
    headers = {"Host": "127.0.0.1", **case.get("headers", {})}
    if transport == "chunked":
        headers["Transfer-Encoding"] = "chunked"
        middle = len(body) // 2
        chunks = [chunk for chunk in (body[:middle], body[middle:]) if chunk]
        body = b"".join(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n" for chunk in [*chunks, b""])
    elif transport != "no-length" and {"body", "body_base64"} & case.keys():
        headers["Content-Length"] = len(body)
    version = "1.0" if transport == "http-1.0" else "1.1"
    lines = [f"{case['method']} {case['path']} HTTP/{version}", *(f"{k}: {v}" for k, v in headers.items())]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode() + body


def _receive(stream, method):
    status = 100
    while status == 100:
        first = stream.readline()
        if not first:
            raise http.client.RemoteDisconnected("the connection was closed without an answer")
        status = int(first.split()[1])
        headers = {name.lower(): value for name, value in http.client.parse_headers(stream).items()}
    if method == "HEAD":
        return Answer(status, headers, b"")
    length = headers.get("content-length")
    return Answer(status, headers, stream.read(None if length is None else int(length)))


def difference(case, answer):
    """Where an answer is not the recorded one, in words; None where it is."""
    mode = case.get("compare")
    if answer.status != case["status"]:
        return f"status {answer.status}, not {case['status']}: {answer.body[:300]!r}"
    if mode == "status":
        return None
    return _in_headers(case, answer) or _in_body(case, answer, mode)


def _in_headers(case, answer):
    found = {k: v for k, v in answer.headers.items() if k.startswith(CORS) or k in COMPARED}
    if found != case.get("response_headers", {}):
        return f"headers {found}, not {case.get('response_headers', {})}"
    kind = answer.headers.get("content-type", "")
    wanted = case["content_type"]
    # Of pages and their charset the HTTP library decides.
    if wanted and not wanted.startswith("text/html") and kind.lower() != wanted.lower():
        return f"content type {kind!r}, not {wanted!r}"
    return None


def _in_body(case, answer, mode):
    if "response" not in case and not case.get("response_is_json"):
        wanted = base64.b64decode(case.get("response_base64", "")) or case.get("response_text", "").encode()
        return None if answer.body == wanted else f"body {answer.body[:300]!r}, not {wanted[:300]!r}"
    try:
        found = _lenient(answer.body)
    except ValueError as error:
        return f"no JSON ({error}): {answer.body[:300]!r}"
    wanted = [_recorded(case), *case.get("also", [])]
    if mode == "shape":
        return None if _shape(found) == _shape(wanted[0]) else f"shape {_shape(found)}"
    if any(_same(one, found, mode) for one in wanted):
        return None
    return f"{json.dumps(found)[:400]}, not {json.dumps(wanted[0])[:400]}"


def _recorded(case):
    if "response" in case:
        return case["response"]
    return _lenient(base64.b64decode(case.get("response_base64", "")) or case["response_text"].encode())


def _lenient(body):
    """JSON with NaN, Infinity and bytes that are not UTF-8."""
    return json.loads(body.decode("utf-8", "surrogateescape"))


def _same(wanted, found, mode):
    if type(wanted) is not type(found):
        return False
    match wanted:
        case dict():
            return wanted.keys() == found.keys() and all(_same(wanted[k], found[k], mode) for k in wanted)
        case list():
            return len(wanted) == len(found) and all(
                _same(one, other, mode) for one, other in zip(wanted, found, strict=True)
            )
        case float():
            return _same_float(wanted, found)
        case str():
            return _same_message(wanted, found, mode)
    return wanted == found


def _same_float(wanted, found):
    if math.isnan(wanted) or math.isnan(found):
        return math.isnan(wanted) and math.isnan(found)
    if wanted == 0.0 and math.copysign(1.0, wanted) != math.copysign(1.0, found):
        return False
    return math.isclose(wanted, found, rel_tol=1e-6, abs_tol=1e-6)


def _same_message(wanted, found, mode):
    if mode == "first_line":
        # Node names follow on further lines, and protobuf's unstable print after `goo.gle`.
        wanted, found = (re.split("\n|goo\\.gle", text)[0] for text in (wanted, found))
    pattern = ".*?".join(map(re.escape, wanted.split("{MODELS}")))
    return re.fullmatch(pattern, found, re.DOTALL) is not None


def _shape(value):
    match value:
        case dict():
            return {key: _shape(item) for key, item in value.items()}
        case list():
            return [_shape(item) for item in value]
    return type(value).__name__
