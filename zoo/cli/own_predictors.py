"""Exports of predictors of one's own, by the names of the functions that make them."""

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import typer

from zoo.cli.options import console

__all__ = ["About", "export_own", "made_by"]

REFERENCE = re.compile(r"(?P<module>\w+(?:\.\w+)*):(?P<function>\w+)")


class About(NamedTuple):
    """What a recipe brings with it, and the command line must say of a predictor of one's own."""

    name: str | None
    questions: Sequence[str]
    files: Sequence[Path]
    """Whose bytes are questions."""
    description: str | None
    languages: Sequence[str]
    licence: str | None
    trained_on: str | None

    @property
    def given(self) -> list[str]:
        """The options that were given."""
        options = (
            *("--name", "--question", "--question-file"),
            *("--description", "--language", "--licence", "--trained-on"),
        )
        return [option for option, value in zip(options, self, strict=True) if value]


def export_own(reference: str, about: About, folder: Path) -> Path:
    """Export what a function makes as the next version of `folder/NAME`, verified before it is published.

    Args:
        reference: see `made_by`.
        about: the predictor; a name and a question are needed.
        folder: where TensorFlow Serving looks for models, such as `saved_models`.

    Returns:
        The folder of the version.

    Raises:
        typer.BadParameter: there is no name, or no question.
    """
    if not about.name:
        raise typer.BadParameter("Give the name that the predictor is served under, with --name.")
    if not (about.questions or about.files):
        raise typer.BadParameter(
            "Give good examples of what the predictor is asked, with --question or --question-file: what it "
            "answers now, every server must answer."
        )
    import zoo.export  # here, since TensorFlow takes its time

    card = zoo.export.Card(
        name=about.name,
        description=about.description or f"What {reference} makes.",
        task=about.name,
        recipe=reference,
        languages=tuple(about.languages),
        licence=about.licence or "not stated",
        data=about.trained_on or "",
    )
    questions: list[str | bytes] = [*about.questions]
    questions += [file.read_bytes() for file in about.files]
    predictor = made_by(reference)
    with console.status("Exporting and verifying ..."):
        return zoo.export.write(predictor, folder, card=card, questions=questions)


def made_by(reference: str) -> Any:
    """The predictor that a function makes.

    Args:
        reference: `MODULE:FUNCTION`. The module is looked for in the current folder, then where Python looks;
            the function is called without arguments.

    Raises:
        ImportError: something that the module imports is missing.
        ValueError: there is no such module or function, it takes arguments, or what it returns is no
            predictor.
    """
    found = REFERENCE.fullmatch(reference)
    if found is None or found["module"].endswith(".py"):
        raise ValueError(
            "Expected MODULE:FUNCTION, such as sentiment:predictor for the function `predictor` of "
            f"sentiment.py in this folder, got {reference!r}."
        )
    predictor = _function(_module(found["module"]), found["function"])()
    if not _can_be_exported(predictor):
        raise ValueError(
            f"{reference} returned an object of {type(predictor).__name__}, expected a predictor: a model "
            "with what reads its texts or records, such as zoo.predictors.ClassifyingPredictor."
        )
    return predictor


def _module(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:  # it is there under `python -m zoo`, but not in the command `zoo`
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):  # the module is there, but not what it imports
            raise
        raise ValueError(
            f"There is no module {name}, neither as {name.replace('.', '/')}.py in {here} nor installed. "
            "Run the command in the folder of the file, or correct the name."
        ) from error


def _function(module: ModuleType, name: str) -> Callable[[], Any]:
    function = getattr(module, name, None)
    if not callable(function):
        own = [
            key for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__
        ]
        found = "nothing of that name" if function is None else f"an object of {type(function).__name__}"
        raise ValueError(
            f"Expected a function {name} in {module.__file__}, found {found}; "
            f"it defines {', '.join(own) or 'no function'}. Write one that returns the predictor."
        )
    try:
        inspect.signature(function).bind()
    except TypeError as error:
        raise ValueError(
            f"{module.__name__}:{name} is called without arguments: {error}. Give them default values."
        ) from error
    return function


def _can_be_exported(predictor: Any) -> bool:
    """Whether it has what `zoo.export.write` asks of a predictor."""
    import tensorflow as tf

    asked = (getattr(predictor, name, None) for name in ("signatures", "assets"))
    return isinstance(predictor, tf.Module) and all(map(callable, asked))
