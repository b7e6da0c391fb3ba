"""The command line: one short function for each verb. `zoo VERB --help` explains."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

__all__ = ["app", "main"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    help="Train, export, serve and ask sequence models.",
)
console = Console(markup=False)

RecipeName = Annotated[str, typer.Argument(help="Name of a recipe; `zoo list` shows them.")]
Runs = Annotated[Path, typer.Option("--runs", help="Folder of trained models.")]
SavedModels = Annotated[Path, typer.Option(help="Folder of exports, NAME/VERSION below it.")]
Engine = Annotated[
    str,
    typer.Option(help="auto, tensorflow_model_server, docker or embedded; auto takes the first there is."),
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Begin anew, rather than go on with an unfinished training.")
]
Repeatable = Annotated[
    bool, typer.Option("--repeatable", help="The same weights to the last bit each time, on one machine.")
]
Curve = Annotated[Path | None, typer.Option(help="Table for the figures of each epoch, such as curve.csv.")]
TensorBoard = Annotated[Path | None, typer.Option(help="Folder for TensorBoard's events.")]


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


class Level(StrEnum):
    """What texts of one's own are cut into."""

    SUBWORDS = "subwords"
    CHARACTERS = "characters"


def _of_own_data(help: str) -> Any:
    return typer.Option(help=help, rich_help_panel="With your own data")


@app.command("list")
def list_recipes() -> None:
    """List the recipes.

    Example: [bold]zoo list[/]
    """
    from zoo import recipes, tables

    console.print(tables.recipes_table([make() for make in recipes.RECIPES.values()]))


@app.command()
def train(
    recipe: Annotated[
        str | None, typer.Argument(help="Name of a recipe, see `zoo list`; with --data, a new name.")
    ] = None,
    runs_folder: Runs = Path("runs"),
    data: Annotated[
        list[Path] | None,
        _of_own_data("UTF-8; a source, a tab and its target in each line. Or two files: sources, targets."),
    ] = None,
    level: Annotated[
        Level, _of_own_data("What texts are cut into: subwords for sentences, characters for short strings.")
    ] = Level.SUBWORDS,
    epochs: Annotated[
        int | None, _of_own_data("Passes over it; if none, as many as make some 4,000 updates.")
    ] = None,
    fresh: Fresh = False,
    repeatable: Repeatable = False,
    curve: Curve = None,
    tensorboard: TensorBoard = None,
) -> None:
    """Train a recipe, or on your own data, with Keras' fit; save what was learned below RUNS.

    The same command goes on with a training that was interrupted, from its last checkpoint.
    Of your own data, one source in twenty is kept for validation and another for a test.

    Example: [bold]zoo train dates[/], [bold]zoo train --data my.tsv --level characters[/],
    [bold]zoo train en_de --data my.en --data my.de[/]
    """
    from zoo import recipes, runs
    from zoo.training import logs
    from zoo.training.repeatable import make_repeatable

    if data:
        chosen = recipes.own(data, level=level, name=recipe, epochs=epochs)
    elif recipe is not None:
        chosen = recipes.find(recipe)
    else:
        raise typer.BadParameter("Name a recipe, see `zoo list`, or give your own file with --data.")
    if fresh:
        runs.forget(runs_folder / chosen.name)
    if repeatable:
        make_repeatable()
    callbacks = [make(to) for make, to in ((logs.CurveFile, curve), (logs.tensorboard, tensorboard)) if to]
    run = runs.train(chosen, chosen.task(), runs_folder / chosen.name, callbacks=callbacks)
    console.print(f"Trained in {run.record['seconds']:.0f} seconds, saved to {runs_folder / chosen.name}.")


@app.command()
def evaluate(recipe: RecipeName, runs_folder: Runs = Path("runs")) -> None:
    """Decode the test splits of a trained recipe, beside its baselines.

    Example: [bold]zoo evaluate dates[/]
    """
    from zoo import recipes, runs, tables

    chosen = recipes.find(recipe)
    task = chosen.task()
    for note in task.notes:
        console.print(f"- {note}")
    console.print(tables.evaluation_table(runs.evaluate(runs.load(chosen, runs_folder / recipe), task)))


@app.command()
def export(
    recipe: RecipeName, runs_folder: Runs = Path("runs"), to: SavedModels = Path("saved_models")
) -> None:
    """Evaluate a trained recipe, write it as one SavedModel, verify that in a fresh process, and publish it.

    Example: [bold]zoo export dates[/]
    """
    from zoo import recipes, runs

    chosen = recipes.find(recipe)
    task = chosen.task()
    run = runs.load(chosen, runs_folder / recipe)
    with console.status("Evaluating, exporting and verifying ..."):
        path = runs.export(run, task, to, figures=runs.evaluate(run, task).flat())
    console.print(f"Published {path}.")


@app.command()
def verify(path: Annotated[Path, typer.Argument(help="NAME/VERSION folder of an export.")]) -> None:
    """Check an export in a fresh process: files, signatures, ops, golden answers, companions, warm-up.

    Example: [bold]zoo verify saved_models/dates/1[/]
    """
    from zoo import tables
    from zoo.verify import verify_in_fresh_process

    if not (path / "saved_model.pb").is_file():
        inside = sorted(str(found.parent) for found in path.glob("**/saved_model.pb"))
        hint = (
            f"Did you mean {' or '.join(inside)}?" if inside else "Give the folder NAME/VERSION of an export."
        )
        raise FileNotFoundError(f"There is no saved_model.pb in {path}. {hint}")
    with console.status("Verifying in a fresh process ..."):
        report = verify_in_fresh_process(path)
    console.print(tables.report_table(report))
    if not report.ok:
        raise typer.Exit(1)


@app.command()
def serve(
    folder: Annotated[Path, typer.Argument(help="Folder of exports.")] = Path("saved_models"),
    engine: Engine = "auto",
    host: Annotated[
        str | None,
        typer.Option(help="Address to listen on; if none, this machine's own, where the engine can do that."),
    ] = None,
    grpc_port: Annotated[int, typer.Option(help="Port of gRPC; 0 picks a free one.")] = 8500,
    rest_port: Annotated[int, typer.Option(help="Port of REST; 0 picks a free one.")] = 8501,
) -> None:
    """Serve all models below a folder until Ctrl-C.

    Example: [bold]zoo serve saved_models --rest-port 8501[/]
    """
    from zoo.serving import engines
    from zoo.serving.folders import find_models

    with engines.serve(folder, engine=engine, host=host, grpc_port=grpc_port, rest_port=rest_port) as running:
        console.print(f"Engine: {running.engine}, since {running.reason}.")
        for name in find_models(folder):
            console.print(f"{name}: {running.rest_url}/v1/models/{name}:predict", soft_wrap=True)
        console.print(f"gRPC: {running.grpc_target}")
        console.print("Ctrl-C stops.")
        running.wait()


def _knob(help: str, search: Search) -> Any:
    return typer.Option(help=help, rich_help_panel=f"With --search {search}")


@app.command()
def ask(
    texts: Annotated[list[str], typer.Argument(help="Texts to ask, each in quotes.")],
    model: Annotated[str, typer.Option(help="Name of the served model.")] = "dates",
    version: Annotated[int | None, typer.Option(help="Its version; the latest, if none is given.")] = None,
    search: Annotated[Search, typer.Option(help="Which signature to ask.")] = Search.BEAM,
    over: Annotated[Protocol, typer.Option(help="Which protocol to use.")] = Protocol.REST,
    host: Annotated[str, typer.Option(help="Where the server runs.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(help="Its port; 8501 for REST, 8500 for gRPC.")] = None,
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
    from zoo.serving.client import Client, GrpcClient, RestClient

    beam: dict[str, Any] = {"width": width, "length_penalty": length_penalty, "prefix": prefix}
    bounds: dict[str, Any] = {"min_length": min_length, "max_length": max_length}
    draw: dict[str, Any] = {"seed": seed, "temperature": temperature, "top_k": top_k, "top_p": top_p}
    client: Client = {
        Protocol.REST: lambda: RestClient(f"http://{host}:{port or 8501}", model=model, version=version),
        Protocol.GRPC: lambda: GrpcClient(f"{host}:{port or 8500}", model=model, version=version),
    }[over]()
    calls = {
        Search.BEAM: lambda: client.beam(texts),
        Search.GENERATE: lambda: client.generate(texts, **beam, **bounds),
        Search.GREEDY: lambda: [[one] for one in client.greedy(texts)],
        Search.SAMPLE: lambda: [[one] for one in client.sample(texts, **draw)],
    }
    with client:
        found = calls[search]()
    over_what = f"{over.value} {search.value}"
    answered = [tables.Answered(text, over_what, best) for text, best in zip(texts, found, strict=True)]
    console.print(tables.answers_table(answered))


@app.command()
def plot(
    recipe: RecipeName,
    texts: Annotated[
        list[str] | None, typer.Argument(help="Texts to align; the task's examples if none.")
    ] = None,
    runs_folder: Runs = Path("runs"),
    to: Annotated[Path, typer.Option(help="Image file to write.")] = Path("alignment.png"),
) -> None:
    """Draw where a trained recipe looks in its source for each token that it writes.

    Example: [bold]zoo plot dates "15. Februar 2019" --to alignment.png[/]
    """
    from zoo import plots, recipes, runs

    chosen = recipes.find(recipe)
    run = runs.load(chosen, runs_folder / recipe)
    found = runs.align(run, texts or chosen.task().examples[:4])
    plots.alignments(found).savefig(to, dpi=150)
    console.print(f"Drew {to}.")


@app.command()
def demo(
    runs_folder: Runs = Path("runs"),
    to: SavedModels = Path("saved_models"),
    picture: Annotated[Path, typer.Option(help="Drawing of an alignment.")] = Path("alignment.png"),
    engine: Engine = "auto",
    seed: Annotated[int, typer.Option(help="Draws the questions.")] = 0,
) -> None:
    """Train, evaluate, export, verify, serve and ask the dates model; exit with 1 if anything shown is wrong.

    Example: [bold]zoo demo[/]
    """
    from zoo.demo import demo as run_demo

    run_demo(console, runs_folder=runs_folder, saved_models=to, picture=picture, engine=engine, seed=seed)


def main() -> None:
    """Run the command line; what a user can mend is told in a sentence, not in a traceback."""
    from zoo.serving.client import ServingError

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # less of what TensorFlow says between the lines
    try:
        app(prog_name="zoo")
    except (ImportError, OSError, RuntimeError, ServingError, ValueError) as error:
        if "ZOO_TRACEBACK" in os.environ:
            raise
        errors = Console(stderr=True, markup=False, highlight=False)
        errors.print("Error:", style="bold red", end=" ")
        errors.print(str(error) or type(error).__name__)
        errors.print("ZOO_TRACEBACK=1 before the command shows where this happened.", style="dim")
        raise SystemExit(1) from error
