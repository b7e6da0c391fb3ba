"""One token a character: the simplest tokenizer, and the one without out-of-vocabulary words."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import tensorflow as tf

from zoo.tokenizers.normalize import NORMALIZATIONS, normalize
from zoo.tokenizers.specials import END, SPECIALS, UNKNOWN

__all__ = ["Characters"]

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class Characters:
    """Texts as sequences of Unicode code points.

    The vocabulary is a sorted list of characters. Looking one up is a binary search over code points, so
    there is no lookup table to track, to initialise or to lose in an export. A character that the vocabulary
    lacks, and a byte that is not valid UTF-8, are read as UNKNOWN, which is written as U+FFFD. An emoji
    joined from several code points is that many tokens. White space is a character like any other.

    Args:
        characters: the vocabulary, single code points; order and repetition do not matter.
        normalization: what is done to texts first, one of `zoo.tokenizers.normalize.NORMALIZATIONS`.

    Raises:
        ValueError: an entry is not one code point, or the normalization is not known.
    """

    FILE = "characters.json"

    def __init__(self, characters: Iterable[str], *, normalization: str = "NFC") -> None:
        vocabulary = sorted(set(characters) - {REPLACEMENT})
        for character in vocabulary:
            if len(character) != 1 or "\ud800" <= character <= "\udfff":
                raise ValueError(f"A character must be one Unicode code point, got {character!r}.")
        if normalization not in NORMALIZATIONS:
            raise ValueError(
                f"normalization must be one of {', '.join(NORMALIZATIONS)}, got {normalization!r}."
            )
        self.characters = tuple(vocabulary)
        self.normalization = normalization

    @classmethod
    def learn(cls, texts: Iterable[str], *, normalization: str = "NFC") -> "Characters":
        """The vocabulary of all characters that occur in texts, once these are normalised."""
        normalized = normalize(tf.constant(list(texts), tf.string), normalization).numpy()
        return cls(set(b"".join(normalized).decode("utf-8")), normalization=normalization)

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four special ones counted."""
        return len(SPECIALS) + len(self.characters)

    def encode(self, texts: Any) -> tf.RaggedTensor:
        """Texts (B,) to ids, ragged (B, None) int32; an empty text has none."""
        texts = normalize(tf.convert_to_tensor(texts, tf.string), self.normalization)
        code_points = tf.strings.unicode_decode(texts, "UTF-8", errors="replace")
        return code_points.with_values(self._look_up(code_points.values))

    def decode(self, ids: Any) -> tf.Tensor:
        """Ids (N, T) to texts (N,): up to the first END, special ids left out, UNKNOWN as U+FFFD."""
        ids = tf.convert_to_tensor(ids, tf.int32)
        ended = tf.cumsum(tf.cast(ids == END, tf.int32), axis=1) > 0
        written = tf.logical_and(ids >= UNKNOWN, tf.logical_not(ended))
        code_points = tf.ragged.boolean_mask(tf.gather(self._code_points(), ids), written)
        return tf.strings.unicode_encode(code_points, "UTF-8")

    def tokens(self, ids: Any) -> tf.Tensor:
        """Ids of any shape to what each token is called, strings of the same shape."""
        return tf.gather(tf.constant([*SPECIALS, *self.characters]), ids)

    def describe(self) -> str:
        """The vocabulary as JSON that people can review."""
        content = {"normalization": self.normalization, "characters": self.characters}
        return json.dumps(content, ensure_ascii=False, indent=1)

    def save(self, folder: Path) -> None:
        """Write the vocabulary as `characters.json` into a folder, which is made if need be."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / self.FILE).write_text(self.describe(), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> "Characters":
        """Read what `save` wrote.

        Raises:
            ValueError: the file is not what `save` writes.
        """
        path = folder / cls.FILE
        try:
            content = json.loads(path.read_text(encoding="utf-8-sig"))
            return cls(content["characters"], normalization=content["normalization"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is not a vocabulary of characters: {error!r}.") from error

    def _code_points(self) -> tf.Tensor:
        """The code point of each id; the special ones are never written, but for UNKNOWN."""
        return tf.constant([0, 0, 0, ord(REPLACEMENT), *map(ord, self.characters)], tf.int32)

    def _look_up(self, code_points: tf.Tensor) -> tf.Tensor:
        known = tf.constant([*map(ord, self.characters)] or [-1], tf.int32)  # -1 is no code point
        place = tf.minimum(tf.searchsorted(known, code_points), tf.size(known) - 1)
        found = tf.gather(known, place) == code_points
        return tf.where(found, place + len(SPECIALS), UNKNOWN)
