"""Chinese phrases and how they are said: the dictionary of phrases of the package `pypinyin`."""

import json

from zoo.data.files import Parts, divide
from zoo.data.packages import PackagedFile, read
from zoo.data.pairs import Pairs

__all__ = ["LICENCE", "load"]

LICENCE = "MIT, mozillazg and others"

FILE = PackagedFile(
    "pypinyin",
    "0.55.0",
    "pypinyin/phrases_dict.json",
    "a45ff140a6b631ca9c82127b280a2f414e0aba6bb2824a0e9d1e77fff359c665",
    "pip install 'seq2seq-zoo[data]'",
)


def load() -> Parts:
    """47,111 phrases in simplified characters, each with its Pinyin: a syllable a character, with tone marks.

    What a character is said as depends on its phrase. Where the dictionary has several syllables for a
    character, the first counts. A checksum of the phrase decides its part: one in twenty is for validation,
    and another for the test.

    Raises:
        FileNotFoundError: the dictionary is not there; the message says what to install.
        ValueError: the file does not hold what it should.
    """
    phrases = json.loads(read("pypinyin", FILE))
    spoken = [" ".join(syllables[0] for syllables in phrase) for phrase in phrases.values()]
    return divide(Pairs(list(phrases), spoken))
