"""The verbs that write exports, look at them, and choose among their versions."""

from pathlib import Path
from typing import Annotated

import typer

from zoo.cli.options import OwnData, RecipeName, Runs, SavedModels, console, trained

__all__ = ["describe", "export", "label", "prune", "rollback", "verify", "versions"]

Home = Annotated[Path, typer.Argument(help="Folder of a model, NAME, that holds NAME/VERSION.")]


def export(
    recipe: RecipeName,
    runs_folder: Runs = Path("runs"),
    to: SavedModels = Path("saved_models"),
    data: OwnData = None,
) -> None:
    """Evaluate a trained recipe, write it as one SavedModel, verify that in a fresh process, and publish it.

    Example: [bold]zoo export dates[/]
    """
    from zoo import runs

    chosen, folder = trained(recipe, runs_folder, data)
    run, task = runs.load(chosen, folder), chosen.task()
    with console.status("Evaluating, exporting and verifying ..."):
        path = runs.export(run, task, to, figures=runs.evaluate(run, task).flat())
    console.print(f"Published {path}.")


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
