"""The embedded server: TensorFlow Serving's Predict, status, metadata and config reload, in this process.

    with Server({"dates": Path("saved_models/dates")}) as server:
        print(server.rest_url, server.grpc_target)

It stands in where neither TensorFlow Serving nor Docker is at hand.
"""

import threading
from collections.abc import Mapping
from concurrent.futures import Executor
from pathlib import Path
from types import TracebackType

import grpc
from starlette.types import ASGIApp

from zoo.serving import messages
from zoo.serving.addresses import bracketed
from zoo.serving.batching import Batcher
from zoo.serving.batching_parameters import read_parameters
from zoo.serving.configs import ModelConfig
from zoo.serving.health import add_health
from zoo.serving.limits import LimitedServable
from zoo.serving.loader import Runner, Servable
from zoo.serving.monitoring import Monitoring, metrics_path
from zoo.serving.ports import GrpcPort, RestPort
from zoo.serving.rest import RestApi, application
from zoo.serving.rpc import add_services
from zoo.serving.servables import Servables
from zoo.serving.settings import Settings

__all__ = ["Server"]

_WAITERS = 64
"""The least threads of an interface with batching: most wait for their batch, and only many fill one."""


class Server:
    """Serves models over gRPC and REST until it is stopped.

    Args:
        models: model name to its config, or to its base path, the folder that holds the version folders.
        host: the address to listen on; `0.0.0.0` opens the server to the network.
        grpc_port, rest_port: 0 picks a free one, None does without.
        settings: everything else, as on the command line of `python -m zoo.serving`.

    Raises:
        RefusalError: settings that do not fit together, a file of theirs that does not parse, or a label for
            a version that is not loaded yet, unless that is allowed.
        OSError: a file that the settings name cannot be read.
    """

    def __init__(
        self,
        models: Mapping[str, Path | ModelConfig],
        *,
        host: str = "127.0.0.1",
        grpc_port: int | None = 8500,
        rest_port: int | None = 8501,
        settings: Settings = Settings(),  # noqa: B008 - frozen
    ) -> None:
        self.host = host
        self._settings = settings
        self._metrics_path = metrics_path(settings.monitoring_config_file)
        self._monitoring = Monitoring()
        self._batcher = _batcher(settings, self._monitoring)
        configs = {name: _config(model) for name, model in models.items()}
        self.servables = Servables(configs, settings=settings, wrap=self._wrap)
        self._grpc = None if grpc_port is None else self._make_grpc(grpc_port)
        self._rest = None if rest_port is None else self._make_rest(rest_port)
        self._stopping = threading.Event()
        self._stopped = threading.Event()

    @property
    def grpc_port(self) -> int | None:
        """The port of gRPC, once started that which it took."""
        return self._grpc.number if self._grpc else None

    @property
    def rest_port(self) -> int | None:
        """The port of REST, once started that which it took."""
        return self._rest.number if self._rest else None

    @property
    def rest_url(self) -> str:
        """Where REST answers, such as `http://127.0.0.1:8501`."""
        return f"http://{bracketed(self.host)}:{self.rest_port}"

    @property
    def grpc_target(self) -> str:
        """Where gRPC answers, such as `127.0.0.1:8500`."""
        return f"{bracketed(self.host)}:{self.grpc_port}"

    def start(self) -> "Server":
        """Load the models, then listen; returns when both ports answer.

        Raises:
            ValueError: a model has no version that can be served; the message names path, reason and remedy.
            OSError: a port is taken or not allowed.
        """
        if self._rest:
            self._rest.hold()
        if self._batcher:
            self._batcher.start()
        try:
            self.servables.poll()
            for name, reason in self.servables.unavailable().items():
                raise ValueError(f"model {name!r} has no version that can be served: {reason}")
            if self._grpc:
                self._grpc.start()
        except BaseException:
            if self._rest:
                self._rest.release()
            self._unload(timeout=0.0)
            raise
        if self._rest:
            self._rest.start()
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
        if self._rest:
            self._rest.ask_to_stop(grace)
        if self._grpc:
            self._grpc.stop(grace)
        if self._rest:
            self._rest.join()
        self._poller.join()
        self._unload(timeout=grace)
        self._stopped.set()

    def __enter__(self) -> "Server":
        return self.start()

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.stop()

    def _wrap(self, servable: Servable) -> Runner:
        """What answers: the servable behind its limits, in batches where these are on."""
        runner = self._batcher.wrap(servable) if self._batcher else servable
        settings = self._settings
        return LimitedServable(runner, rows=settings.max_request_rows, text_bytes=settings.max_text_bytes)

    def _make_grpc(self, port: int) -> GrpcPort:
        def register(server: grpc.Server) -> None:
            add_services(server, self.servables, self._monitoring)
            if self._settings.enable_grpc_healthcheck_service:
                add_health(server)

        return GrpcPort(
            self.host,
            port,
            threads=self._threads(self._settings.grpc_max_threads),
            max_message_bytes=self._settings.max_body_bytes,
            register=register,
        )

    def _make_rest(self, port: int) -> RestPort:
        settings = self._settings
        api = RestApi(
            self.servables,
            timeout=settings.rest_api_timeout_in_ms / 1000,
            monitoring=self._monitoring,
            metrics_path=self._metrics_path,
        )

        def make(pool: Executor) -> ASGIApp:
            limit, cors = settings.max_body_bytes, settings.rest_api_enable_cors_support
            return application(api, pool=pool, max_body_bytes=limit, cors=cors)

        return RestPort(
            self.host, port, threads=self._threads(settings.rest_api_num_threads), application=make
        )

    def _threads(self, asked: int) -> int:
        return max(asked, _WAITERS) if self._batcher else asked

    def _poll(self) -> None:
        seconds = self._settings.file_system_poll_wait_seconds
        while seconds > 0 and not self._stopping.wait(seconds):
            self.servables.poll()

    def _unload(self, timeout: float) -> None:
        self.servables.close(timeout=timeout)
        if self._batcher:
            self._batcher.close()


def _config(model: Path | ModelConfig) -> ModelConfig:
    return model if isinstance(model, ModelConfig) else ModelConfig(Path(model))


def _batcher(settings: Settings, monitoring: Monitoring) -> Batcher | None:
    if settings.batching_parameters_file and not settings.enable_batching:
        raise messages.BATCHING_IS_OFF()
    if not settings.enable_batching:
        return None
    return Batcher(read_parameters(settings.batching_parameters_file), on_batch=monitoring.count_batch)
