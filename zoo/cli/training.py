"""The verbs from data to a trained model."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zoo.cli.options import OwnData, RecipeName, Runs, console, of_own_data, trained

if TYPE_CHECKING:  # so that `--help` does not wait for TensorFlow
    from zoo.runs import Run
    from zoo.tasks.task import Task

__all__ = ["evaluate", "list_recipes", "plot", "train"]

Fresh = Annotated[
    bool, typer.Option("--fresh", help="Begin anew, rather than go on with an unfinished training.")
]
Repeatable = Annotated[
    bool, typer.Option("--repeatable", help="The same weights to the last bit each time, on one machine.")
]
Curve = Annotated[Path | None, typer.Option(help="Table for the figures of each epoch, such as curve.csv.")]
TensorBoard = Annotated[
    Path | None, typer.Option(help="Folder for TensorBoard's events; needs the extra `tensorboard`.")
]


class Level(StrEnum):
    """What texts of one's own are cut into."""

    SUBWORDS = "subwords"
    CHARACTERS = "characters"


class Size(StrEnum):
    """How large the model for one's own data is."""

    TINY = "tiny"
    SMALL = "small"
    BASE = "base"


def list_recipes() -> None:
    """List the recipes.

    Example: [bold]zoo list[/]
    """
    from zoo import recipes, tables

    console.print(tables.recipes_table([make() for make in recipes.RECIPES.values()]))


def train(
    recipe: Annotated[
        str | None, typer.Argument(help="Name of a recipe, see `zoo list`; with --data, a new name.")
    ] = None,
    runs_folder: Runs = Path("runs"),
    data: Annotated[
        list[Path] | None,
        of_own_data("UTF-8; a source, a tab and its target in each line. Or two files: sources, targets."),
    ] = None,
    level: Annotated[
        Level, of_own_data("What texts are cut into: subwords for sentences, characters for short strings.")
    ] = Level.SUBWORDS,
    size: Annotated[
        Size, of_own_data("Size of the model: tiny takes minutes, base wants a GPU.")
    ] = Size.TINY,
    epochs: Annotated[
        int | None, of_own_data("Passes over it; if none, as many as make some 4,000 updates, 100 at most.")
    ] = None,
    fresh: Fresh = False,
    repeatable: Repeatable = False,
    curve: Curve = None,
    tensorboard: TensorBoard = None,
) -> None:
    """Train a recipe, or on your own data, with Keras' fit; save what was learned below RUNS.

    The same command goes on with a training that was interrupted, from its last checkpoint.
    What was trained to the end is trained anew, and replaced when that is done.
    Of your own data, one source in twenty is kept for validation and another for a test.
    What it learns from my.tsv is named my: next are [bold]zoo evaluate my[/], [bold]zoo export my[/].

    Example: [bold]zoo train dates[/], [bold]zoo train --data my.tsv --level characters[/],
    [bold]zoo train en_de --data my.en --data my.de[/]
    """
    from zoo import recipes, runs
    from zoo.training import logs
    from zoo.training.repeatable import make_repeatable

    if data:
        chosen = recipes.own(data, level=level, size=size, name=recipe, epochs=epochs)
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


def evaluate(
    recipe: RecipeName,
    runs_folder: Runs = Path("runs"),
    rest_url: Annotated[
        str | None, typer.Option(help="URL of a server of its export, whose beams must be the same.")
    ] = None,
    data: OwnData = None,
) -> None:
    """Decode the test splits of a trained recipe, beside its baselines.

    With --rest-url, a server is asked for the same beams; the verb fails if any differs.

    Example: [bold]zoo evaluate dates[/], [bold]zoo evaluate my[/] after [bold]zoo train --data my.tsv[/],
    [bold]zoo evaluate dates --rest-url http://127.0.0.1:8501[/] beside [bold]zoo serve[/]
    """
    from zoo import runs, tables

    chosen, folder = trained(recipe, runs_folder, data)
    run, task = runs.load(chosen, folder), chosen.task()
    for note in task.notes:
        console.print(f"- {note}")
    console.print(tables.evaluation_table(runs.evaluate(run, task)))
    if rest_url is not None:
        _compare(run, task, rest_url)


def _compare(run: "Run", task: "Task", rest_url: str) -> None:
    from zoo.served import compare
    from zoo.serving.client import RestClient

    different: list[str] = []
    with RestClient(rest_url, model=run.recipe.name) as client, console.status("Asking the server ..."):
        for found in compare(run, task, client):
            same = found.sources - len(found.different)
            console.print(f"{found.split}: the served beams of {same:,} of {found.sources:,} are the same.")
            different += found.different
    if different:
        raise RuntimeError(
            f"The server answers {different[0]!r} otherwise than the run does. It may serve another export: "
            f"zoo export {run.recipe.name}"
        )


def plot(
    recipe: RecipeName,
    texts: Annotated[
        list[str] | None, typer.Argument(help="Texts to align; the task's examples if none.")
    ] = None,
    runs_folder: Runs = Path("runs"),
    to: Annotated[Path, typer.Option(help="Image file to write.")] = Path("alignment.png"),
    data: OwnData = None,
) -> None:
    """Draw where a trained recipe looks in its source for each token that it writes.

    Example: [bold]zoo plot dates "15. Februar 2019" --to alignment.png[/]
    """
    from zoo import plots, runs

    chosen, folder = trained(recipe, runs_folder, data)
    run = runs.load(chosen, folder)
    found = runs.align(run, texts or chosen.task().examples[:4])
    plots.alignments(found).savefig(to, dpi=150)
    console.print(f"Drew {to}.")
