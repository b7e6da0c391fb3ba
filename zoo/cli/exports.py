"""The verbs that write exports, look at them, and choose among their versions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from zoo.cli.options import RECIPE_NAME, OwnData, Runs, SavedModels, console, listed_apart, trained
from zoo.cli.own_predictors import About, export_own

__all__ = ["describe", "export", "label", "prune", "rollback", "verify", "versions"]


def _of_own_predictor(help: str) -> Any:
    return listed_apart("With a predictor of your own", help)


Home = Annotated[Path, typer.Argument(help="Folder of a model, NAME, that holds NAME/VERSION.")]


def export(
    recipe: Annotated[str | None, RECIPE_NAME] = None,
    runs_folder: Runs = Path("runs"),
    to: SavedModels = Path("saved_models"),
    data: OwnData = None,
    predictor: Annotated[
        str | None, _of_own_predictor("MODULE:FUNCTION that makes it, such as sentiment:predictor.")
    ] = None,
    name: Annotated[str | None, _of_own_predictor("The name that it is served under.")] = None,
    question: Annotated[
        list[str] | None, _of_own_predictor("A good example of what it is asked; several may be.")
    ] = None,
    question_file: Annotated[
        list[Path] | None, _of_own_predictor("The same, as a file with its bytes, such as a WAV file.")
    ] = None,
    description: Annotated[str | None, _of_own_predictor("What it does, in one sentence.")] = None,
    language: Annotated[
        list[str] | None, _of_own_predictor("Of its texts, such as en; several may be.")
    ] = None,
    licence: Annotated[str | None, _of_own_predictor("Of its data, in words.")] = None,
    trained_on: Annotated[str | None, _of_own_predictor("Its data, by name or in words.")] = None,
) -> None:
    """Evaluate a trained recipe, write it as one SavedModel, verify that in a fresh process, and publish it.

    Or the same, but for the evaluation, with a predictor of your own: a tagger, a classifier, a regressor, of
    texts, sounds or node sets. MODULE is a Python file here, whose FUNCTION returns it.

    Example: [bold]zoo export dates[/],
    [bold]zoo export --predictor sentiment:predictor --name sentiment --question "a good film"[/]
    """
    questions = question or (), question_file or ()
    about = About(name, *questions, description, language or (), licence, trained_on)
    if recipe is not None and predictor is None:
        _require_none(about.given, "a recipe brings its own")
        path = _export_run(recipe, runs_folder, to, data)
    elif predictor is not None and recipe is None:
        _require_none(["--data"] if data else [], "it is that of a run")
        path = export_own(predictor, about, to)
    else:
        raise typer.BadParameter(
            "Name a recipe, see `zoo list`, or give a predictor of your own with --predictor; not both."
        )
    console.print(f"Published {path}.")


def _require_none(given: Sequence[str], reason: str) -> None:
    if given:
        raise typer.BadParameter(f"Leave {', '.join(given)} out: {reason}.")


def _export_run(recipe: str, runs_folder: Path, to: Path, data: list[Path] | None) -> Path:
    from zoo import runs

    chosen, folder = trained(recipe, runs_folder, data)
    run, task = runs.load(chosen, folder), chosen.task()
    with console.status("Evaluating, exporting and verifying ..."):
        return runs.export(run, task, to, figures=runs.evaluate(run, task).flat())


def verify(path: Annotated[Path, typer.Argument(help="NAME/VERSION folder of an export.")]) -> None:
    """Check an export in a fresh process: files, signatures, ops, golden answers, companions, warm-up.

    Example: [bold]zoo verify saved_models/dates/1[/]
    """
    from zoo import tables
    from zoo.verify import verify_in_fresh_process

    if not (path / "saved_model.pb").is_file():
        # Two levels, NAME/VERSION, lest all of a disk is searched.
        inside = sorted(
            str(found.parent) for depth in ("*", "*/*") for found in path.glob(f"{depth}/saved_model.pb")
        )
        hint = (
            f"Did you mean {' or '.join(inside)}?" if inside else "Give the folder NAME/VERSION of an export."
        )
        raise FileNotFoundError(f"There is no saved_model.pb in {path}. {hint}")
    with console.status("Verifying in a fresh process ..."):
        report = verify_in_fresh_process(path)
    console.print(tables.report_table(report))
    if not report.ok:
        raise typer.Exit(1)


def describe(
    path: Annotated[Path, typer.Argument(help="Folder NAME/VERSION of an export, or NAME for the highest.")],
    rest_url: Annotated[str, typer.Option(help="Where REST answers.")] = "http://127.0.0.1:8501",
    grpc_target: Annotated[str, typer.Option(help="Where gRPC answers.")] = "127.0.0.1:8500",
) -> None:
    """Print the card of an export, in Markdown, with requests to copy: curl, Python over REST and over gRPC.

    Example: [bold]zoo describe saved_models/dates/1[/], [bold]zoo describe saved_models/dates > dates.md[/]
    """
    from zoo.describe import Where
    from zoo.describe import describe as card_of

    typer.echo(card_of(path, Where(rest_url, grpc_target)), nl=False)


def versions(home: Home) -> None:
    """List the versions of a model: labels, whether they are whole, what was withdrawn.

    Example: [bold]zoo versions saved_models/dates[/]
    """
    from zoo import tables
    from zoo.serving.versions import versions as versions_of

    console.print(tables.versions_table(versions_of(home)))


def rollback(
    home: Home,
    to: Annotated[
        int | None, typer.Option(help="Version to go to; if none, the whole one before the one served now.")
    ] = None,
) -> None:
    """Go back to an earlier version: those above it are withdrawn, and running servers follow.

    Nothing is deleted. The same command brings a withdrawn version back, with --to and its number.

    Example: [bold]zoo rollback saved_models/dates[/], [bold]zoo rollback saved_models/dates --to 3[/]
    """
    from zoo import tables
    from zoo.serving.versions import roll_back

    console.print(tables.versions_table(roll_back(home, to)))


def label(
    home: Home,
    name: Annotated[str, typer.Argument(help="Such as stable or canary.")],
    version: Annotated[
        int | None, typer.Argument(help="Number of the version; none takes the label away.")
    ] = None,
) -> None:
    """Name a version, so that requests can ask for the name.

    Servers that `zoo serve` starts afterwards know it. They serve the labelled versions and the highest, and
    look for no newer ones.

    Example: [bold]zoo label saved_models/dates stable 3[/]
    """
    from zoo.serving.versions import label as name_version

    named = name_version(home, name, version)
    shown = ", ".join(f"{name} is {number}" for name, number in sorted(named.items()))
    console.print(f"Labels of {home.name}: {shown or 'none'}.")


def prune(
    home: Home,
    keep: Annotated[int, typer.Option(help="How many of the highest whole versions stay.")] = 3,
) -> None:
    """Delete old, broken and withdrawn versions; those with a label stay too.

    Example: [bold]zoo prune saved_models/dates --keep 2[/]
    """
    from zoo.serving.versions import prune as delete_old

    gone = ", ".join(map(str, delete_old(home, keep)))
    console.print(f"Deleted {gone or 'nothing'} of {home.name}.")
