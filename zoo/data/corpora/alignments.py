"""Words that people linked by hand, in sentences and their translations.

English is always the source. Hansards is that of Och and Ney (2000), of the shared task of Mihalcea and
Pedersen (2003): the one with possible links beside the sure ones. The others have sure links alone: Kyoto's
texts on Wikipedia (Neubig 2011), CzEnAli (Mareček 2011), and sentences of Europarl, of Graça et al. (2008)
and Biçici (2011).
"""

import csv
import io
import json
import os
import zipfile
from collections.abc import Iterable
from typing import NamedTuple

from zoo.data.download import FOLDER, File, read

__all__ = ["LANGUAGES", "LICENCE", "AlignedPairs", "load"]

LICENCE = (
    "CC BY-SA 3.0 (kftt) and 4.0 (czenali); for the others none is stated: they were published for research, "
    "and are to be cited"
)

CORPUS = "word_alignment_gold"

COMMIT = "f7dd858cdab7e02159ba8e01de02f6e4ea7172a1"
ADDRESS = (
    f"https://raw.githubusercontent.com/loganbrenningmeyer/multi-binaryalign/{COMMIT}/datasets/processed"
)

LANGUAGES = {
    "czenali": "cs",
    "es_golden": "es",
    "europarl_de": "de",
    "fr_golden": "fr",
    "hansards": "fr",
    "kftt": "ja",
    "pt_golden": "pt",
}
"""The sets by name, each with the BCP 47 tag of its targets."""

PARTS = ("train", "valid")
"""The stored files of a set; no model of ours is trained on links, so they are read as one."""

CHECKSUMS = {
    "czenali": (
        "en-cz",
        "c8b5fa16527506f6d856c7201bd2f2d47b5159ba4906daa82db53c44bc1f63fe",
        "40032c0d126d9f93495fecc5081cdbf5cca21c3e625a2d3efcc29f7ece403566",
    ),
    "es_golden": (
        "en-es",
        "41f169f4eee52964845b637d4adfc8417ea5633f48cd1a73abd6e34e8c089cdf",
        "42bd7f76e08c08fdaa09dc7968b4a6c9769c5a926c0698c8b21efaa0e6192bda",
    ),
    "fr_golden": (
        "en-fr",
        "46e9ba730b933fe4c9345a21f7777eee72413091f5dccd9724e71d3e75a511d4",
        "7a1d817307bf0234cdd549a998d0b1d44ec12be15af7774881f8ec8ced815090",
    ),
    "kftt": (
        "en-ja",
        "eb1931d45483d0907be8a67c98d912e52f6210573a3195853f0502e76581e8a4",
        "ef5dc0f32d985c1281338f5fd9b399b793fa93b2612e707a8cc4a6dfefd3ae27",
    ),
    "pt_golden": (
        "en-pt",
        "cec34b634b651cd342c74702c89e11ee379f1297ca3cef7afa3e4dc9301a5d2c",
        "14eeef5086edd75df986c8e04e6bd0c7ee1cf0d1f71a38b34d03866db9c66913",
    ),
}
"""Of sets that are stored as lines of JSON: their languages, and what the files of `PARTS` hold."""

EUROPARL_DE = File(
    "German-English_WordAlignment.zip",
    "https://raw.githubusercontent.com/bicici/SMTData/7e73489d40b806ec19b499887fc31cf0ca2dc23e/"
    "German-English_WordAlignment.zip",
    "8e5a80cf26e7f48e675960c097069c29db5ed50d59fef1cd264571a2ee596d7d",
)

HANSARDS = File(
    "hansards.en-fr.gold.tsv",
    "https://aclanthology.org/W03-0301",
    "9a8420bb49aae88b41a295f8691a453a7a57bf3f62e4056aa41c6caaf4ac309c",
)

Links = frozenset[tuple[int, int]]


class AlignedPairs(NamedTuple):
    """Sentences cut into words, and which of their words belong together; all of the same number."""

    sources: list[list[str]]
    targets: list[list[str]]
    sure: list[Links]
    """(source word, target word), counted from 0, on which those who linked agreed."""
    possible: list[Links]
    """Others that may be; none where a set does not tell them apart."""


def load(name: str) -> AlignedPairs:
    """One of the sets of `LANGUAGES`.

    Raises:
        ValueError: there is no such set, or a file does not hold what it should.
        OSError: a file could not be had; the message says what to do.
    """
    if name not in LANGUAGES:
        raise ValueError(f"name must be one of {', '.join(LANGUAGES)}, got {name!r}.")
    others = {"hansards": _hansards, "europarl_de": _europarl_de}
    pairs = others[name]() if name in others else _lines_of_json(name)
    return AlignedPairs(*map(list, zip(*map(_within, pairs), strict=True)))


def _within(pair: tuple) -> tuple:
    """Without links to words that a sentence does not have, of which two of the sets hold a few."""
    source, target, *links = pair
    inside = (frozenset((i, j) for i, j in of if i < len(source) and j < len(target)) for of in links)
    return (source, target, *inside)


def _lines_of_json(name: str) -> Iterable[tuple]:
    languages, *sums = CHECKSUMS[name]
    for part, sha256 in zip(PARTS, sums, strict=True):
        file = File(f"{languages}.{name}.{part}.jsonl", f"{ADDRESS}/{part}/{languages}/{name}.jsonl", sha256)
        for line in read(CORPUS, file).decode("utf-8").splitlines():
            entry = json.loads(line)
            links = frozenset((source, target) for source, target in entry["alignment"])
            yield entry["src_words"], entry["tgt_words"], links, frozenset()


def _hansards() -> Iterable[tuple]:
    if not os.environ.get(FOLDER):
        raise FileNotFoundError(
            "The Hansards with their possible links have no address for a program. Make a table "
            f"{HANSARDS.name} of id, English, French, sure and possible links (0-0 1-2, English first) from "
            f"those of the shared task, {HANSARDS.address}, put it into FOLDER/{CORPUS}/ and set "
            f"{FOLDER}=FOLDER."
        )
    text = read(CORPUS, HANSARDS).decode("utf-8")
    _, *rows = csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
    for _, english, french, sure, possible in rows:
        yield english.split(), french.split(), _links(sure), _links(possible)


def _links(text: str) -> Links:
    return frozenset(
        (int(source), int(target)) for source, target in (link.split("-") for link in text.split())
    )


def _europarl_de() -> Iterable[tuple]:
    with zipfile.ZipFile(io.BytesIO(read(CORPUS, EUROPARL_DE))) as archive:
        german, english, linked = (
            archive.read(f"German-English_WordAlignment/{name}").decode("utf-8-sig").splitlines()
            for name in ("test.de", "test.en", "de-en.ref.wa")
        )
    links: dict[int, set[tuple[int, int]]] = {}
    for line in linked:
        sentence, source, target, _ = line.split()
        links.setdefault(int(sentence), set()).add((int(target), int(source)))
    for number, (source, target) in enumerate(zip(english, german, strict=True), start=1):
        yield source.split(), target.split(), frozenset(links.get(number, ())), frozenset()
