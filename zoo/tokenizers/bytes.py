"""One token a byte of UTF-8: 256 of them write every text there is."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from zoo.tokenizers.normalize import Normalization
from zoo.tokenizers.sentencepiece import BYTES
from zoo.tokenizers.specials import SPECIALS
from zoo.tokenizers.vocabulary import SavedVocabulary, as_text
from zoo.tokenizers.writing import REPLACEMENT, write

__all__ = ["Bytes"]

VISIBLE = range(0x21, 0x7F)
"""The bytes that are called by their character; the others are called as SentencePiece calls them."""


class Bytes(SavedVocabulary):
    """Texts as sequences of the bytes of their UTF-8, byte b as id b + 4. There is nothing to learn.

    No text is unknown, and every text comes back as it was read. Bytes that are not valid UTF-8 are read as
    U+FFFD, and written as U+FFFD where a model makes them.

    Args:
        normalization: how texts are read first.
    """

    FILE = "bytes.json"
    WHAT = "bytes"

    def __init__(self, *, normalization: Normalization | None = None) -> None:
        self.normalization = normalization or Normalization()

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four special ones counted."""
        return len(SPECIALS) + len(BYTES)

    def encode(self, texts: Any) -> tf.RaggedTensor:
        """Texts (B,) to ids, ragged (B, None) int32; an empty text has none."""
        texts = self.normalization.apply(texts)
        values = tf.io.decode_raw(tf.strings.reduce_join(texts), tf.uint8)
        lengths = tf.cast(tf.strings.length(texts), tf.int64)
        return tf.RaggedTensor.from_row_lengths(
            tf.cast(values, tf.int32) + len(SPECIALS), lengths, validate=False
        )

    def decode(self, ids: Any) -> tf.Tensor:
        """Ids (N, T) to texts (N,): up to the first END, special ids left out, UNKNOWN as U+FFFD."""
        return write(ids, ["", "", "", REPLACEMENT, *(bytes([byte]) for byte in range(256))])

    def tokens(self, ids: Any) -> tf.Tensor:
        """Ids of any shape to what each token is called, strings of the same shape."""
        names = (chr(byte) if byte in VISIBLE else name for byte, name in enumerate(BYTES))
        return tf.gather(tf.constant([*SPECIALS, *names]), ids)

    def describe(self) -> str:
        """How texts are read, as JSON; the vocabulary is always the same."""
        return as_text(self.normalization, self.vocab_size)

    @classmethod
    def _of(cls, content: Mapping[str, Any]) -> "Bytes":
        return cls(normalization=Normalization.read(content))
