"""The embedded server: TensorFlow Serving's Predict, status and metadata, in this process.

    with Server({"dates": Path("saved_models/dates")}) as server:
        print(server.rest_url, server.grpc_target)

It stands in where neither TensorFlow Serving nor Docker is at hand.
"""

import logging
import os
import socket
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

import grpc
import uvicorn

from zoo.serving.rest import MAX_BODY_BYTES, RestApi, application
from zoo.serving.rpc import add_services
from zoo.serving.servables import Policy, Servables

__all__ = ["Server"]

_log = logging.getLogger(__name__)
_THREADS = 4 * (os.cpu_count() or 1)
_UNLIMITED = -1


class Server:
    """Serves models over gRPC and REST until it is stopped.

    Args:
        models: model name to base path, the folder that holds the version folders.
        host: the address to listen on; `0.0.0.0` opens the server to the network.
        grpc_port, rest_port: 0 picks a free one; after `start` both tell which.
        poll_seconds: how often the base paths are looked at for new and removed versions.
        policies: model name to the versions that are served; by default the highest good one.
        rest_timeout: seconds that a REST request may take.
        max_body_bytes: the largest REST body.
    """

    def __init__(
        self,
        models: Mapping[str, Path],
        *,
        host: str = "127.0.0.1",
        grpc_port: int = 8500,
        rest_port: int = 8501,
        poll_seconds: float = 1.0,
        policies: Mapping[str, Policy] | None = None,
        rest_timeout: float = 30.0,
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        self.host = host
        self.grpc_port = grpc_port
        self.rest_port = rest_port
        self.servables = Servables(models, policies=policies)
        self._poll_seconds = poll_seconds
        self._grpc_pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="zoo-serving-grpc")
        self._rest_pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="zoo-serving-rest")
        api = RestApi(self.servables, timeout=rest_timeout)
        self._application = application(api, pool=self._rest_pool, max_body_bytes=max_body_bytes)
        self._stopping = threading.Event()
        self._stopped = threading.Event()

    @property
    def rest_url(self) -> str:
        """Where REST answers, such as `http://127.0.0.1:8501`."""
        return f"http://{_bracketed(self.host)}:{self.rest_port}"

    @property
    def grpc_target(self) -> str:
        """Where gRPC answers, such as `127.0.0.1:8500`."""
        return f"{_bracketed(self.host)}:{self.grpc_port}"

    def start(self) -> "Server":
        """Load the models, then listen; returns when both ports answer.

        Raises:
            ValueError: a model has no version that can be served; the message names path, reason and remedy.
            OSError: a port is taken or not allowed.
        """
        listener = _listen(self.host, self.rest_port)
        try:
            self.servables.poll()
            for name, reason in self.servables.unavailable().items():
                raise ValueError(f"model {name!r} has no version that can be served: {reason}")
            self._grpc = self._start_grpc()
        except BaseException:
            listener.close()
            self.servables.close()
            raise
        self.rest_port = listener.getsockname()[1]
        self._start_rest(listener)
        self._poller = threading.Thread(target=self._poll, name="zoo-serving-poll", daemon=True)
        self._poller.start()
        return self

    @property
    def has_stopped(self) -> bool:
        """Whether `stop` was called and has finished."""
        return self._stopped.is_set()

    def wait(self) -> None:
        """Block until `stop` was called and has finished."""
        self._stopped.wait()

    def stop(self, *, grace: float = 30.0) -> None:
        """Refuse new requests, finish the accepted ones within `grace` seconds, unload the models."""
        if self._stopping.is_set():
            self.wait()
            return
        self._stopping.set()
        self._rest.config.timeout_graceful_shutdown = max(1, int(grace))
        self._rest.should_exit = True
        self._grpc.stop(grace).wait()
        self._rest_thread.join()
        self._poller.join()
        self.servables.close(timeout=grace)
        self._rest_pool.shutdown()
        self._grpc_pool.shutdown()
        self._stopped.set()

    def __enter__(self) -> "Server":
        return self.start()

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.stop()

    def _start_grpc(self) -> grpc.Server:
        options = [
            ("grpc.max_receive_message_length", _UNLIMITED),
            ("grpc.max_send_message_length", _UNLIMITED),
            ("grpc.so_reuseport", 0),
        ]
        server = grpc.server(self._grpc_pool, options=options)
        add_services(server, self.servables)
        try:
            self.grpc_port = server.add_insecure_port(self.grpc_target)
        except RuntimeError as error:
            raise OSError(_port_taken(self.host, self.grpc_port, "gRPC", error)) from error
        server.start()
        return server

    def _start_rest(self, listener: socket.socket) -> None:
        config = uvicorn.Config(
            self._application,
            http="h11",
            loop="asyncio",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
        )
        self._rest = uvicorn.Server(config)
        self._rest_thread = threading.Thread(
            target=self._rest.run, args=([listener],), name="zoo-serving-rest", daemon=True
        )
        self._rest_thread.start()
        while not self._rest.started and self._rest_thread.is_alive():
            time.sleep(0.01)

    def _poll(self) -> None:
        while not self._stopping.wait(self._poll_seconds):
            try:
                self.servables.poll()
            except Exception:
                _log.exception("looking for new versions failed; what is loaded goes on serving")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _listen(host: str, port: int) -> socket.socket:
    """A socket that holds the port while the models load; it refuses connections until REST runs."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, it passes for asyncio as a socket to send small packets on without delay.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise OSError(error.errno, _port_taken(host, port, "REST", error)) from error
    return listener


def _port_taken(host: str, port: int, what: str, error: Exception) -> str:
    return f"cannot listen for {what} on {host}:{port} ({error}): choose another port, or 0 for a free one"
