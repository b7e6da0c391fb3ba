"""Words and how they are said, in ten languages: task 1 of the SIGMORPHON 2020 shared tasks.

Gorman, Ashby, Goyzueta, McCarthy, Wu and You (2020), "The SIGMORPHON 2020 Shared Task on Multilingual
Grapheme-to-Phoneme Conversion". The words are from Wiktionary, by way of WikiPron. Each has one
pronunciation: phonemes of the International Phonetic Alphabet with spaces between them.
"""

from typing import NamedTuple

from zoo.data.download import File, read
from zoo.data.pairs import Pairs

__all__ = ["LANGUAGES", "LICENCE", "Pronunciations", "load"]

LICENCE = "CC BY-SA 3.0, from Wiktionary by way of WikiPron"

LANGUAGES = {
    "arm": "hy",
    "bul": "bg",
    "dut": "nl",
    "fre": "fr",
    "geo": "ka",
    "gre": "el",
    "hin": "hi",
    "ice": "is",
    "kor": "ko",
    "rum": "ro",
}
"""The names of the shared task, each with its BCP 47 tag."""

COMMIT = "3d9bb3658b6a964ccd127e2a6781665262516bf6"
ADDRESS = f"https://raw.githubusercontent.com/sigmorphon/2020/{COMMIT}/task1/data"
PARTS = ("train", "dev", "test")

CHECKSUMS = {
    "arm": (
        "881b301408460b84443a768b697c7c1e5895994b6157daa3752a4078e088253b",
        "13ac315cb0025b243455ec44b5c68a9b6b888071f85028a4b64f749fd6996bcf",
        "9957ae5d42f94fa9ae5ffe1737e75efe878b57034f3c40e68b4098f0654e82c4",
    ),
    "bul": (
        "726c92b03b5f6e8d414d407141cb82a4782fdac7ef9c7bd3be3c91a5a650bb1f",
        "813ac9f3983ad80538ea9aca5d4cc3cfe6308a27cc63076564c043f2650ae62c",
        "4e05ff7a239bda2ca83e6d167ce1497855f77c94a153892bbe1c9698346a6810",
    ),
    "dut": (
        "ee825c27cf5cc82a097819bdd6ae50900e449e49504fa3c1d06b318301ef28aa",
        "bb86ff20577e0c9706ce3aa88d2ea5963032212bc92facef251ba435f3eb791f",
        "f84dde7d2af37aabbb492bf8862be1e69bbe2b95e16728452775fd902cf94197",
    ),
    "fre": (
        "fcc1c1c19a19381105662b412e8de1a143802da40fb401dd3cc452bc935128a6",
        "eb2b3fb761b02591a93981c448c6c7972da0499fd0fb1d7a0b60142463f6b355",
        "cd75ca22c697f93e23d10898a87a86e1bc08d0d4eb318946f28e085cd1aca9a8",
    ),
    "geo": (
        "5a9d9cadc41e6c514be51eb257f7005dea67f8a528db3f839cd9bc8f9799caf5",
        "2f0b707103648fb09c04084a8f60a1307cf14b4bfd5d5892664ba32920604e59",
        "f5d2c616ae5800bb958cc03965179c588176356668e7b018fff21a9135f9a588",
    ),
    "gre": (
        "acc3450422d1d44e5d596d6b5092919ebf5e0f8a26ddde4ccac7aa9dec1e0996",
        "bac8a18261aa39e125db95423cc33dfaa60683d72eb2b0bb933f2f66b913c7a9",
        "a10265ed5370a687f2bc840d5ac7338c53b36b044d71e2bcfa0b359094f9fd2f",
    ),
    "hin": (
        "74c5359152b21349bafafdc280b9f7ac1a8391056111f7442b3fed04c2a5251b",
        "51807c402408a8da95fde02b9f9af35a39715ff0e31020f5fa95937962fa66a1",
        "027a4a65f3674c2fff19e1c6d28081c78bedc9d7858284143fb188c487c4e9ef",
    ),
    "ice": (
        "d3729c6306c6b20b873b1b8e94bc1fa3b70dce7f8c2e0179ad3a434c8803f2ef",
        "5054f1051521f83acf137e918445052cc8702937131a7f7dac7b2b7dad6f78e4",
        "1da20f2fd807b797a6c5b6388e34253d8f874fa359435566632c3a058c80f56c",
    ),
    "kor": (
        "c0e509d5c604df2bb0d899fec7825985e2d48f6cbb7238b1cde5ab408716071f",
        "0bf3b0676254dde2f087283f39f4a2f0ef2377000d0317be9c4b6cc8ef9ea23e",
        "65792f869e6426358b143aac664d14af6967f088513d1c34eff3ecbc6555024e",
    ),
    "rum": (
        "aac7c0bebd664e9f313bd444e6c4be56fb002b45d3054a75f0c1900dcb8f64f7",
        "3169f34527ae54fe1bf4f0aaf3ac5dde71ba0eee31e40d4ff15e4e64a58675a9",
        "6327880174d182d997cd47cd810b8a7e428c2a6349195c5e12c0b628ac6abb20",
    ),
}
"""Of the files of each language, in the order of `PARTS`."""


class Pronunciations(NamedTuple):
    """Words and their phonemes: 3,600, 450 and 450 pairs, no word twice."""

    train: Pairs
    validation: Pairs
    test: Pairs


def load(language: str) -> Pronunciations:
    """The words of one of `LANGUAGES`.

    Raises:
        ValueError: there is no such language, or a file does not hold what it should.
        OSError: a file could not be had; the message says what to do.
    """
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, got {language!r}.")
    return Pronunciations(*(_words(language, part) for part in PARTS))


def _words(language: str, part: str) -> Pairs:
    name = f"{part}/{language}_{part}.tsv"
    sha256 = CHECKSUMS[language][PARTS.index(part)]
    content = read("sigmorphon2020_g2p", File(name, f"{ADDRESS}/{name}", sha256)).decode("utf-8")
    entries = [line.split("\t") for line in content.splitlines()]
    return Pairs([word for word, _ in entries], [phonemes for _, phonemes in entries])
