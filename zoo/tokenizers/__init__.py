"""Texts to ids and back, in graph operations alone.

The tokenizers are imported when they are first used: models need no more of this package than the special
ids, and train under any Keras backend.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from zoo.tokenizers.specials import END, PAD, START, UNKNOWN

if TYPE_CHECKING:
    from zoo.tokenizers.characters import Characters
    from zoo.tokenizers.protocol import Tokenizer
    from zoo.tokenizers.saved import load_tokenizer

__all__ = ["END", "PAD", "START", "UNKNOWN", "Characters", "Tokenizer", "load_tokenizer"]

_HOMES = {"Characters": "characters", "Tokenizer": "protocol", "load_tokenizer": "saved"}


def __getattr__(name: str) -> Any:
    """Import what is asked for (PEP 562)."""
    if name in _HOMES:
        return getattr(import_module(f"zoo.tokenizers.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'zoo.tokenizers' has no attribute {name!r}; it has {', '.join(__all__)}")
