"""A server in a process of its own: `python -m zoo.serving`, on ports that stay when it is started again."""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from zoo.serving.client import GrpcClient, RestClient, Retries

__all__ = ["ServerProcess", "resident_memory"]

ROOT = Path(__file__).parents[1]
START_SECONDS = 300.0
STOP_SECONDS = 60.0


class ServerProcess:
    """Starts with `start` or the `with` block, whose end stops it.

    Args:
        flags: of `python -m zoo.serving`, but for the ports.
        model: the one whose answers mean that the server is ready.
    """

    def __init__(self, flags: Sequence[str], *, model: str) -> None:
        self.model = model
        self.grpc_port, self.rest_port = _free_ports(2)
        ports = [f"--port={self.grpc_port}", f"--rest_api_port={self.rest_port}"]
        self._command = [sys.executable, "-m", "zoo.serving", *ports, *flags]
        self._log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process: subprocess.Popen[str] | None = None

    @property
    def grpc_target(self) -> str:
        """Where gRPC answers."""
        return f"127.0.0.1:{self.grpc_port}"

    @property
    def rest_url(self) -> str:
        """Where REST answers."""
        return f"http://127.0.0.1:{self.rest_port}"

    def grpc_client(self, *, model: str = "", retries: Retries = Retries(most=0), **options) -> GrpcClient:  # noqa: B008 - frozen
        """A client over gRPC, which asks once unless told otherwise."""
        return GrpcClient(self.grpc_target, model=model or self.model, retries=retries, **options)

    def rest_client(self, *, model: str = "", retries: Retries = Retries(most=0), **options) -> RestClient:  # noqa: B008 - frozen
        """A client over REST, which asks once unless told otherwise."""
        return RestClient(self.rest_url, model=model or self.model, retries=retries, **options)

    def start(self) -> "ServerProcess":
        """Start; returns when the model can be asked.

        Raises:
            RuntimeError: the server ended; the message holds the end of its log.
            ServingError: the model could not be asked in time.
        """
        self.launch()
        with self.rest_client() as client:
            client.wait_until_available(START_SECONDS)
        if self.status is not None:
            raise RuntimeError(f"{' '.join(self._command)} ended with {self.status}:\n{self.log[-2000:]}")
        return self

    def launch(self) -> None:
        """Start, and do not wait until anything can be asked."""
        environment = {"TF_CPP_MIN_LOG_LEVEL": "3", **os.environ, "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            self._command, env=environment, stdout=self._log, stderr=self._log, text=True
        )

    @property
    def status(self) -> int | None:
        """The exit status; None while it runs."""
        return self._process.poll() if self._process else None

    @property
    def log(self) -> str:
        """What it has said."""
        self._log.seek(0)
        return self._log.read()

    @property
    def memory(self) -> float:
        """Resident memory, in MiB."""
        assert self._process is not None, "the server was not started"
        return resident_memory(self._process.pid)

    def terminate(self) -> None:
        """Send SIGTERM, and return at once."""
        assert self._process is not None, "the server was not started"
        self._process.terminate()

    def kill(self) -> None:
        """Send SIGKILL, and wait until it is gone."""
        assert self._process is not None, "the server was not started"
        self._process.kill()
        self._process.wait()

    def wait(self) -> int:
        """Wait until it has ended; its exit status."""
        assert self._process is not None, "the server was not started"
        return self._process.wait(STOP_SECONDS)

    def stop(self) -> None:
        """End it, politely at first."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def __enter__(self) -> "ServerProcess":
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.stop()
        self._log.close()


def resident_memory(pid: int) -> float:
    """Resident memory of a process, in MiB."""
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(told.stdout) / 1024


def _free_ports(count: int) -> list[int]:
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()
