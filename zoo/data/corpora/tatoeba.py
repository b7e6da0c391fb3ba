"""Tatoeba: short sentences with translations by volunteers, as ManyThings.org edited them.

Where a sentence has several translations, it makes several pairs.
"""

import hashlib
import io
import zipfile
from collections.abc import Callable, Sequence
from typing import NamedTuple

from zoo.data.download import File, read
from zoo.data.pairs import Pairs

__all__ = ["LANGUAGES", "LICENCE", "SHARE", "Tatoeba", "load"]

LICENCE = "CC BY 2.0 FR, sentences of tatoeba.org in the edition of ManyThings.org"

SHARE = 20
"""One English sentence in so many is for the test, and as many for validation."""

COMMIT = "3956fa2a2dd976d99a94e8ad9ed8d3a6f65a5c78"


class Source(NamedTuple):
    """Where the sentences of a language are."""

    folder: str
    file: File
    unpack: Callable[[bytes], bytes]


def _member(content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return archive.read("spa-eng/spa.txt")


SOURCES = {
    "cmn": Source(
        "tatoeba_cmn_eng",
        File(
            "cmn.txt",
            f"https://raw.githubusercontent.com/ekinakyurek/lexical/{COMMIT}/TRANSLATE/cmn.txt",
            "6d9734ce952db2b694ac8a6abae52b445f8dbc6a599959b0971a2bc74eec1918",
        ),
        bytes,
    ),
    "spa": Source(
        "tatoeba_spa_eng",
        File(
            "spa-eng.zip",
            "https://storage.googleapis.com/download.tensorflow.org/data/spa-eng.zip",
            "f80e581ae291aa34dd3aba7bd98b5e9505234da4318e2f3295df70a1520c7f61",
        ),
        _member,
    ),
}

LANGUAGES = tuple(SOURCES)
"""ISO 639-3 codes; the other side is always English."""


class Tatoeba(NamedTuple):
    """English sentences and their translations; no sentence of either side is in two parts."""

    train: Pairs
    validation: Pairs
    test: Pairs
    dropped: int
    """Pairs of no part: they repeat another, or would show training a sentence of the other parts."""


def load(language: str) -> Tatoeba:
    """The corpus between English and one of `LANGUAGES`.

    There are no published parts. A checksum of the English sentence decides, so the parts stay the same
    whatever else the corpus holds; then training loses the pairs with a translation that the others have, and
    validation those of the test.

    Raises:
        ValueError: there is no such language, or a file does not hold what it should.
        OSError: a file could not be had; the message says what to do.
    """
    if language not in SOURCES:
        raise ValueError(f"language must be one of {', '.join(SOURCES)}, got {language!r}.")
    folder, file, unpack = SOURCES[language]
    lines = unpack(read(folder, file)).decode("utf-8").splitlines()
    found = [(fields[0], fields[1]) for fields in (line.split("\t") for line in lines)]
    different = list(dict.fromkeys(found))
    test = [pair for pair in different if _draw(pair[0]) == 0]
    validation = _without(test, [pair for pair in different if _draw(pair[0]) == 1])
    train = _without([*test, *validation], [pair for pair in different if _draw(pair[0]) > 1])
    dropped = len(found) - len(test) - len(validation) - len(train)
    return Tatoeba(_pairs(train), _pairs(validation), _pairs(test), dropped)


def _draw(text: str) -> int:
    """A number below `SHARE` that depends on nothing but the text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) % SHARE


def _without(others: Sequence[tuple[str, str]], pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    seen = {translation for _, translation in others}
    return [pair for pair in pairs if pair[1] not in seen]


def _pairs(pairs: Sequence[tuple[str, str]]) -> Pairs:
    return Pairs([english for english, _ in pairs], [translation for _, translation in pairs])
