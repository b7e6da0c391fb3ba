"""Opening the studio: the models' server, unless one runs already, and the page beside it."""

import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp

from zoo.serving.engines import Running, serve
from zoo.serving.ports import HttpThread, listen
from zoo.studio.known import known_models
from zoo.studio.site import site

__all__ = ["Studio", "open_studio"]

_THIS_MACHINE = "127.0.0.1"
_LETS_PAGES_ASK = "--rest_api_enable_cors_support"
_OPEN_TO_ALL = "tensorflow_model_server"
_BASE_URL = re.compile(r"https?://[^\s/;,'\"?#]+(/[^\s;,'\"?#]*)?")


@dataclass(frozen=True)
class Studio:
    """A studio that is open.

    Attributes:
        url: of the page.
        server: that the page asks; its `rest_url` is where.
    """

    url: str
    server: Running

    def wait(self) -> None:
        """Block until the models' server ends, or SIGINT or SIGTERM tells this process to end."""
        self.server.wait()


@contextmanager
def open_studio(
    folder: Path | None, *, port: int = 8600, rest_url: str | None = None, engine: str = "embedded"
) -> Iterator[Studio]:
    """Serve the page on this machine's own address, and the models beside it; both end with the block.

    Args:
        folder: holds `NAME/VERSION/` folders. With `rest_url` it only tells names and examples, and may lack.
        port: of the page; 0 picks a free one.
        rest_url: of a server that runs already, such as `http://127.0.0.1:8501`; it must let pages ask.
            None starts one.
        engine: which one, `auto` or a key of `zoo.serving.engines.ENGINES`.

    Raises:
        ValueError: the URL is none, there is nothing to serve, or the engine is unknown.
        OSError: the port is taken.
        RuntimeError: the engine did not start.
    """
    with ExitStack() as stack:
        listener = stack.enter_context(_listen(port))
        server = stack.enter_context(_named(rest_url) if rest_url else _start(folder, engine))

        def describe() -> dict[str, Any]:
            models = [model._asdict() for model in known_models(folder)]
            return {
                "rest_url": server.rest_url,
                "engine": server.engine,
                "started_here": rest_url is None,
                "models": models,
            }

        origin = "/".join(server.rest_url.split("/")[:3])
        stack.enter_context(_answering(site(describe, rest_url=origin), listener))
        yield Studio(f"http://{_THIS_MACHINE}:{listener.getsockname()[1]}/", server)


def _start(folder: Path | None, engine: str) -> Running:
    if folder is None:
        raise ValueError("Give the folder of the models to serve, or the URL of a server that runs already.")
    # That engine listens on all addresses, and refuses to be told of one; who names it has agreed to that.
    host = None if engine == _OPEN_TO_ALL else _THIS_MACHINE
    return serve(folder, engine=engine, host=host, grpc_port=0, rest_port=0, flags=[_LETS_PAGES_ASK])


def _named(rest_url: str) -> Running:
    """A server that somebody else has started, and will stop."""
    if not _BASE_URL.fullmatch(rest_url):
        raise ValueError(f"Expected the URL of a server, such as http://127.0.0.1:8501, got {rest_url!r}.")
    return Running("named", "its URL was given", rest_url.rstrip("/"), "", lambda: False, lambda: None)


def _listen(port: int) -> socket.socket:
    """A socket that holds the port while the models load."""
    try:
        return listen(_THIS_MACHINE, port)
    except OSError as error:
        raise OSError(
            error.errno,
            f"port {port} cannot be had for the page ({error.strerror}); choose another with --port, or 0",
        ) from error


@contextmanager
def _answering(application: ASGIApp, listener: socket.socket) -> Iterator[None]:
    """The page on a socket, until the block ends."""
    http = HttpThread(application, name="zoo-studio")
    http.start(listener)
    try:
        yield
    finally:
        http.ask_to_stop(grace=1)
        http.join()
