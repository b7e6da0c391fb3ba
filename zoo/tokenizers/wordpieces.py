"""Pieces of words, cut by the longest match from the left."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import tensorflow as tf

from zoo.tokenizers.cutting import GLUE, after_a_space, cut, name_of, piece_of, without_the_space
from zoo.tokenizers.normalize import Normalization
from zoo.tokenizers.sentencepiece import CUT_AND_COUNTED, SPACE, learn_pieces, learnable
from zoo.tokenizers.specials import SPECIALS, UNKNOWN
from zoo.tokenizers.tensorflow_text import tensorflow_text
from zoo.tokenizers.vocabulary import SavedVocabulary, as_text, require_room
from zoo.tokenizers.words import count_pieces
from zoo.tokenizers.writing import REPLACEMENT, write

__all__ = ["WordPieces"]

BUILDER = "tensorflow_text.core.pybinds.pywrap_fast_wordpiece_tokenizer_model_builder"

GLUED = "<glued>"
"""Put before a word that no space is before, so that it is cut into pieces with `##`. No word begins so."""


class WordPieces(SavedVocabulary):
    """Texts as sequences of pieces of words, as BERT has them (Wu et al., 2016; Song et al., 2021).

    A text is cut into words as `Words` does, and each word into the longest pieces that the vocabulary has,
    from the left: `piece` after a space or at the beginning of a text, `##piece` after another piece. A word
    that cannot be covered is one UNKNOWN, as is a NUL, and comes back as a space and U+FFFD. All else comes
    back as it was read.

    Args:
        pieces: the vocabulary, in the order of ids.
        normalization: how texts are read first.

    Raises:
        ValueError: a piece is there twice, is empty or a special one, or holds a NUL.
    """

    FILE = "wordpieces.json"
    WHAT = "word pieces"

    def __init__(self, pieces: Iterable[str], *, normalization: Normalization | None = None) -> None:
        self.pieces = tuple(pieces)
        self.normalization = normalization or Normalization()
        _check(self.pieces)

    @classmethod
    def learn(
        cls, texts: Iterable[str], *, vocab_size: int, normalization: Normalization | None = None
    ) -> "WordPieces":
        """Learn pieces by merging the most frequent neighbours within words, single characters first.

        Args:
            texts: sentences or lines.
            vocab_size: number of ids, the four special ones counted; it is met exactly.
            normalization: how texts are read first.

        Raises:
            ImportError: sentencepiece is not installed.
            ValueError: there is nothing to learn from, or vocab_size is too small or too large for it.
        """
        counts = count_pieces(texts, normalization or Normalization())
        characters = sorted(set("".join(counts)) - {" ", "\0"})
        single = [*characters, *(GLUE + character for character in (" ", *characters))]
        what = f"the special ids and {len(characters)} different characters, after a space and glued,"
        require_room(vocab_size, len(SPECIALS) + len(single), what)
        long = [piece for piece in counts if len(piece.strip()) > 1 and learnable([piece]) == [piece]]
        counted = [f"{piece}\t{counts[piece]}" for piece in long]
        merged = learn_pieces(counted, "bpe", vocab_size, CUT_AND_COUNTED) if counted else {}
        names = list(dict.fromkeys([*single, *(name_of(piece.replace(SPACE, " ")) for piece in merged)]))
        most = vocab_size - len(SPECIALS)
        if len(names) < most:
            raise ValueError(
                f"vocab_size={vocab_size} is too large: these texts give no more than "
                f"{len(names) + len(SPECIALS)}. Give that or less, or more texts."
            )
        return cls(names[:most], normalization=normalization)

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four special ones counted."""
        return len(SPECIALS) + len(self.pieces)

    def encode(self, texts: Any) -> tf.RaggedTensor:
        """Texts (B,) to ids, ragged (B, None) int32; an empty text has none."""
        words = cut(after_a_space(self.normalization.apply(texts)))
        spaced = tf.strings.regex_full_match(words.values, "(?s) .+")
        bare = tf.strings.substr(words.values, 1, tf.int32.max)
        asked = tf.where(spaced, bare, tf.strings.join([GLUED, words.values]))
        tokenizer = tensorflow_text("WordPieces").FastWordpieceTokenizer(
            model_buffer=tf.constant(self._model), token_out_type=tf.int32
        )
        ids = words.with_values(tokenizer.tokenize(asked)).merge_dims(1, 2)
        return tf.ragged.boolean_mask(ids, ids != self.vocab_size)  # which is GLUED

    def decode(self, ids: Any) -> tf.Tensor:
        """Ids (N, T) to texts (N,): up to the first END, special ids left out, UNKNOWN as U+FFFD."""
        return without_the_space(write(ids, ["", "", "", f" {REPLACEMENT}", *map(piece_of, self.pieces)]))

    def tokens(self, ids: Any) -> tf.Tensor:
        """Ids of any shape to what each token is called, strings of the same shape."""
        return tf.gather(tf.constant([*SPECIALS, *self.pieces]), ids)

    def describe(self) -> str:
        """The vocabulary as JSON that people can review."""
        return as_text(self.normalization, self.vocab_size, pieces=self.pieces)

    @classmethod
    def _of(cls, content: Mapping[str, Any]) -> "WordPieces":
        return cls(content["pieces"], normalization=Normalization.read(content))

    @cached_property
    def _model(self) -> np.ndarray:
        builder = tensorflow_text("WordPieces", BUILDER)
        model = builder.build_fast_wordpiece_model(
            ["<pad>", *SPECIALS[1:], *self.pieces, GLUED], tf.int32.max, GLUE, SPECIALS[UNKNOWN], True, False
        )
        return np.frombuffer(bytes(model), np.uint8)


def _check(pieces: tuple[str, ...]) -> None:
    if len(set(pieces)) < len(pieces):
        raise ValueError(f"A piece must be there once, got {Counter(pieces).most_common(1)[0][0]!r} twice.")
    for piece in pieces:
        unreadable = any(character == "\0" or "\ud800" <= character <= "\udfff" for character in piece)
        if piece in ("", GLUE, "<pad>", *SPECIALS, GLUED) or unreadable:
            raise ValueError(
                f"A piece is text without NUL, or half a surrogate pair, {GLUE} before it where it does not "
                f"begin a word, and not the name of a special one; got {piece!r}."
            )
