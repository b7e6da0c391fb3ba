"""The REST client; standard library only."""

import base64
import contextlib
import http.client
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

from zoo.serving.answers import Client, ServingError, Signature, TensorInfo, VersionStatus
from zoo.serving.messages import HTTP_STATUS

__all__ = ["RestClient"]

_CODES = {status: code for code, status in reversed(HTTP_STATUS.items())} | {413: "RESOURCE_EXHAUSTED"}
_CONNECTIONS = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
_BROKEN_CONNECTION = (http.client.RemoteDisconnected, ConnectionError)


class RestClient(Client):
    """Asks a model over REST, TensorFlow Serving's or the embedded server's.

    Args:
        url: where the server is, `http://` or `https://`, without `/v1`.
        model: the model's name.
        version: the version to ask; None asks the latest.
        timeout: seconds to wait for the server before a call fails.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8501",
        *,
        model: str,
        version: int | None = None,
        timeout: float = 30.0,
    ) -> None:
        super().__init__(model, version, timeout)
        address = urlsplit(url)
        if address.scheme not in _CONNECTIONS or not address.hostname:
            raise ValueError(f"expected a URL such as http://127.0.0.1:8501, got {url!r}")
        self.url = url.rstrip("/")
        self._open = _CONNECTIONS[address.scheme]
        self._address = (address.hostname, address.port)
        self._path = f"{address.path.rstrip('/')}/v1/models/{quote(model, safe='')}"
        if version is not None:
            self._path += f"/versions/{version}"
        # One connection a thread, kept open between calls.
        self._local = threading.local()

    def predict(
        self, inputs: Mapping[str, Sequence[Any]], *, signature: str = "serving_default"
    ) -> dict[str, list[Any]]:
        """As `Client.predict` says.

        REST leaves out the name of an only output: the names are looked up in the metadata, once.
        """
        names = list(self._signature(signature).outputs)
        columns = {name: _write(rows) for name, rows in inputs.items()}
        body = json.dumps({"signature_name": signature, "inputs": columns}).encode("utf-8")
        answer = self._call("POST", f"{self._path}:predict", body)
        with self._reading():
            outputs = {names[0]: answer["outputs"]} if len(names) == 1 else answer["outputs"]
            return {
                name: _read_base64(rows) if name.endswith("_bytes") else rows
                for name, rows in outputs.items()
            }

    def status(self) -> list[VersionStatus]:
        """As `Client.status` says."""
        answer = self._call("GET", self._path)
        with self._reading():
            return [
                VersionStatus(int(entry["version"]), entry["state"], entry["status"].get("error_message", ""))
                for entry in answer["model_version_status"]
            ]

    def metadata(self) -> dict[str, Signature]:
        """As `Client.metadata` says."""
        answer = self._call("GET", f"{self._path}/metadata")
        with self._reading():
            signatures = answer["metadata"]["signature_def"]["signature_def"]
            return {
                name: Signature(_read_infos(entry["inputs"]), _read_infos(entry["outputs"]))
                for name, entry in signatures.items()
                if not name.startswith("__")
            }

    def close(self) -> None:
        """Close this thread's connection; the next call opens another."""
        connection = self._local.__dict__.pop("connection", None)
        if connection:
            connection.close()

    def _call(self, method: str, path: str, body: bytes | None = None) -> dict[str, Any]:
        status, raw = self._send(method, path, body)
        text = raw.decode("utf-8", "replace")
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

    def _send(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        """Send a request; once more on a fresh connection if the kept one turns out to be closed."""
        reused = "connection" in self._local.__dict__
        try:
            return self._exchange(method, path, body)
        except _BROKEN_CONNECTION as error:
            self.close()
            if not reused:
                raise self._unreachable(error) from error
        except TimeoutError as error:
            self.close()
            raise ServingError("DEADLINE_EXCEEDED", f"no answer within {self.timeout} s.") from error
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._unreachable(error) from error
        return self._send(method, path, body)

    def _exchange(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        connection = self._local.__dict__.get("connection")
        if connection is None:
            connection = self._open(*self._address, timeout=self.timeout)
            self._local.connection = connection
        connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        response = connection.getresponse()
        return response.status, response.read()

    def _unreachable(self, error: Exception) -> ServingError:
        return ServingError("UNAVAILABLE", f"no server answers at {self.url} ({error}).")


def _write(value: Any) -> Any:
    """Rows as JSON has them: bytes become base64 objects."""
    if isinstance(value, bytes):
        return {"b64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_write(item) for item in value]
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
