"""Texts cut into words, marks and white space, such that nothing is lost."""

from typing import Any

import tensorflow as tf

from zoo.tokenizers.normalize import SYMBOL

__all__ = ["GLUE", "after_a_space", "cut", "name_of", "piece_of", "without_the_space"]

GLUE = "##"
"""Begins the name of a piece that follows what is before it without a space."""

WORD = r"[^\s\v\x{85}\p{Z}\p{P}\p{S}]+"
PIECE = f"( ?(?:{WORD}|{SYMBOL})|(?s:.))"


def after_a_space(texts: tf.Tensor) -> tf.Tensor:
    """Begin texts (B,) that are not empty with a space, so that a first word is cut as any other."""
    return tf.where(texts == "", texts, tf.strings.join([" ", texts]))


def without_the_space(texts: tf.Tensor) -> tf.Tensor:
    """Take that space away again."""
    return tf.strings.regex_replace(texts, "^ ", "", replace_global=False)


def cut(texts: Any) -> tf.RaggedTensor:
    """Cut texts into pieces; joined, they are the text again.

    A piece is a word, a punctuation mark or a symbol, each with the one space that stands before it, or else
    a single white space. A word is what holds no white space, punctuation or symbol.

    Args:
        texts: (B,) valid UTF-8.

    Returns:
        Ragged (B, None) strings; an empty text has no pieces.
    """
    # The byte 0xFF is in no valid UTF-8, so it can stand for the places where a text is cut.
    marked = tf.strings.regex_replace(texts, PIECE, b"\\1\xff")
    return tf.strings.split(marked, sep=b"\xff")[:, :-1]


def name_of(piece: str) -> str:
    """How a piece is called: `word` for one after a space, `##word` for one that is glued to the last."""
    return piece[1:] if len(piece) > 1 and piece.startswith(" ") else GLUE + piece


def piece_of(name: str) -> str:
    """The piece that is called so."""
    return name.removeprefix(GLUE) if len(name) > len(GLUE) and name.startswith(GLUE) else f" {name}"
