"""One token a word, as white space and punctuation set it apart."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf

from zoo.tokenizers.cutting import GLUE, after_a_space, cut, name_of, piece_of, without_the_space
from zoo.tokenizers.lookup import Lookup
from zoo.tokenizers.normalize import Normalization, normalized
from zoo.tokenizers.specials import SPECIALS, UNKNOWN
from zoo.tokenizers.vocabulary import SavedVocabulary, as_text, require_room
from zoo.tokenizers.writing import REPLACEMENT, write

__all__ = ["Words", "count_pieces"]

BATCH = 1024
"""Texts that are cut at once when a vocabulary is learned."""


class Words(SavedVocabulary):
    """Texts as sequences of words, punctuation marks and symbols; see `zoo.tokenizers.cutting.cut`.

    The vocabulary says `word` for one after a space or at the beginning of a text, and `##word` for one that
    is glued to what is before it, as most punctuation is: `Oh, no!` is `Oh ##, no ##!`. A text of known words
    comes back as it was read, white space included. An unknown word is UNKNOWN, and comes back as a space and
    U+FFFD.

    A script without spaces is cut at its punctuation alone: set its words apart first, or take characters or
    subwords.

    Args:
        words: the vocabulary, in the order of ids.
        normalization: how texts are read first.

    Raises:
        ValueError: an entry is there twice, or would be cut.
    """

    FILE = "words.json"
    WHAT = "words"

    def __init__(self, words: Iterable[str], *, normalization: Normalization | None = None) -> None:
        self.words = tuple(words)
        self.normalization = normalization or Normalization()
        self._pieces = tuple(map(piece_of, self.words))
        _check(self.words, self._pieces)
        self._lookup = Lookup(self._pieces)

    @classmethod
    def learn(
        cls,
        texts: Iterable[str],
        *,
        vocab_size: int | None = None,
        normalization: Normalization | None = None,
    ) -> "Words":
        """The words of texts, the most frequent first.

        Args:
            texts: to count the words of.
            vocab_size: greatest number of ids, the four special ones counted; rarer words are left out.
                None takes them all.
            normalization: how texts are read first.

        Raises:
            ValueError: there is nothing to learn from, or vocab_size has no room for a word.
        """
        if vocab_size is not None:
            require_room(vocab_size, len(SPECIALS) + 1, "the special ids and one word")
        counts = count_pieces(texts, normalization or Normalization())
        names = sorted(map(name_of, counts), key=lambda name: (-counts[piece_of(name)], name))
        return cls(
            names if vocab_size is None else names[: vocab_size - len(SPECIALS)], normalization=normalization
        )

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four special ones counted."""
        return len(SPECIALS) + len(self.words)

    def encode(self, texts: Any) -> tf.RaggedTensor:
        """Texts (B,) to ids, ragged (B, None) int32; an empty text has none."""
        pieces = self._cut(texts)
        places = self._lookup.find(pieces.values)
        return pieces.with_values(tf.where(places < 0, UNKNOWN, places + len(SPECIALS)))

    def decode(self, ids: Any) -> tf.Tensor:
        """Ids (N, T) to texts (N,): up to the first END, special ids left out, UNKNOWN as U+FFFD."""
        return self._write(ids)

    def surfaces(self, texts: Any) -> tf.RaggedTensor:
        """Texts (B,) to what stands there for each id, known or not: ragged (B, None), without the space."""
        pieces = self._cut(texts)
        return pieces.with_values(without_the_space(pieces.values))

    def decode_copying(self, ids: Any, copies: tf.Tensor) -> tf.Tensor:
        """What `decode` gives, but for UNKNOWN, written as a space and a copy.

        Args:
            ids: (N, T).
            copies: (N, T) strings; where one is empty, U+FFFD is written.
        """
        return self._write(ids, tf.where(copies == "", "", tf.strings.join([" ", copies])))

    def _cut(self, texts: Any) -> tf.RaggedTensor:
        return cut(after_a_space(self.normalization.apply(texts)))

    def _write(self, ids: Any, unknown: tf.Tensor | None = None) -> tf.Tensor:
        return without_the_space(write(ids, ["", "", "", f" {REPLACEMENT}", *self._pieces], unknown))

    def tokens(self, ids: Any) -> tf.Tensor:
        """Ids of any shape to what each token is called, strings of the same shape."""
        return tf.gather(tf.constant([*SPECIALS, *self.words]), ids)

    def describe(self) -> str:
        """The vocabulary as JSON that people can review."""
        return as_text(self.normalization, self.vocab_size, words=self.words)

    @classmethod
    def _of(cls, content: Mapping[str, Any]) -> "Words":
        return cls(content["words"], normalization=Normalization.read(content))


def count_pieces(texts: Iterable[str], normalization: Normalization) -> Counter[str]:
    """How often each piece occurs in texts.

    Raises:
        ValueError: there is not one.
    """
    read = list(normalized(texts, normalization))
    counts: Counter[bytes] = Counter()
    for start in range(0, len(read), BATCH):
        counts.update(cut(after_a_space(tf.constant(read[start : start + BATCH]))).values.numpy().tolist())
    if not counts:
        raise ValueError("There is nothing to learn from: the texts hold not one word.")
    return Counter({piece.decode("utf-8"): count for piece, count in counts.items()})


def _check(words: tuple[str, ...], pieces: tuple[str, ...]) -> None:
    if len(set(words)) < len(words):
        raise ValueError(f"A word must be there once, got {Counter(words).most_common(1)[0][0]!r} twice.")
    for word, piece in zip(words, pieces, strict=True):
        if name_of(piece) != word:
            raise ValueError(
                f"A word must have the one name that it has here, {name_of(piece)!r}; got {word!r}."
            )
    lengths = cut(tf.constant(pieces, tf.string)).row_lengths().numpy()
    for word, length in zip(words, lengths, strict=True):
        if length != 1:
            raise ValueError(
                f"An entry must be one word or mark, {GLUE} before it where no space is; got {word!r}, which "
                f"is {length} of them."
            )
