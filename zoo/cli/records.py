"""The verbs that put on record what came out."""

from pathlib import Path
from typing import Annotated

import typer

from zoo.cli.options import Records, Runs, console

__all__ = ["align", "record", "results"]


def record(
    recipe: Annotated[str, typer.Argument(help="Name of a recipe, see `zoo list`.")],
    runs_folder: Runs = Path("runs"),
    to: Records = Path("docs/results"),
) -> None:
    """Evaluate a trained recipe and write its record, in JSON: settings, machine, hours, curve, figures.

    A training that has not ended gets one too, marked so.

    Example: [bold]zoo record dates[/]
    """
    from zoo import recipes, results

    file = results.write_record(recipes.find(recipe), runs_folder / recipe, to)
    console.print(f"Wrote {file}. `zoo results` makes the page of it.")


def align(
    sets: Annotated[
        list[str], typer.Argument(help="Sets of hand alignments, such as hansards or europarl_de.")
    ],
    recipe: Annotated[
        list[str] | None, typer.Option(help="A trained recipe whose attention is judged too; several may be.")
    ] = None,
    runs_folder: Runs = Path("runs"),
    to: Records = Path("docs/results"),
) -> None:
    """Judge word alignments against those that people made: a diagonal, IBM Model 1, attention; on record.

    Example: [bold]zoo align europarl_de --recipe multi30k_bahdanau[/]
    """
    from zoo import recipes, results, runs

    models = {name: runs.load(recipes.find(name), runs_folder / name) for name in recipe or ()}
    file = results.write_alignments([results.judge_alignments(name, models) for name in sets], to)
    console.print(f"Wrote {file}. `zoo results` makes the page of it.")


def results(
    folder: Annotated[Path, typer.Argument(help="Folder of records.")] = Path("docs/results"),
) -> None:
    """Make the page of results, beside the folder of records, and its pictures.

    Example: [bold]zoo results[/]
    """
    from zoo import results

    console.print(f"Wrote {results.write_page(folder)}.")
