"""One token a character: the simplest tokenizer, and the one without out-of-vocabulary words."""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf

from zoo.tokenizers.normalize import Normalization, normalized
from zoo.tokenizers.specials import SPECIALS, UNKNOWN
from zoo.tokenizers.vocabulary import SavedVocabulary, as_text, require_room
from zoo.tokenizers.writing import REPLACEMENT, writable

__all__ = ["Characters"]


class Characters(SavedVocabulary):
    """Texts as sequences of Unicode code points.

    The vocabulary is a sorted list of characters. Looking one up is a binary search over code points, so
    there is no lookup table to track, to initialise or to lose in an export. A character that the vocabulary
    lacks, and a byte that is not valid UTF-8, are read as UNKNOWN, which is written as U+FFFD. An emoji
    joined from several code points is that many tokens. White space is a character like any other. A text of
    known characters comes back as it was read.

    Args:
        characters: the vocabulary, single code points; order and repetition do not matter.
        normalization: how texts are read first.

    Raises:
        ValueError: an entry is not one code point.
    """

    FILE = "characters.json"
    WHAT = "characters"

    def __init__(self, characters: Iterable[str], *, normalization: Normalization | None = None) -> None:
        vocabulary = sorted(set(characters) - {REPLACEMENT})
        for character in vocabulary:
            if len(character) != 1 or "\ud800" <= character <= "\udfff":
                raise ValueError(f"A character must be one Unicode code point, got {character!r}.")
        self.characters = tuple(vocabulary)
        self.normalization = normalization or Normalization()

    @classmethod
    def learn(
        cls,
        texts: Iterable[str],
        *,
        vocab_size: int | None = None,
        normalization: Normalization | None = None,
    ) -> "Characters":
        """The characters of texts.

        Args:
            texts: to count the characters of.
            vocab_size: greatest number of ids, the four special ones counted; rarer characters are left out.
                None takes them all.
            normalization: how texts are read first.

        Raises:
            ValueError: there is nothing to learn from, or vocab_size has no room for a character.
        """
        if vocab_size is not None:
            require_room(vocab_size, len(SPECIALS) + 1, "the special ids and one character")
        counts = Counter(itertools.chain.from_iterable(normalized(texts, normalization or Normalization())))
        if not counts:
            raise ValueError("There is nothing to learn from: the texts hold not one character.")
        frequent = sorted(counts, key=lambda character: (-counts[character], character))
        return cls(
            frequent if vocab_size is None else frequent[: vocab_size - len(SPECIALS)],
            normalization=normalization,
        )

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four special ones counted."""
        return len(SPECIALS) + len(self.characters)

    def encode(self, texts: Any) -> tf.RaggedTensor:
        """Texts (B,) to ids, ragged (B, None) int32; an empty text has none."""
        texts = self.normalization.apply(texts)
        code_points = tf.strings.unicode_decode(texts, "UTF-8", errors="replace")
        return code_points.with_values(self._look_up(code_points.values))

    def decode(self, ids: Any) -> tf.Tensor:
        """Ids (N, T) to texts (N,): up to the first END, special ids left out, UNKNOWN as U+FFFD."""
        ids = tf.convert_to_tensor(ids, tf.int32)
        code_points = tf.ragged.boolean_mask(tf.gather(self._code_points(), ids), writable(ids))
        return tf.strings.unicode_encode(code_points, "UTF-8")

    def tokens(self, ids: Any) -> tf.Tensor:
        """Ids of any shape to what each token is called, strings of the same shape."""
        return tf.gather(tf.constant([*SPECIALS, *self.characters]), ids)

    def describe(self) -> str:
        """The vocabulary as JSON that people can review."""
        return as_text(self.normalization, self.vocab_size, characters=self.characters)

    @classmethod
    def _of(cls, content: Mapping[str, Any]) -> "Characters":
        return cls(content["characters"], normalization=Normalization.read(content))

    def _code_points(self) -> tf.Tensor:
        """The code point of each id; the special ones are never written, but for UNKNOWN."""
        return tf.constant([0, 0, 0, ord(REPLACEMENT), *map(ord, self.characters)], tf.int32)

    def _look_up(self, code_points: tf.Tensor) -> tf.Tensor:
        known = tf.constant([*map(ord, self.characters)] or [-1], tf.int32)  # -1 is no code point
        place = tf.minimum(tf.searchsorted(known, code_points), tf.size(known) - 1)
        found = tf.gather(known, place) == code_points
        return tf.where(found, place + len(SPECIALS), UNKNOWN)
