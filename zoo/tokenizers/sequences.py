"""From texts to the rows of a batch: the one way, for training and for serving."""

from typing import Any, NamedTuple

import tensorflow as tf

from zoo.tokenizers.protocol import Tokenizer
from zoo.tokenizers.specials import END, PAD, START

__all__ = ["Sources", "close", "read_prefixes", "read_sources", "read_targets", "teacher_forced"]

SURROUNDING_WHITE_SPACE = r"^[\s\v\x{85}\p{Z}]+|[\s\v\x{85}\p{Z}]+$"
"""Unicode's White_Space property: here `\\s` is only blank, tab, line feed, form feed and carriage return."""


class Sources(NamedTuple):
    """Texts that a model is asked."""

    ids: tf.Tensor
    """(B, S) int32: tokens and END, then PAD; S at least 1."""
    blank: tf.Tensor
    """(B,) bool: whether nothing was there but white space."""
    texts: tf.Tensor
    """(B,) strings: what the tokenizer was handed, valid UTF-8 without white space around it."""


def read_sources(tokenizer: Tokenizer, texts: Any, limit: int) -> Sources:
    """Encode what a model is asked; the white space around a text says nothing, and is dropped.

    Args:
        tokenizer: of the sources.
        texts: (B,) strings. Invalid UTF-8 is read as U+FFFD.
        limit: greatest number of ids in a row, END counted; at least 1.

    Raises:
        ValueError: the texts are not a batch, or the limit is less than 1.
    """
    # The pattern needs valid UTF-8.
    valid = tf.strings.unicode_transcode(_batch(texts), "UTF-8", "UTF-8", errors="replace")
    stripped = tf.strings.regex_replace(valid, SURROUNDING_WHITE_SPACE, "")
    ids = tokenizer.encode(stripped)
    return Sources(close(ids, limit), ids.row_lengths() == 0, stripped)


def read_targets(tokenizer: Tokenizer, texts: Any, limit: int) -> tf.Tensor:
    """Encode what a model is to answer, as it stands: texts (B,) to (B, T) int32, see `close`.

    Raises:
        ValueError: the texts are not a batch, or the limit is less than 1.
    """
    return close(tokenizer.encode(_batch(texts)), limit)


def read_prefixes(tokenizer: Tokenizer, texts: Any, limit: int) -> tf.Tensor:
    """Encode how answers are to begin: texts (B,) to (B, P) int32 without END, then PAD; P at most `limit`.

    Raises:
        ValueError: the texts are not a batch.
    """
    return tokenizer.encode(_batch(texts))[:, :limit].to_tensor(PAD)


def close(ids: tf.RaggedTensor, limit: int) -> tf.Tensor:
    """End every sequence with END, cut it at a limit, and pad it to the longest.

    A sequence of `limit` tokens or more is cut there and has no END: it goes on. This is how a search
    treats a hypothesis at its bound, so given and generated sequences have the same form.

    Args:
        ids: ragged (B, None) int32.
        limit: greatest number of ids in a row, END counted; at least 1.

    Returns:
        (B, T) int32 with 1 <= T <= `limit`, also for B = 0.

    Raises:
        ValueError: the limit is less than 1.
    """
    if limit < 1:
        raise ValueError(f"A row has room for 1 id or more, got a limit of {limit}.")
    ends = tf.fill([ids.nrows(), 1], END)
    closed = tf.concat([ids, ends], axis=1)[:, :limit].to_tensor(PAD)
    missing = tf.maximum(0, 1 - tf.shape(closed)[1])
    return tf.pad(closed, [[0, 0], [0, missing]], constant_values=PAD)


def teacher_forced(target_ids: tf.Tensor) -> tf.Tensor:
    """What a decoder reads to predict `target_ids` (B, T): START, then all but the last of them, (B, T)."""
    return tf.pad(target_ids[:, :-1], [[0, 0], [1, 0]], constant_values=START)


def _batch(texts: Any) -> tf.Tensor:
    texts = tf.convert_to_tensor(texts, tf.string)
    if texts.shape.rank != 1:
        raise ValueError(
            f'Texts come as a batch of shape (B,), got shape {texts.shape}. Pass ["a text"] for one of them.'
        )
    return texts
