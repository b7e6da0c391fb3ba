"""Every tokenizer of the zoo: the next one joins by a row."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import pytest

from zoo.tokenizers import Bytes, Characters, Normalization, Subwords, Tokenizer, WordPieces, Words

NONE, NFC, NFKC = map(Normalization, ("none", "NFC", "NFKC"))


class TokenizerCase(NamedTuple):
    learn: Callable[[Iterable[str]], Tokenizer]
    """From texts to a tokenizer that knows all of them."""
    canonical: Callable[[str], str]
    """What comes back of a text that it knows; Python's own Unicode tables say it, not the tokenizer's."""
    whole: bool = False
    """Whether no text is unknown."""
    never_known: str = ""
    """Characters that are unknown, wherever they were seen."""


def normal_form(form):
    return lambda text: unicodedata.normalize(form, text)


def same(text):
    return text


def spaces_for_blocks(text):
    return normal_form("NFC")(text).replace("\u2581", " ")


def largest(learn, **options):
    """As many pieces as the texts give, which the error says that asks for too many."""

    def learn_all(texts):
        with pytest.raises(ValueError, match="no more than") as refused:
            learn(texts, vocab_size=100_000, **options)
        most = int(re.search(r"no more than (\d+)", str(refused.value))[1])
        return learn(texts, vocab_size=most, **options)

    return learn_all


TOKENIZERS = {
    "characters": TokenizerCase(partial(Characters.learn, normalization=NONE), same),
    "characters, NFC": TokenizerCase(Characters.learn, normal_form("NFC")),
    "characters, NFKC": TokenizerCase(partial(Characters.learn, normalization=NFKC), normal_form("NFKC")),
    "words": TokenizerCase(partial(Words.learn, normalization=NONE), same),
    "words, NFC": TokenizerCase(Words.learn, normal_form("NFC")),
    "word pieces": TokenizerCase(largest(WordPieces.learn), normal_form("NFC"), never_known="\0"),
    "bytes": TokenizerCase(lambda _: Bytes(normalization=NONE), same, whole=True),
    "bytes, NFC": TokenizerCase(lambda _: Bytes(), normal_form("NFC"), whole=True),
    "subwords, BPE": TokenizerCase(largest(Subwords.learn), spaces_for_blocks, whole=True),
    "subwords, unigram": TokenizerCase(
        largest(Subwords.learn, kind="unigram"), spaces_for_blocks, whole=True
    ),
    "subwords without bytes": TokenizerCase(
        largest(Subwords.learn, byte_fallback=False), spaces_for_blocks, never_known="\0\r\n\u2585"
    ),
}
