"""A model for pairs of one's own: one recipe that does well enough on most, to begin with."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from zoo.data.files import read_pairs
from zoo.data.pairs import Pairs
from zoo.decoders import Beam
from zoo.models import RecurrentSeq2Seq
from zoo.recipes.recipe import OwnFiles, Recipe
from zoo.recipes.sizes import RECURRENT
from zoo.tasks.own import own as own_task
from zoo.tasks.task import Task
from zoo.training.settings import TrainingSettings

__all__ = ["own", "own_again"]

LENGTHS = {"characters": (160, 160), "subwords": (96, 96)}
"""Greatest number of source and of target tokens at each level; what is longer is cut."""

BATCH = 64
UPDATES = 4000
FEWEST_AND_MOST = (5, 100)
"""Epochs."""


def own(
    files: Sequence[Path],
    *,
    level: str = "subwords",
    size: str = "tiny",
    name: str | None = None,
    epochs: int | None = None,
) -> Recipe:
    """RNNsearch on pairs from one tab-separated file, or from one of sources and one of targets.

    Args:
        files: see `zoo.data.files.read_pairs`. They are read here, so that what is wrong is told at once.
        level: `subwords` for sentences, `characters` for short strings.
        size: of the model, one of `zoo.recipes.sizes.RECURRENT`.
        name: of the recipe and of the model that is served; the name of the first file if none.
        epochs: passes over the data; if none, as many as make some `UPDATES`, within `FEWEST_AND_MOST`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line is not as it should be, a name holds other characters than letters, digits, `_` and
            `-`, or the level or the size is not known.
    """
    given = OwnFiles(files, level, size)
    _check(given)
    chosen = name or re.sub(r"[^A-Za-z0-9_-]", "_", files[0].stem)
    if not re.fullmatch(r"[A-Za-z0-9_-]+", chosen):
        raise ValueError(f"A name has letters, digits, _ and - alone, got {chosen!r}.")
    pairs = read_pairs(*files)
    return _recipe(chosen, given, lambda: pairs, epochs=epochs or _epochs(len(pairs.sources)))


def own_again(name: str, files: OwnFiles, *, epochs: int) -> Recipe:
    """The recipe of a model that was trained on pairs of one's own.

    Args:
        name: of the recipe.
        files: read when the task is made, and no earlier.
        epochs: it was trained for.

    Raises:
        ValueError: there are not one or two files, or the level or the size is not known.

    Its task raises FileNotFoundError where a file is gone.
    """
    _check(files)
    return _recipe(name, files, lambda: _read_again(name, files.files), epochs=epochs)


def _read_again(name: str, files: Sequence[Path]) -> Pairs:
    for file in files:
        if not file.is_file():
            raise FileNotFoundError(
                f"{name} was trained on {file}, which is not there. Say where it is now with --data."
            )
    return read_pairs(*files)


def _check(given: OwnFiles) -> None:
    files, level, size = given
    if not 1 <= len(files) <= 2:
        raise ValueError(
            f"Give one tab-separated file, or one of sources and one of targets, got {len(files)} files."
        )
    if level not in LENGTHS:
        raise ValueError(f"level must be one of {', '.join(LENGTHS)}, got {level!r}.")
    if size not in RECURRENT:
        raise ValueError(f"size must be one of {', '.join(RECURRENT)}, got {size!r}.")


def _recipe(name: str, files: OwnFiles, read: Callable[[], Pairs], *, epochs: int) -> Recipe:
    max_source_length, max_length = LENGTHS[files.level]
    named = ", ".join(file.name for file in files.files)
    return Recipe(
        name=name,
        description=f"The pairs of {named}: LSTMs with additive attention.",
        task=lambda: own_task(name, read(), level=files.level),
        model=partial(_model, size=files.size),
        training=TrainingSettings(epochs=epochs, batch_size=BATCH, learning_rate=2e-3, label_smoothing=0.1),
        beam=Beam(width=5, length_penalty=1.0, norm="power"),
        max_source_length=max_source_length,
        max_length=max_length,
        files=files,
    )


def _epochs(pairs: int) -> int:
    fewest, most = FEWEST_AND_MOST
    return min(most, max(fewest, round(UPDATES * BATCH / pairs)))


def _model(task: Task, *, size: str) -> RecurrentSeq2Seq:
    return RecurrentSeq2Seq(task.source.vocab_size, task.target.vocab_size, **RECURRENT[size], dropout=0.2)
