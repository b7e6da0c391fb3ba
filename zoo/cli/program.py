"""All verbs together; errors that a user can mend become sentences."""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import zoo
from zoo.cli import exports, records, serving, training
from zoo.cli.options import Engine, Runs, SavedModels, console

__all__ = ["app", "main"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)


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


def _tell_version(asked: bool) -> None:
    if asked:
        console.print(f"{zoo.DISTRIBUTION} {zoo.__version__}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Tell the version.")
    ] = False,
) -> None:
    """Train, export, serve and ask sequence models."""


app.command("list")(training.list_recipes)
for verb in (
    *(training.train, training.evaluate, training.plot),
    *(exports.export, exports.verify, exports.describe),
    *(exports.versions, exports.rollback, exports.label, exports.prune),
    *(serving.serve, serving.studio, serving.ask),
    *(records.record, records.align, records.results),
    demo,
):
    app.command()(verb)


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
        errors.print(str(error) or type(error).__name__, soft_wrap=True)  # commands in it are copied
        errors.print("ZOO_TRACEBACK=1 before the command shows where this happened.", style="dim")
        raise SystemExit(1) from error
