"""The REST client; standard library only."""

import base64
import contextlib
import http.client
import json
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from zoo.serving.answers import Client, ServingError, Signature, TensorInfo, VersionStatus
from zoo.serving.client_retries import NO_RETRIES, Retries
from zoo.serving.client_target import is_unicode, read_url
from zoo.serving.client_texts import is_list, to_bytes
from zoo.serving.messages import HTTP_STATUS

__all__ = ["RestClient"]

_CODES = {status: code for code, status in reversed(HTTP_STATUS.items())} | {413: "RESOURCE_EXHAUSTED"}
_CONNECTIONS = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
_BROKEN_CONNECTION = (http.client.IncompleteRead, ConnectionError)
_BYTES_AT_A_TIME = 65_536


class _Answer(NamedTuple):
    """What came back over HTTP."""

    status: int
    body: bytes


class RestClient(Client):
    """Asks a model over REST, TensorFlow Serving's or the embedded server's.

    Connections are kept open between calls; calls made at the same time have one each.

    Args:
        url: where the server is, `http://` or `https://`, without `/v1`.
        model: the model's name.
        version: the version to ask; None asks the latest.
        label: the label of the version to ask, such as `stable`, in place of its number.
        timeout: seconds that one call may take, tries and pauses included. The first question looks up the
            signatures besides, in a call of its own.
        retries: when to ask again; `status` and what waits for it ask once.

    Raises:
        ValueError: the URL is none, both a version and a label are given, or one of the rest is no name,
            version or time.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8501",
        *,
        model: str,
        version: int | None = None,
        label: str | None = None,
        timeout: float = 30.0,
        retries: Retries = Retries(),  # noqa: B008 - frozen
    ) -> None:
        super().__init__(model, version, label, timeout)
        address = read_url(url)
        self.url = url.rstrip("/")
        self.retries = retries
        self._open = _CONNECTIONS[address.scheme]
        self._address = (address.hostname, address.port)
        self._path = f"{address.path.rstrip('/')}/v1/models/{quote(model, safe='')}"
        if version is not None:
            self._path += f"/versions/{version}"
        if label is not None:
            self._path += f"/labels/{quote(label, safe='')}"
        # Open connections that no call uses; both ends of a deque are safe to use from several threads.
        self._idle: deque[http.client.HTTPConnection] = deque()

    def predict(
        self, inputs: Mapping[str, Sequence[Any]], *, signature: str = "serving_default"
    ) -> dict[str, list[Any]]:
        """As `Client.predict` says.

        REST leaves out the name of an only output: the names are looked up in the metadata, once.
        """
        names = list(self._signature(signature).outputs)
        body = _body(signature, inputs)
        answer = self._call("POST", f"{self._path}:predict", self.retries, body)
        with self._reading():
            outputs = {names[0]: answer["outputs"]} if len(names) == 1 else answer["outputs"]
            return {
                name: _read_base64(rows) if name.endswith("_bytes") else rows
                for name, rows in outputs.items()
            }

    def status(self) -> list[VersionStatus]:
        """As `Client.status` says."""
        answer = self._call("GET", self._path, NO_RETRIES)
        with self._reading():
            return [
                VersionStatus(int(entry["version"]), entry["state"], entry["status"].get("error_message", ""))
                for entry in answer["model_version_status"]
            ]

    def metadata(self) -> dict[str, Signature]:
        """As `Client.metadata` says."""
        answer = self._call("GET", f"{self._path}/metadata", self.retries)
        with self._reading():
            signatures = answer["metadata"]["signature_def"]["signature_def"]
            return {
                name: Signature(_read_infos(entry["inputs"]), _read_infos(entry["outputs"]))
                for name, entry in signatures.items()
                if not name.startswith("__")
            }

    def close(self) -> None:
        """Close the connections that no call uses; the next call opens another."""
        with contextlib.suppress(IndexError):
            while True:
                self._idle.pop().close()

    def _call(self, method: str, path: str, retries: Retries, body: bytes | None = None) -> dict[str, Any]:
        def once(seconds: float) -> dict[str, Any]:
            return self._read(path, self._send(method, path, body, seconds))

        return retries.ask(once, self.timeout)

    def _read(self, path: str, answered: _Answer) -> dict[str, Any]:
        """The document of an answer; one that tells of an error is raised."""
        status, text = answered.status, answered.body.decode("utf-8", "replace")
        try:
            answer = json.loads(text) if text else {}
        except (ValueError, RecursionError):
            answer = {}
        if status == 200 and isinstance(answer, dict) and answer:
            return answer
        message = answer.get("error") if isinstance(answer, dict) else None
        if not isinstance(message, str) or not message:
            message = f"{self.url}{path} answered HTTP {status} with {text[:200]!r}."
        raise ServingError("UNKNOWN" if status == 200 else _CODES.get(status, "UNKNOWN"), message)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """What a server that is not TensorFlow Serving answers is an error of the call, not of the reader."""
        try:
            yield
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ServingError(
                "UNKNOWN", f"{self.url} answered something else than TensorFlow Serving would ({error!r})"
            ) from error

    def _send(self, method: str, path: str, body: bytes | None, seconds: float) -> _Answer:
        """Send a request on a kept connection, or on a fresh one if there is none that still works."""
        deadline = time.monotonic() + seconds
        while True:
            connection, is_kept = self._connection()
            try:
                answer, can_stay = _exchange(connection, method, path, body, deadline)
            except TimeoutError as error:
                connection.close()
                raise ServingError("DEADLINE_EXCEEDED", f"no answer within {self.timeout} s.") from error
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if not (is_kept and isinstance(error, _BROKEN_CONNECTION)):
                    raise self._unreachable(error) from error
                continue
            if can_stay:
                self._idle.append(connection)
            return answer

    def _connection(self) -> tuple[http.client.HTTPConnection, bool]:
        """A connection, and whether it was used before."""
        try:
            return self._idle.pop(), True
        except IndexError:
            return self._open(*self._address), False

    def _unreachable(self, error: Exception) -> ServingError:
        return ServingError("UNAVAILABLE", f"no answer from {self.url} ({error}).")


def _exchange(
    connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None, deadline: float
) -> tuple[_Answer, bool]:
    """An answer, and whether the connection can be used again."""
    connection.timeout = _seconds_until(deadline)
    if connection.sock is None:
        connection.connect()
    # The connection lets go of its socket when an answer says that it is the last.
    sock = connection.sock
    sock.settimeout(_seconds_until(deadline))
    # A server that refuses a body may answer and hang up before it has read all.
    with contextlib.suppress(BrokenPipeError):
        connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
    sock.settimeout(_seconds_until(deadline))
    response = connection.getresponse()
    parts = []
    while part := response.read1(_BYTES_AT_A_TIME):
        parts.append(part)
        if response.isclosed():  # all is read, and the socket may be closed with it
            break
        sock.settimeout(_seconds_until(deadline))
    if response.length:
        raise http.client.IncompleteRead(b"".join(parts), response.length)
    response.read()  # nothing is left; this frees the connection for the next request
    return _Answer(response.status, b"".join(parts)), connection.sock is not None


def _seconds_until(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def _body(signature: str, inputs: Mapping[str, Sequence[Any]]) -> bytes:
    try:
        columns = {name: _write(rows) for name, rows in inputs.items()}
        return json.dumps({"signature_name": signature, "inputs": columns}).encode("utf-8")
    except (TypeError, RecursionError) as error:
        raise ServingError("INVALID_ARGUMENT", f"the inputs cannot be written as JSON ({error}).") from error


def _write(value: Any) -> Any:
    """Rows, or an array, as JSON has them: bytes, and texts that are not UTF-8, become base64 objects."""
    if hasattr(value, "tolist"):
        return _write(value.tolist())
    if is_list(value):
        return [_write(item) for item in value]
    if isinstance(value, bytes) or (isinstance(value, str) and not is_unicode(value)):
        return {"b64": base64.b64encode(to_bytes(value)).decode("ascii")}
    return value


def _read_base64(value: Any) -> Any:
    if isinstance(value, list):
        return [_read_base64(item) for item in value]
    return base64.b64decode(value["b64"]) if isinstance(value, dict) else value


def _read_infos(infos: Mapping[str, Any]) -> dict[str, TensorInfo]:
    return {
        name: TensorInfo(info["dtype"], _read_shape(info["tensor_shape"])) for name, info in infos.items()
    }


def _read_shape(shape: Mapping[str, Any]) -> tuple[int | None, ...] | None:
    if shape.get("unknown_rank"):
        return None
    sizes = [int(axis["size"]) for axis in shape.get("dim", [])]
    return tuple(None if size < 0 else size for size in sizes)
