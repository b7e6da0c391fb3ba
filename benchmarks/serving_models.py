"""The models that are served: the tiny Transformer of the bench, and an export that is there already."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.work import MODELS, WORK
from zoo.tokenizers.specials import SPECIALS

__all__ = ["LONGEST", "Served", "alphabet", "dates", "texts", "tiny"]

ROOT = Path(__file__).parents[1]
DATES = ROOT / "saved_models" / "dates"
LONGEST = WORK["tiny-greedy"].source
"""Characters of the longest text."""
FIRST_CHARACTER = 0x4E00
"""The characters of the vocabulary follow each other from here; all are their own normal form."""


class Served(NamedTuple):
    """A model on disk, and what it is asked."""

    name: str
    base_path: Path
    """Holds version folders."""
    signature: str
    texts: Sequence[str]
    """Requests; the first is the one whose latency is measured."""


def tiny(folder: Path) -> Served:
    """Export the tiny Transformer as `folder/tiny/1`.

    It is done in another process: one that has trained or exported has TensorFlow's threads set up otherwise
    than a server, and would run the signature more slowly.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "benchmarks.serving_export", str(folder)]
    subprocess.run(command, env=environment, check=True)
    return Served("tiny", folder / "tiny", "greedy", texts())


def dates() -> Served | None:
    """The export of `make demo`; None where there is none."""
    if not DATES.is_dir():
        return None
    asked = ["15. Februar 2019", "Friday, February 15, 2019", "2019年2月15日", "vendredi 15 février 2019"]
    return Served("dates", DATES, "greedy", asked)


def alphabet() -> list[str]:
    """The characters that the tiny Transformer knows."""
    return [chr(FIRST_CHARACTER + number) for number in range(MODELS["tiny"].vocab_size - len(SPECIALS))]


def texts(count: int = 32) -> list[str]:
    """So many texts for it, the first as long as the work of the bench has them, the others at most."""
    characters = alphabet()
    lengths = [LONGEST - number % LONGEST for number in range(count)]
    return [
        "".join(characters[(37 * number + 11 * place) % len(characters)] for place in range(length))
        for number, length in enumerate(lengths)
    ]
