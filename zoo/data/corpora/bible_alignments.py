"""The New Testament in Greek and English, word for word aligned by people.

Clear Bible's "Bible Word Alignments" of the SBL Greek New Testament and the Berean Standard Bible, as the
package `bible-alignments` brings them along.
"""

import csv
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from zoo.data.files import parts_of
from zoo.data.packages import PackagedFile, read
from zoo.data.pairs import Pairs

__all__ = ["LICENCE", "AlignedVerses", "Verse", "load", "pairs"]

LICENCE = (
    "alignments CC BY 4.0, Clear Bible; SBLGNT CC BY 4.0, Society of Biblical Literature and Logos Bible "
    "Software; Berean Standard Bible in the public domain"
)

INSTALL = "pip install --no-deps --ignore-requires-python bible-alignments==0.4.2"
"""Its dependencies, a web framework and notebooks among them, are not needed to read its files."""


def _file(path: str, sha256: str) -> PackagedFile:
    return PackagedFile("bible-alignments", "0.4.2", f"data/{path}", sha256, INSTALL)


GREEK = _file("sources/SBLGNT.tsv", "c355b3f79a453e8e2a681506cdddc7349826fd4ea223736920625b8362d7b2f0")
ENGLISH = _file(
    "eng/targets/BSB/nt_BSB.tsv", "d388c73f52361968eb96761098e983699fdd0dd37272b1d701efebd61a5a36df"
)
ALIGNMENTS = _file(
    "eng/alignments/BSB/SBLGNT-BSB-manual.json",
    "144c84636e3972774565b66105259e01df2b2236877055920c7996c08fdbc38e",
)


class Verse(NamedTuple):
    """A verse in both languages, without punctuation, which is aligned with nothing."""

    number: str
    """Book, chapter and verse, `BBCCCVVV`: `40001002` is Matthew 1:2."""
    source: tuple[str, ...]
    """Greek words."""
    target: tuple[str, ...]
    """English words."""
    links: frozenset[tuple[int, int]]
    """Which belong together, (Greek word, English word), counted from 0; all are sure."""


class AlignedVerses(NamedTuple):
    """Verses; no Greek text is in two parts."""

    train: tuple[Verse, ...]
    validation: tuple[Verse, ...]
    test: tuple[Verse, ...]
    dropped: int
    """Verses of no part: only one language has them, or a link leads into another verse."""


class Word(NamedTuple):
    """Where a word stands."""

    verse: str
    place: int


def load() -> AlignedVerses:
    """All verses of which both languages have the whole.

    A checksum of the Greek text decides the part: one text in twenty is for validation, and another for the
    test.

    Raises:
        FileNotFoundError: the package is not there; the message says how to install it.
        ValueError: a file does not hold what it should.
    """
    greek, greek_words = _texts((row["id"], row["id"][1:9], row["text"]) for row in _rows(GREEK))
    english, english_words = _texts(
        (row["id"], row["source_verse"], row["text"]) for row in _rows(ENGLISH) if not row["exclude"]
    )
    links: dict[str, set[tuple[int, int]]] = defaultdict(set)
    incomplete = greek.keys() ^ english.keys()
    for record in json.loads(read("bible_alignments", ALIGNMENTS))["records"]:
        left = [greek_words[word] for word in record["source"]]
        right = [english_words[word] for word in record["target"]]
        verses = {word.verse for word in (*left, *right)}
        if len(verses) > 1:
            incomplete |= verses
        links[left[0].verse] |= {(one.place, other.place) for one in left for other in right}
    found = [
        Verse(number, tuple(words), tuple(english[number]), frozenset(links[number]))
        for number, words in greek.items()
        if number not in incomplete
    ]
    part_of = parts_of(" ".join(verse.source) for verse in found)
    train, validation, test = (
        tuple(verse for verse in found if part_of[" ".join(verse.source)] == part) for part in range(3)
    )
    return AlignedVerses(train, validation, test, len(incomplete))


def pairs(verses: tuple[Verse, ...]) -> Pairs:
    """Verses as parallel texts, Greek to English, with a space between words."""
    return Pairs([" ".join(verse.source) for verse in verses], [" ".join(verse.target) for verse in verses])


def _rows(file: PackagedFile) -> Iterator[Mapping[str, str]]:
    lines = read("bible_alignments", file).decode("utf-8").splitlines()
    return csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)


def _texts(rows: Iterator[tuple[str, str, str]]) -> tuple[dict[str, list[str]], dict[str, Word]]:
    """The words of each verse, and where each word stands, by its number."""
    verses: dict[str, list[str]] = defaultdict(list)
    words = {}
    for number, verse, text in rows:
        words[number] = Word(verse, len(verses[verse]))
        verses[verse].append(text)
    return dict(verses), words
