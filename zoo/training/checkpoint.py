"""A training on disk: one file, whole or not there."""

import json
import os
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Checkpoint", "Position", "read", "write"]

FACTS = "facts"

DAMAGES = (
    *(AttributeError, EOFError, KeyError, OSError, RuntimeError, TypeError, ValueError),
    *(struct.error, zipfile.BadZipFile, zlib.error),
)
"""What reading a file raises, once it is open, that is no checkpoint, or not whole."""


class Position(NamedTuple):
    """Where a training stands."""

    epoch: int
    """Epochs that are done."""
    step: int
    """Batches of the epoch after them that are done."""


class Checkpoint(NamedTuple):
    """All that a training needs to go on."""

    position: Position
    arrays: Mapping[str, np.ndarray]
    facts: Mapping[str, Any]
    """What JSON can say: floats are kept to their last bit."""


def write(checkpoint: Checkpoint, file: Path) -> None:
    """Replace what was in the file, which stays as it was until the new content is whole and on the disk.

    Raises:
        OSError: it could not be written, as on a full disk; nothing of it is left.
    """
    facts = json.dumps({"position": checkpoint.position, FACTS: checkpoint.facts})
    beside = file.with_name(f"{file.name}.new")
    try:
        with beside.open("wb") as stream:
            np.savez(stream, allow_pickle=False, **{FACTS: np.array(facts), **checkpoint.arrays})
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, file)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise OSError(
            f"The checkpoint {file} could not be written: {error}. One that was there before is whole: "
            "make room, or make the folder writable, and the same command goes on from there."
        ) from error
    _sync(file.parent)


def read(file: Path) -> Checkpoint | None:
    """What was written last; nothing, if nothing was.

    Raises:
        OSError: the file cannot be opened.
        ValueError: the file is not what `write` wrote; a disk or somebody has changed it since.
    """
    if not file.is_file():
        return None
    with file.open("rb") as stream:
        try:
            with np.load(stream, allow_pickle=False) as content:
                arrays = {name: content[name] for name in content.files if name != FACTS}
                facts = json.loads(str(content[FACTS]))
            return Checkpoint(Position(*facts["position"]), arrays, facts[FACTS])
        except DAMAGES as error:
            raise ValueError(
                f"{file} is damaged and cannot be gone on with ({type(error).__name__}: {error}). It was "
                "whole when it was written. Put back a copy of it, or start afresh: zoo train ... --fresh"
            ) from error


def _sync(folder: Path) -> None:
    """Make a renaming outlast a power failure, where the system can be asked for that."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
