"""The choice of what serves: TensorFlow Serving itself, its Docker image, or the embedded server.

with serve(Path("saved_models")) as running:
    print(running.engine, running.reason, running.rest_url)
    running.wait()

`tensorflow_model_server` has no flag for the address: it listens on all of them. A host that is given is kept
all the same: `auto` then passes over it, and asking for it by name is an error, unless the host means
all addresses. Where no host is given, `auto` takes it, since it is what production runs, and the reason says
that it is open to the network; the other engines then listen on this machine alone.
"""

import contextlib
import errno
import logging
import platform
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, TracebackType
from typing import NamedTuple

from zoo.serving.addresses import LAST_PORT, bracketed
from zoo.serving.configs import model_config, of_folder
from zoo.serving.flags import read as read_flags
from zoo.serving.folders import find_models
from zoo.serving.rest_client import RestClient
from zoo.serving.server import Server

__all__ = ["ENGINES", "IMAGE", "Choice", "Running", "choose", "serve"]

_log = logging.getLogger(__name__)

IMAGE = "tensorflow/serving:2.20.0"
"""The image that exports are made for."""

_IMAGE_MACHINES = ("x86_64", "amd64")
_BINARY = "tensorflow_model_server"
_CONFIG = "models.config"
LABELS_BEFORE_LOADING = "--allow_version_labels_for_unavailable_models=true"
"""Without it the first config can have no labels."""
_START_SECONDS = 600.0
"""Long, since Docker may have to fetch the image first."""
_STOP_SECONDS = 15.0
_DOCKER_SECONDS = 10.0
_THIS_MACHINE = "127.0.0.1"
_ALL_ADDRESSES = ("0.0.0.0", "::")
_OPEN = "it listens on all addresses of this machine"


class Choice(NamedTuple):
    """The engine to use, and why."""

    engine: str
    reason: str


@dataclass(frozen=True)
class Running:
    """A server that answers. Leaving its `with` block stops it.

    Attributes:
        engine: which engine it is, a key of `ENGINES`.
        reason: why that one.
        rest_url: where REST answers.
        grpc_target: where gRPC answers.
    """

    engine: str
    reason: str
    rest_url: str
    grpc_target: str
    _has_ended: Callable[[], bool]
    _stop: Callable[[], None]

    def wait(self) -> None:
        """Block until the server ends by itself, or SIGINT or SIGTERM tells this process to end."""
        told = threading.Event()
        with _on_signals(told.set):
            while not self._has_ended() and not told.wait(0.2):
                pass

    def stop(self) -> None:
        """Answer what was accepted, then end."""
        self._stop()

    def __enter__(self) -> "Running":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.stop()


def serve(
    models_folder: Path,
    *,
    engine: str = "auto",
    host: str | None = None,
    grpc_port: int = 8500,
    rest_port: int = 8501,
    names: Collection[str] | None = None,
    flags: Sequence[str] = (),
) -> Running:
    """Serve the models below a folder; returns when they can be asked.

    Args:
        models_folder: holds `NAME/VERSION/` folders.
        engine: `auto` or a key of `ENGINES`.
        host: the address to listen on, and on no other; `0.0.0.0` and `::` mean all. None: this machine
            alone, or all where the engine is `tensorflow_model_server`.
        grpc_port, rest_port: 0 picks a free one.
        names: the models to serve; None serves all.
        flags: more of TensorFlow Serving's command line, such as `--rest_api_enable_cors_support`.

    Raises:
        ValueError: the engine or a model is unknown, a model has no version that can be served, a port is
            none, or the engine that was asked for cannot keep to the host.
        OSError: a port is taken.
        RuntimeError: the engine did not start; the message holds the end of its log.
    """
    choice = _keep_to(host, choose(engine), engine)
    models = _pick(Path(models_folder).resolve(), names)
    _log.info("serving %s with %s: %s", ", ".join(models), choice.engine, choice.reason)
    address = host or _THIS_MACHINE
    ports = _free_port(address, grpc_port), _free_port(address, rest_port)
    place = _Place(address, *ports, (LABELS_BEFORE_LOADING, *flags))
    return ENGINES[choice.engine](choice, models, place)


def choose(engine: str = "auto") -> Choice:
    """The engine to use: the one asked for, or the first of those that this machine has.

    Raises:
        ValueError: there is no engine of that name.
    """
    if engine == _BINARY:
        return Choice(_BINARY, f"it was asked for; {_OPEN}")
    if engine in ENGINES:
        return Choice(engine, "it was asked for")
    if engine != "auto":
        raise ValueError(f"unknown engine {engine!r}: expected auto, {', '.join(ENGINES)}")
    if binary := shutil.which(_BINARY):
        return Choice(_BINARY, f"it is installed, as {binary}; {_OPEN}")
    return _next_best(f"{_BINARY} is not on PATH")


def _next_best(why: str) -> Choice:
    """The engine to use where `tensorflow_model_server` is not, and why it is not."""
    machine = platform.machine()
    if machine.lower() not in _IMAGE_MACHINES:
        return Choice("embedded", f"{why}, and {IMAGE} runs on x86_64 alone, not on {machine}")
    if not _docker("info"):
        return Choice("embedded", f"{why}, and no Docker engine answers")
    return Choice("docker", f"{why}, and a Docker engine answers")


def _keep_to(host: str | None, choice: Choice, engine: str) -> Choice:
    """The choice, or the next best where it would listen on more than the host that was given."""
    if choice.engine != _BINARY or host in _ALL_ADDRESSES:
        return choice
    if host is None:
        _log.warning("%s: %s; give a host to have it kept", _BINARY, _OPEN)
        return choice
    if engine == _BINARY:
        raise ValueError(
            f"{_BINARY} cannot keep to {host}: {_OPEN}. Give host 0.0.0.0 to agree to that, or choose "
            "docker or embedded, which keep to a host"
        )
    return _next_best(f"{_BINARY} cannot keep to {host}")


class _Place(NamedTuple):
    """Where a server is to listen, and the flags that it gets besides."""

    host: str
    grpc_port: int
    rest_port: int
    flags: tuple[str, ...] = ()

    @property
    def rest_url(self) -> str:
        return f"http://{self._reachable}:{self.rest_port}"

    @property
    def grpc_target(self) -> str:
        return f"{self._reachable}:{self.grpc_port}"

    @property
    def _reachable(self) -> str:
        return bracketed({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host))


def _serve_embedded(choice: Choice, models: Mapping[str, Path], place: _Place) -> Running:
    ports = {"grpc_port": place.grpc_port, "rest_port": place.rest_port}
    configs = {name: of_folder(name, path) for name, path in models.items()}
    server = Server(configs, host=place.host, **ports, settings=read_flags(place.flags).flags).start()
    return Running(*choice, place.rest_url, place.grpc_target, lambda: server.has_stopped, server.stop)


def _serve_binary(choice: Choice, models: Mapping[str, Path], place: _Place) -> Running:
    scratch = _scratch(model_config(models))
    command = [
        _BINARY,
        f"--port={place.grpc_port}",
        f"--rest_api_port={place.rest_port}",
        f"--model_config_file={scratch / _CONFIG}",
        *place.flags,
    ]
    # Its gRPC listens on all addresses of IPv4, whatever the host.
    return _run(choice, command, models, place._replace(host=_THIS_MACHINE), scratch, _end)


def _serve_docker(choice: Choice, models: Mapping[str, Path], place: _Place) -> Running:
    scratch = _scratch(model_config(models, at=Path("/models")))
    volumes = [f"{path}:/models/{name}:ro" for name, path in models.items()]
    name, host = scratch.name, bracketed(place.host)
    command = [
        *("docker", "run", "--rm", "--init", "--name", name),
        *("-p", f"{host}:{place.grpc_port}:8500", "-p", f"{host}:{place.rest_port}:8501"),
        *(part for volume in (*volumes, f"{scratch}:/config:ro") for part in ("-v", volume)),
        *("--entrypoint", _BINARY, IMAGE),
        *("--port=8500", "--rest_api_port=8501", f"--model_config_file=/config/{_CONFIG}"),
        *place.flags,
    ]

    def end(process: subprocess.Popen) -> None:
        # Where Docker's client is killed, by us or before, its container runs on.
        _end(process)
        _docker("rm", "--force", name)

    return _run(choice, command, models, place, scratch, end)


ENGINES: Mapping[str, Callable[[Choice, Mapping[str, Path], _Place], Running]] = {
    _BINARY: _serve_binary,
    "docker": _serve_docker,
    "embedded": _serve_embedded,
}
"""The engines by name, the preferred one first."""


def _scratch(config: str) -> Path:
    """A fresh folder with a model config; a container's user must be able to read it."""
    folder = Path(tempfile.mkdtemp(prefix="zoo-serving-"))
    folder.chmod(0o755)
    (folder / _CONFIG).write_text(config, encoding="utf-8")
    return folder


def _run(
    choice: Choice,
    command: list[str],
    models: Mapping[str, Path],
    place: _Place,
    scratch: Path,
    end: Callable[[subprocess.Popen], None],
) -> Running:
    """Start a command and wait until every model is available; `end` ends what it started."""
    log = scratch / "server.log"
    _log.info("running %s; its log is %s", " ".join(command), log)
    with log.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)

    def stop() -> None:
        end(process)
        shutil.rmtree(scratch, ignore_errors=True)

    try:
        _wait_until_available(process, models, place, log)
    except BaseException:
        stop()
        raise
    return Running(*choice, place.rest_url, place.grpc_target, lambda: process.poll() is not None, stop)


def _wait_until_available(
    process: subprocess.Popen, models: Mapping[str, Path], place: _Place, log: Path
) -> None:
    deadline = time.monotonic() + _START_SECONDS
    clients = [RestClient(place.rest_url, model=name, timeout=5.0) for name in models]
    while not all(client.is_available() for client in clients):
        if process.poll() is not None or time.monotonic() > deadline:
            ended = process.poll() is not None
            state = f"ended with {process.returncode}" if ended else "runs, but does not answer"
            tail = log.read_text(encoding="utf-8", errors="replace")[-2000:]
            raise RuntimeError(f"{process.args!r} {state}. The end of its log:\n{tail}")
        time.sleep(0.1)


def _end(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _pick(folder: Path, names: Collection[str] | None) -> dict[str, Path]:
    models = find_models(folder)
    if not models:
        raise ValueError(
            f"no models below {folder}: expected {folder}/NAME/1 with a SavedModel; export one there"
        )
    unknown = sorted(set(names or ()) - models.keys())
    if unknown:
        raise ValueError(f"no model {', '.join(unknown)} below {folder}, only {', '.join(models)}")
    return {name: path for name, path in models.items() if names is None or name in names}


def _docker(*arguments: str) -> bool:
    """Whether there is a Docker engine that does as it is told."""
    command = ["docker", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_DOCKER_SECONDS, check=False)
        return done.returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _free_port(host: str, port: int) -> int:
    """The port, or a free one for 0. On a taken one, another server would answer in place of ours."""
    if not 0 <= port <= LAST_PORT:
        raise ValueError(f"a port is a number from 1 to {LAST_PORT}, or 0 for a free one, got {port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:  # not an address of ours; the engine may know it
                return port
            raise OSError(
                error.errno, f"port {port} of {host} cannot be had ({error.strerror}); choose another, or 0"
            ) from error
        return probe.getsockname()[1]


@contextlib.contextmanager
def _on_signals(act: Callable[[], None]) -> Iterator[None]:
    """Have SIGINT and SIGTERM call `act`; only the main thread may say what signals do."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(_number: int, _frame: FrameType | None) -> None:
        act()

    former = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
