"""The verbs that serve models and ask them."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zoo.cli.options import Engine, console, listed_apart
from zoo.serving.addresses import LAST_PORT, bracketed

if TYPE_CHECKING:
    from zoo.serving.client import Client

__all__ = ["ask", "serve", "studio"]


class Protocol(StrEnum):
    """How a server is asked."""

    REST = "rest"
    GRPC = "grpc"


class Search(StrEnum):
    """Which signature is asked."""

    GREEDY = "greedy"
    BEAM = "beam"
    GENERATE = "generate"
    SAMPLE = "sample"


def _port(help: str, *, least: int = 0) -> Any:
    return typer.Option(help=help, min=least, max=LAST_PORT)


def serve(
    folder: Annotated[Path, typer.Argument(help="Folder of exports.")] = Path("saved_models"),
    engine: Engine = "auto",
    host: Annotated[
        str | None,
        typer.Option(help="Address to listen on; if none, this machine's own, where the engine can do that."),
    ] = None,
    grpc_port: Annotated[int, _port("Port of gRPC; 0 picks a free one.")] = 8500,
    rest_port: Annotated[int, _port("Port of REST; 0 picks a free one.")] = 8501,
) -> None:
    """Serve all models below a folder until Ctrl-C.

    Example: [bold]zoo serve saved_models --rest-port 8501[/]
    """
    from zoo.serving import engines
    from zoo.serving.folders import find_models

    console.print(f"Loading the models below {folder} ...", soft_wrap=True)
    with engines.serve(folder, engine=engine, host=host, grpc_port=grpc_port, rest_port=rest_port) as running:
        console.print(f"Engine: {running.engine}, since {running.reason}.")
        for name in find_models(folder):
            console.print(f"{name}: {running.rest_url}/v1/models/{name}:predict", soft_wrap=True)
        console.print(f"gRPC: {running.grpc_target}")
        console.print("Ctrl-C stops.")
        running.wait()


def studio(
    folder: Annotated[Path, typer.Argument(help="Folder of exports.")] = Path("saved_models"),
    port: Annotated[int, _port("Port of the page; 0 picks a free one.")] = 8600,
    rest_url: Annotated[
        str | None, typer.Option(help="URL of a server that runs already; it must let web pages ask.")
    ] = None,
    engine: Engine = "embedded",
) -> None:
    """Open a page for the browser that asks the models below a folder and draws their answers, until Ctrl-C.

    It serves them itself, or asks a server that was started with --rest_api_enable_cors_support.

    Example: [bold]zoo studio saved_models[/], [bold]zoo studio --rest-url http://127.0.0.1:8501[/]
    """
    from zoo.studio import open_studio

    with open_studio(folder, port=port, rest_url=rest_url, engine=engine) as opened:
        console.print(f"Models: {opened.server.rest_url}, by {opened.server.engine}.", soft_wrap=True)
        console.print(f"Studio: {opened.url}", soft_wrap=True)
        console.print("Ctrl-C stops.")
        opened.wait()


def _knob(help: str, search: Search) -> Any:
    return listed_apart(f"With --search {search}", help)


def ask(
    texts: Annotated[list[str], typer.Argument(help="Texts to ask, each in quotes.")],
    model: Annotated[str, typer.Option(help="Name of the served model.")] = "dates",
    version: Annotated[int | None, typer.Option(help="Its version; the latest, if none is given.")] = None,
    label: Annotated[str | None, typer.Option(help="A label of the version, such as stable.")] = None,
    search: Annotated[Search, typer.Option(help="Which signature to ask.")] = Search.BEAM,
    over: Annotated[Protocol, typer.Option(help="Which protocol to use.")] = Protocol.REST,
    host: Annotated[str, typer.Option(help="Where the server runs.")] = "127.0.0.1",
    port: Annotated[int | None, _port("Its port; 8501 for REST, 8500 for gRPC.", least=1)] = None,
    width: Annotated[int, _knob("Width of the beam; 0: the exported one.", Search.GENERATE)] = 0,
    length_penalty: Annotated[
        float, _knob("More favours long answers; -1000: the exported one.", Search.GENERATE)
    ] = -1000.0,
    min_length: Annotated[int, _knob("No end before so many tokens.", Search.GENERATE)] = 0,
    max_length: Annotated[int, _knob("Most tokens; 0: the exported bound.", Search.GENERATE)] = 0,
    prefix: Annotated[str, _knob("How answers begin.", Search.GENERATE)] = "",
    seed: Annotated[int, _knob("The same seed draws the same answer.", Search.SAMPLE)] = 0,
    temperature: Annotated[float, _knob("Less makes likely tokens likelier.", Search.SAMPLE)] = 1.0,
    top_k: Annotated[int, _knob("Draw from so many likeliest tokens; 0: all.", Search.SAMPLE)] = 0,
    top_p: Annotated[float, _knob("Draw from those that reach a probability.", Search.SAMPLE)] = 1.0,
) -> None:
    """Ask a running server.

    Example: [bold]zoo ask "15. Februar 2019" "Feb 15, 2019" --search generate --width 2[/]
    """
    from zoo import tables
    from zoo.serving.client import readable

    beam: dict[str, Any] = {"width": width, "length_penalty": length_penalty, "prefix": prefix}
    bounds: dict[str, Any] = {"min_length": min_length, "max_length": max_length}
    draw: dict[str, Any] = {"seed": seed, "temperature": temperature, "top_k": top_k, "top_p": top_p}
    client = _client(over, host, port, {"model": model, "version": version, "label": label})
    calls = {
        Search.BEAM: lambda: client.beam(texts),
        Search.GENERATE: lambda: client.generate(texts, **beam, **bounds),
        Search.GREEDY: lambda: [[one] for one in client.greedy(texts)],
        Search.SAMPLE: lambda: [[one] for one in client.sample(texts, **draw)],
    }
    with client:
        found = zip(map(readable, texts), calls[search](), strict=True)
    over_what = f"{over.value} {search.value}"
    answered = [tables.Answered(text, over_what, best) for text, best in found]
    console.print(tables.answers_table(answered))


def _client(over: Protocol, host: str, port: int | None, asked: dict[str, Any]) -> "Client":
    from zoo.serving.client import GrpcClient, RestClient

    if not host or "/" in host:
        raise typer.BadParameter(
            f"Give a host alone, such as 127.0.0.1, and its port with --port; got {host!r}."
        )
    if over is Protocol.GRPC:
        return GrpcClient(f"{bracketed(host)}:{port or 8500}", **asked)
    return RestClient(f"http://{bracketed(host)}:{port or 8501}", **asked)
