"""Texts to ids and back, in graph operations alone."""

from zoo.tokenizers.characters import Characters
from zoo.tokenizers.protocol import Tokenizer
from zoo.tokenizers.saved import load_tokenizer
from zoo.tokenizers.specials import END, PAD, START, UNKNOWN

__all__ = ["END", "PAD", "START", "UNKNOWN", "Characters", "Tokenizer", "load_tokenizer"]
