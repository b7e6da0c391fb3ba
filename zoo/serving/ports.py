"""The two ports of a server: one where gRPC answers, one where REST does; and what HTTP needs anywhere."""

import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor

import grpc
import uvicorn
from starlette.types import ASGIApp

from zoo.serving.addresses import bracketed
from zoo.serving.rpc_requests import ParsingInterceptor

__all__ = ["GrpcPort", "HttpThread", "RestPort", "listen"]

_UNLIMITED = -1


class GrpcPort:
    """gRPC on a port.

    Args:
        host, number: where to listen; 0 picks a free port, and `number` then tells which.
        threads: calls that are worked on at a time.
        max_message_bytes: a larger request is answered with RESOURCE_EXHAUSTED; answers have no limit.
        register: adds the services.
    """

    def __init__(
        self,
        host: str,
        number: int,
        *,
        threads: int,
        max_message_bytes: int,
        register: Callable[[grpc.Server], None],
    ) -> None:
        self.number = number
        self._host = host
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="zoo-serving-grpc")
        options = [
            ("grpc.max_receive_message_length", max_message_bytes),
            ("grpc.max_send_message_length", _UNLIMITED),
            ("grpc.so_reuseport", 0),
        ]
        self._server = grpc.server(self._pool, options=options, interceptors=[ParsingInterceptor()])
        register(self._server)

    def start(self) -> None:
        """Listen and answer.

        Raises:
            OSError: the port is taken or not allowed.
        """
        try:
            self.number = self._server.add_insecure_port(f"{bracketed(self._host)}:{self.number}")
        except RuntimeError as error:
            raise OSError(_port_taken(self._host, self.number, "gRPC", error)) from error
        self._server.start()

    def stop(self, grace: float) -> None:
        """Refuse new calls, and finish the accepted ones within `grace` seconds."""
        self._server.stop(grace).wait()
        self._pool.shutdown()


class RestPort:
    """REST on a port.

    Args:
        host, number: where to listen; 0 picks a free port, and `number` then tells which.
        threads: requests that are worked on at a time.
        application: makes the application, given the threads.
    """

    def __init__(
        self, host: str, number: int, *, threads: int, application: Callable[[Executor], ASGIApp]
    ) -> None:
        self.number = number
        self._host = host
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="zoo-serving-rest")
        self._http = HttpThread(application(self._pool), name="zoo-serving-rest")

    def hold(self) -> None:
        """Take the port, and refuse connections until `start`.

        Raises:
            OSError: the port is taken or not allowed.
        """
        try:
            self._listener = listen(self._host, self.number)
        except OSError as error:
            raise OSError(error.errno, _port_taken(self._host, self.number, "REST", error)) from error
        self.number = self._listener.getsockname()[1]

    def release(self) -> None:
        """Give the port back, which was held and never started."""
        self._listener.close()

    def start(self) -> None:
        """Answer on the port that is held."""
        self._http.start(self._listener)

    def ask_to_stop(self, grace: float) -> None:
        """Refuse new requests from now on, and give the accepted ones `grace` seconds."""
        self._http.ask_to_stop(grace)

    def join(self) -> None:
        """Wait until the accepted requests are answered."""
        self._http.join()
        self._pool.shutdown()


class HttpThread:
    """HTTP on a socket, in a thread of its own.

    Args:
        application: answers the requests.
        name: of the thread.
    """

    def __init__(self, application: ASGIApp, *, name: str) -> None:
        config = uvicorn.Config(
            application,
            http="h11",
            loop="asyncio",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
        )
        self._server = uvicorn.Server(config)
        self._name = name

    def start(self, listener: socket.socket) -> None:
        """Answer on a socket that `listen` gave."""
        self._thread = threading.Thread(
            target=self._server.run, args=([listener],), name=self._name, daemon=True
        )
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.01)

    def ask_to_stop(self, grace: float) -> None:
        """Refuse new requests from now on, and give the accepted ones `grace` seconds."""
        self._server.config.timeout_graceful_shutdown = max(1, int(grace))
        self._server.should_exit = True

    def join(self) -> None:
        """Wait until the accepted requests are answered."""
        self._thread.join()


def listen(host: str, port: int) -> socket.socket:
    """A socket that holds the port while the models load; it refuses connections until HTTP runs.

    Raises:
        OSError: the port is taken or not allowed.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, it passes for asyncio as a socket to send small packets on without delay.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    return listener


def _port_taken(host: str, port: int, what: str, error: Exception) -> str:
    return f"cannot listen for {what} on {host}:{port} ({error}): choose another port, or 0 for a free one"
