"""Pieces of words that SentencePiece chose, by merging (BPE) or by a unigram model."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf

from zoo.tokenizers.cutting import without_the_space
from zoo.tokenizers.normalize import Normalization, normalized
from zoo.tokenizers.sentencepiece import BYTES, KINDS, SPACE, learn_pieces, learnable, model_bytes
from zoo.tokenizers.specials import SPECIALS
from zoo.tokenizers.tensorflow_text import tensorflow_text
from zoo.tokenizers.vocabulary import SavedVocabulary, as_text, require_room
from zoo.tokenizers.writing import REPLACEMENT, write

__all__ = ["Subwords"]

GREATEST = float(tf.float32.max)

OPERATIONS = "tensorflow_text.python.ops.sentencepiece_tokenizer"


class Subwords(SavedVocabulary):
    """Texts as sequences of pieces: frequent words whole, rare ones in parts.

    `bpe` joins the most frequent neighbours again and again (Sennrich et al., 2016); `unigram` takes the most
    probable sequence of pieces (Kudo, 2018). A space can only be the first character of a piece, where it is
    written `▁` (U+2581). With the fallback to bytes no text is unknown: what no piece covers is cut into its
    bytes. Without it, a run of such characters is one UNKNOWN, and comes back as one U+FFFD.

    All else comes back as it was read, but for a `▁` in a text, which comes back as a space.

    The op that encodes holds the model, and its resource is named by the model's SHA-256: without a name of
    its own, a tokenizer that is loaded from an export takes the model of another one there.

    Args:
        pieces: each with its score, in the order of ids; see `zoo.tokenizers.sentencepiece`.
        kind: `bpe` or `unigram`.
        byte_fallback: whether what no piece covers is cut into bytes.
        normalization: how texts are read first.

    Raises:
        ValueError: the kind is not known, or a piece or its score cannot be one.
    """

    FILE = "subwords.json"
    WHAT = "subwords"

    def __init__(
        self,
        pieces: Mapping[str, float],
        *,
        kind: str = "bpe",
        byte_fallback: bool = True,
        normalization: Normalization | None = None,
    ) -> None:
        _check(kind)
        self._names = (*SPECIALS, *(BYTES if byte_fallback else ()), *pieces)
        _check_pieces(pieces)
        self.pieces = dict(pieces)
        self.kind = kind
        self.byte_fallback = byte_fallback
        self.normalization = normalization or Normalization()
        self._model = model_bytes(pieces, kind, byte_fallback=byte_fallback)
        self._digest = hashlib.sha256(self._model).hexdigest()

    @classmethod
    def learn(
        cls,
        texts: Iterable[str],
        *,
        vocab_size: int,
        kind: str = "bpe",
        byte_fallback: bool = True,
        normalization: Normalization | None = None,
    ) -> "Subwords":
        """Learn from texts; every character in them is a piece, but for NUL, U+2585 and the end of a line.

        Args:
            texts: sentences or lines; for a vocabulary that source and target share, those of both.
            vocab_size: number of ids, the special ones and those of bytes counted; it is met exactly.
            kind: `bpe` or `unigram`.
            byte_fallback: whether what no piece covers is cut into bytes, which takes 256 ids.
            normalization: how texts are read first.

        Raises:
            ImportError: sentencepiece or tensorflow-text is not installed.
            ValueError: the kind is not known, there is nothing to learn from, or vocab_size is too small or
                too large for these texts.
        """
        _check(kind)
        read = learnable(normalized(texts, normalization or Normalization()))
        characters = set().union(*read)
        if not "".join(characters).strip():
            raise ValueError("There is nothing to learn from: the texts hold no more than white space.")
        always = len(SPECIALS) + len(BYTES) * byte_fallback
        needed = len((characters | {SPACE}) - {" "})
        what = f"{always} ids that are always there and {needed} different characters"
        require_room(vocab_size, always + needed, what)
        size = vocab_size - always
        pieces = learn_pieces(read, kind, size)
        if len(pieces) < size:
            raise ValueError(
                f"vocab_size={vocab_size} is too large: these texts give no more than "
                f"{always + len(pieces)}. Give that or less, or more texts."
            )
        return cls(pieces, kind=kind, byte_fallback=byte_fallback, normalization=normalization)

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four special ones counted."""
        return len(self._names)

    def encode(self, texts: Any) -> tf.RaggedTensor:
        """Texts (B,) to ids, ragged (B, None) int32; an empty text has none."""
        texts = self.normalization.apply(texts)
        operations = tensorflow_text("Subwords", OPERATIONS).gen_sentencepiece_tokenizer
        model = operations.sentencepiece_op(model=self._model, shared_name=self._digest)
        ids, splits = operations.sentencepiece_tokenize_op(model, texts, 0, 1.0, False, False, False)
        return tf.RaggedTensor.from_row_splits(ids, splits, validate=False)

    def decode(self, ids: Any) -> tf.Tensor:
        """Ids (N, T) to texts (N,): up to the first END, special ids left out, UNKNOWN as U+FFFD."""
        return without_the_space(write(ids, self._surfaces()))

    def tokens(self, ids: Any) -> tf.Tensor:
        """Ids of any shape to what each token is called, strings of the same shape."""
        return tf.gather(tf.constant(self._names), ids)

    def describe(self) -> str:
        """The pieces and their scores as JSON that people can review."""
        return as_text(
            self.normalization,
            self.vocab_size,
            kind=self.kind,
            byte_fallback=self.byte_fallback,
            pieces=self.pieces,
        )

    @classmethod
    def _of(cls, content: Mapping[str, Any]) -> "Subwords":
        return cls(
            content["pieces"],
            kind=content["kind"],
            byte_fallback=content["byte_fallback"],
            normalization=Normalization.read(content),
        )

    def _surfaces(self) -> list[str | bytes]:
        single = [bytes([byte]) for byte in range(256 * self.byte_fallback)]
        return ["", "", "", REPLACEMENT, *single, *(piece.replace(SPACE, " ") for piece in self.pieces)]


def _check(kind: str) -> None:
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(sorted(KINDS))}, got {kind!r}.")


def _check_pieces(pieces: Mapping[str, float]) -> None:
    reserved = {*SPECIALS, *BYTES}
    for piece, score in pieces.items():
        if piece in reserved:
            raise ValueError(f"A piece must not be called as a special one or as a byte, got {piece!r}.")
        if " " in piece or not abs(score) <= GREATEST:
            raise ValueError(
                f"A piece is text with {SPACE} for a space, and a score that is finite in 32 bits; "
                f"got {piece!r} with {score!r}."
            )
