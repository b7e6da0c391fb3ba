"""From ids back to text: what every tokenizer leaves out, and how the rest is put together."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from zoo.tokenizers.specials import END, UNKNOWN

__all__ = ["REPLACEMENT", "writable", "write"]

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
"""What UNKNOWN is written as."""


def writable(ids: tf.Tensor) -> tf.Tensor:
    """Which ids (N, T) are written, (N, T) bool: those before the first END; of the special ones UNKNOWN."""
    ended = tf.cumsum(tf.cast(ids == END, tf.int32), axis=1) > 0
    return tf.logical_and(ids >= UNKNOWN, tf.logical_not(ended))


def write(ids: Any, surfaces: Sequence[str | bytes], unknown: tf.Tensor | None = None) -> tf.Tensor:
    """Put together what ids stand for.

    Args:
        ids: (N, T).
        surfaces: what each id is written as, V of them; bytes need not be valid UTF-8 by themselves.
        unknown: (N, T) strings, what UNKNOWN is written as where they are not empty.

    Returns:
        (N,) valid UTF-8; bytes that are not become U+FFFD.
    """
    ids = tf.convert_to_tensor(ids, tf.int32)
    written = tf.gather(tf.constant(list(surfaces), tf.string), ids)
    if unknown is not None:
        written = tf.where((ids == UNKNOWN) & (unknown != ""), unknown, written)
    parts = tf.where(writable(ids), written, "")
    joined = tf.strings.reduce_join(parts, axis=1)
    return tf.strings.unicode_transcode(joined, "UTF-8", "UTF-8", errors="replace")
