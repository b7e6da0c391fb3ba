"""Texts to ids and back, in graph operations alone.

The tokenizers are imported when they are first used: models need no more of this package than the special
ids, and train under any Keras backend.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from zoo.tokenizers.specials import END, PAD, START, UNKNOWN

if TYPE_CHECKING:
    from zoo.tokenizers.bytes import Bytes
    from zoo.tokenizers.characters import Characters
    from zoo.tokenizers.normalize import Normalization
    from zoo.tokenizers.protocol import Tokenizer
    from zoo.tokenizers.saved import load_tokenizer
    from zoo.tokenizers.subwords import Subwords
    from zoo.tokenizers.wordpieces import WordPieces
    from zoo.tokenizers.words import Words

__all__ = [
    "END",
    "PAD",
    "START",
    "UNKNOWN",
    "Bytes",
    "Characters",
    "Normalization",
    "Subwords",
    "Tokenizer",
    "WordPieces",
    "Words",
    "load_tokenizer",
]

_HOMES = {
    "Bytes": "bytes",
    "Characters": "characters",
    "Normalization": "normalize",
    "Subwords": "subwords",
    "Tokenizer": "protocol",
    "WordPieces": "wordpieces",
    "Words": "words",
    "load_tokenizer": "saved",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for (PEP 562)."""
    if name in _HOMES:
        return getattr(import_module(f"zoo.tokenizers.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'zoo.tokenizers' has no attribute {name!r}; it has {', '.join(__all__)}")
