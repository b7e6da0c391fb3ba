"""The REST interface: URLs and documents of TensorFlow Serving, as an ASGI application.

`RestApi` answers one request in a plain call, and `application` puts it behind HTTP: requests run in a pool
of threads, so the event loop is never blocked.
"""

import asyncio
import logging
import re
import time
import zlib
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from google.protobuf.json_format import MessageToDict
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from tensorflow.core.framework.types_pb2 import DataType
from tensorflow.core.protobuf.meta_graph_pb2 import SignatureDef
from tensorflow_serving.apis.get_model_metadata_pb2 import SignatureDefMap

from zoo.serving import documents, messages, tensors
from zoo.serving.messages import HTTP_STATUS, RefusalError
from zoo.serving.monitoring import Monitoring
from zoo.serving.quote import quote
from zoo.serving.servables import Servables

__all__ = ["Reply", "RestApi", "application"]

_log = logging.getLogger(__name__)

_TOO_LARGE = 413
_METHODS = {"GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"}
_MODEL = r"/v1/models/(?P<name>[^/:]+)(?:/versions/(?P<version>[0-9]+)|/labels/(?P<label>[^/:]+))?"
_RUN = re.compile(_MODEL + r":(?P<verb>classify|regress|predict)", re.IGNORECASE)
_LOOK = re.compile(_MODEL + r"(?P<metadata>/metadata)?", re.IGNORECASE)
_NO_NAME = re.compile(r"/v1/models(?:/metadata)?", re.IGNORECASE)
_BAD_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2})")
_MODEL_OF = re.compile(r"/v1/models/([^/:?]+)", re.IGNORECASE)
_CORS = {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "POST, GET",
    "access-control-allow-headers": "Content-Type",
}
_LARGEST_VERSION = 2**63 - 1


class Reply(NamedTuple):
    """What goes back over HTTP."""

    status: int
    body: bytes
    content_type: str = "application/json"


class _Target(NamedTuple):
    """The model that a URL names."""

    name: str
    version: int | None
    label: str | None


class RestApi:
    """Answers REST requests about the served models.

    Args:
        servables: the models.
        timeout: seconds that a prediction may take before it is answered with 504.
        monitoring: is told of every request.
        metrics_path: where the page for Prometheus is; None: nowhere.
    """

    def __init__(
        self,
        servables: Servables,
        *,
        timeout: float = 30.0,
        monitoring: Monitoring | None = None,
        metrics_path: str | None = None,
    ) -> None:
        self._servables = servables
        self._timeout = timeout
        self._monitoring = monitoring or Monitoring()
        self._metrics_path = metrics_path

    def answer(self, method: str, path: str, body: bytes, headers: Mapping[str, str] | None = None) -> Reply:
        """Answer a request; every failure becomes a reply too.

        Args:
            path: as it came over the wire, still percent-encoded, with the query.
            headers: of which only `origin` matters, to OPTIONS.
        """
        if method not in _METHODS:
            return _error(501, f"The method {method} is not implemented.")
        if self._metrics_path and path.partition("?")[0] == self._metrics_path:
            return self._metrics(path)
        if not path.lower().startswith("/v1/"):
            return _error(404, f"Not found: {path}. This server answers under /v1/models/NAME.")
        if _BAD_ESCAPE.search(path):
            return _error(400, messages.MALFORMED(method=method, path=path).message)
        handler = {"POST": self._post, "GET": self._get, "OPTIONS": self._options}.get(method, self._refuse)
        code, reply = self._attempt(lambda: handler(method, path, body, headers or {}))
        model = _MODEL_OF.match(path)
        self._monitoring.count_request(_unquote(model[1]) if model else "", code)
        return reply

    def _attempt(self, work: Callable[[], Reply]) -> tuple[str, Reply]:
        """The reply with its canonical status code; what fails becomes one too."""
        try:
            return "OK", work()
        except RefusalError as error:
            refusal = error
        except RecursionError:
            refusal = messages.PARSE_ERROR(problem="The document is nested too deeply.")
        except Exception as error:
            _log.exception("a REST request failed")
            refusal = messages.INTERNAL(problem=type(error).__name__)
        return refusal.code, _error(HTTP_STATUS[refusal.code], refusal.message)

    def _metrics(self, path: str) -> Reply:
        if path == self._metrics_path:
            return Reply(200, self._monitoring.page().encode(), "text/plain")
        refusal = messages.METRICS_PATH(path=path, expected=self._metrics_path)
        return Reply(HTTP_STATUS[refusal.code], refusal.message.encode(), "text/plain")

    def _post(self, method: str, path: str, body: bytes, _headers: Mapping[str, str]) -> Reply:
        match = _RUN.fullmatch(path)
        if not match or match["verb"] != match["verb"].lower():
            raise messages.MALFORMED(method=method, path=path)
        if _too_big(match):
            return Reply(400, b"")
        if match["verb"] != "predict":
            raise messages.UNSUPPORTED_METHOD(verb=match["verb"])
        started = time.perf_counter()
        reply = Reply(200, tensors.to_json(self._predict(match, documents.parse(body))))
        seconds = time.perf_counter() - started
        self._monitoring.time_request(_unquote(match["name"]), "predict", "REST", seconds)
        return reply

    def _get(self, method: str, path: str, _body: bytes, _headers: Mapping[str, str]) -> Reply:
        match = _LOOK.fullmatch(path)
        if not match and _NO_NAME.fullmatch(path):
            raise messages.MISSING_MODEL_NAME()
        if not match:
            raise messages.MALFORMED(method=method, path=path)
        if _too_big(match):
            return Reply(400, b"")
        look = self._metadata if match["metadata"] == "/metadata" else self._status
        return Reply(200, tensors.to_json(look(match), indent=1))

    def _options(self, _method: str, _path: str, _body: bytes, headers: Mapping[str, str]) -> Reply:
        asked = re.search("https?://", headers.get("origin", ""))
        return Reply(200 if asked else 400, b"", "text/html")

    def _refuse(self, method: str, path: str, _body: bytes, _headers: Mapping[str, str]) -> Reply:
        raise messages.MALFORMED(method=method, path=path)

    def _predict(self, match: re.Match[str], document: Any) -> dict[str, Any]:
        if type(document) is not dict:
            raise messages.NOT_AN_OBJECT(value=quote(document))
        name = document.get("signature_name", "")
        if type(name) is not str:
            raise messages.SIGNATURE_NOT_STRING(value=quote(document))
        target = _target(match)
        with self._servables.acquire(*target) as (_, servable):
            signature = _signature(servable.signatures, name or "serving_default")
            dtypes = {key: DataType.Name(info.dtype) for key, info in signature.inputs.items()}
            form = _form(document)
            inputs = form.read(document, dtypes)
            with self._monitoring.timed_run(target.name, "predict"):
                outputs = servable.run(signature, inputs, sorted(signature.outputs), timeout=self._timeout)
        return {form.answer_key: form.write(outputs)}

    def _status(self, match: re.Match[str]) -> dict[str, Any]:
        name = _unquote(match["name"])
        version = int(match["version"]) if match["version"] else None
        return {
            "model_version_status": [
                {
                    "version": str(status.version),
                    "state": status.state.name,
                    "status": {"error_code": status.error_code, "error_message": status.error_message},
                }
                for status in self._servables.status(name, version)
            ]
        }

    def _metadata(self, match: re.Match[str]) -> dict[str, Any]:
        target = _target(match)
        with self._servables.acquire(*target) as (version, servable):
            signatures = SignatureDefMap(signature_def=servable.signatures)
        return {
            "model_spec": {"name": target.name, "signature_name": "", "version": str(version)},
            "metadata": {
                "signature_def": MessageToDict(
                    signatures, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
                )
            },
        }


class _Form(NamedTuple):
    """One of the two forms of a request, with the form of its answer."""

    answer_key: str
    read: Callable[[Any, Mapping[str, str]], dict[str, Any]]
    write: Callable[[Mapping[str, Any]], Any]


_FORMS = {
    "instances": _Form(
        "predictions",
        lambda document, dtypes: tensors.from_rows(document, document["instances"], dtypes),
        tensors.to_rows,
    ),
    "inputs": _Form(
        "outputs",
        lambda document, dtypes: tensors.from_columns(document["inputs"], dtypes),
        tensors.to_columns,
    ),
}


def _form(document: Mapping[str, Any]) -> _Form:
    keys = [key for key in _FORMS if key in document]
    if not keys:
        raise messages.NEITHER_KEY()
    if len(keys) > 1:
        raise messages.BOTH_KEYS(value=quote(document))
    return _FORMS[keys[0]]


def _signature(signatures: Mapping[str, SignatureDef], name: str) -> SignatureDef:
    if name not in signatures:
        raise messages.UNKNOWN_SIGNATURE_REST(signature=name)
    if not signatures[name].inputs:
        raise messages.NO_INPUT_MAP(signature=name)
    return signatures[name]


def _target(match: re.Match[str]) -> _Target:
    version = int(match["version"]) if match["version"] else None
    label = None if match["label"] is None else _unquote(match["label"])
    return _Target(_unquote(match["name"]), version, label)


def _too_big(match: re.Match[str]) -> bool:
    """Whether the version is beyond 64 bits, which TensorFlow Serving answers with 400 and no body."""
    digits = (match["version"] or "0").lstrip("0")
    return len(digits) > 19 or int(digits or 0) > _LARGEST_VERSION


def _unquote(text: str) -> str:
    return unquote_to_bytes(text).decode("utf-8", "surrogateescape")


def _error(status: int, message: str) -> Reply:
    return Reply(status, tensors.to_json({"error": message}, indent=4))


def application(api: RestApi, *, pool: Executor, max_body_bytes: int, cors: bool = False) -> ASGIApp:
    """The ASGI application around an API. It has no routes: the URLs are told apart as they came, undecoded.

    Args:
        pool: the threads that work on requests; when all are busy, requests wait.
        max_body_bytes: a body larger than this, inflated, is answered with 413.
        cors: whether web pages of any origin may ask.
    """
    common = _CORS if cors else {}

    async def respond(request: Request) -> Reply:
        body = await _read_body(request, max_body_bytes)
        if body is None:
            return _error(_TOO_LARGE, _too_large(max_body_bytes))
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            pool, api.answer, request.method, _path(request), body, request.headers
        )

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            reply = await respond(Request(scope, receive))
        except ClientDisconnect:
            return
        response = Response(reply.body, reply.status, headers={"content-type": reply.content_type, **common})
        await response(scope, receive, send)

    return app


def _path(request: Request) -> str:
    """Path and query as they came, without the origin of an absolute URL."""
    path = request.scope["raw_path"].decode("latin-1")
    query = request.scope["query_string"].decode("latin-1")
    path = re.sub(r"^https?://[^/]*", "", path)
    return f"{path}?{query}" if query else path


def _too_large(limit: int) -> str:
    return (
        f"The request body is larger than {limit} bytes, the limit of this server. Send fewer rows at a time."
    )


async def _read_body(request: Request, limit: int) -> bytes | None:
    """The body, inflated where it is gzip; None where it is larger than the limit."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            return None
    if "gzip" not in request.headers.get("content-encoding", ""):
        return bytes(body)
    return _inflate(bytes(body), limit)


def _inflate(body: bytes, limit: int) -> bytes | None:
    """A gzip body inflated; empty where it is not one whole gzip member, None where it exceeds the limit."""
    inflater = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        inflated = inflater.decompress(body, limit + 1)
    except zlib.error:
        return b""
    if len(inflated) > limit:
        return None
    return inflated if inflater.eof and not inflater.unused_data else b""
