"""What several verbs take, and where they write."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

if TYPE_CHECKING:  # so that the verbs that ask a server do not wait for TensorFlow
    from zoo.recipes import Recipe

__all__ = [
    "RECIPE_NAME",
    "Engine",
    "OwnData",
    "RecipeName",
    "Records",
    "Runs",
    "SavedModels",
    "console",
    "listed_apart",
    "of_own_data",
    "trained",
]

console = Console(markup=False)

RECIPE_NAME = typer.Argument(help="Name of a recipe, see `zoo list`, or of a run on your own data.")
RecipeName = Annotated[str, RECIPE_NAME]
Runs = Annotated[Path, typer.Option("--runs", help="Folder of trained models.")]
Records = Annotated[Path, typer.Option(help="Folder of records.")]
SavedModels = Annotated[Path, typer.Option(help="Folder of exports, NAME/VERSION below it.")]
Engine = Annotated[
    str,
    typer.Option(help="auto, tensorflow_model_server, docker or embedded; auto takes the first there is."),
]


def of_own_data(help: str) -> Any:
    """An option that is listed apart, since recipes do without it."""
    return listed_apart("With your own data", help)


def listed_apart(panel: str, help: str) -> Any:
    """An option below a heading of its own."""
    return typer.Option(help=help, rich_help_panel=panel)


OwnData = Annotated[
    list[Path] | None, of_own_data("Its files, if they are not where they were when the run was trained.")
]


def trained(name: str, runs_folder: Path, data: list[Path] | None) -> "tuple[Recipe, Path]":
    """What was trained, and where it is."""
    from zoo import runs

    return runs.recipe_of(name, runs_folder / name, data or ()), runs_folder / name
