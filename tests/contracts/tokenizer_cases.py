"""Every tokenizer of the zoo: the next one joins by a row."""

import unicodedata
from collections.abc import Callable, Iterable
from typing import NamedTuple

from zoo.tokenizers import Characters, Tokenizer


class TokenizerCase(NamedTuple):
    learn: Callable[[Iterable[str]], Tokenizer]
    """From texts to a tokenizer that knows all of them."""
    canonical: Callable[[str], str]
    """What comes back of a text that it knows; Python's own Unicode tables say it, not the tokenizer's."""


def normal_form(form):
    return lambda text: unicodedata.normalize(form, text)


TOKENIZERS = {
    "characters": TokenizerCase(
        lambda texts: Characters.learn(texts, normalization="none"), lambda text: text
    ),
    "characters, NFC": TokenizerCase(Characters.learn, normal_form("NFC")),
    "characters, NFKC": TokenizerCase(
        lambda texts: Characters.learn(texts, normalization="NFKC"), normal_form("NFKC")
    ),
}
