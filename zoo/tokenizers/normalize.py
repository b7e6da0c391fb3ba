"""What is done to texts before they are cut into tokens: policies by name, in the graph."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import tensorflow as tf

from zoo.tokenizers.tensorflow_text import tensorflow_text
from zoo.tokenizers.writing import REPLACEMENT

__all__ = ["CASES", "FORMS", "PUNCTUATION", "SYMBOL", "Normalization", "normalized"]

FORMS = ("none", "NFC", "NFKC")
"""`none` leaves code points alone; the others are Unicode's normalisation forms (Unicode Annex 15)."""

CASES = ("kept", "lower")
"""`lower` is Unicode's full lower-casing without a language: the end of a Greek word has its own sigma."""

PUNCTUATION = ("kept", "split")
"""`split` sets every mark and symbol apart by single spaces: `Oh, no!` becomes `Oh , no !`."""

LONG_RUN_OF_MARKS = r"(\p{M}{30})\p{M}+"
"""Combining marks beyond the 30 in a row that Unicode's Stream-Safe Text Format allows (Annex 15)."""

SYMBOL = (
    r"(?:[\x{1F1E6}-\x{1F1FF}]{2}"
    r"|\p{S}(?:[\p{M}\x{1F3FB}-\x{1F3FF}\x{E0020}-\x{E007F}]|\x{200D}\p{S})*"
    r"|\p{P}\p{M}*)"
)
"""One punctuation mark or symbol: a flag is one, and an emoji with all that is joined to it."""

MARK, MARKED = b"\xff", b"\xff\\1\xff"

BATCH = 1024
"""Texts that are normalised at once when a vocabulary is learned."""


@dataclass(frozen=True)
class Normalization:
    """How texts are read. What comes back from a tokenizer is the text as it was read.

    Attributes:
        form: one of `FORMS`. All but `none` cut more than 30 combining marks in a row to 30.
        case: one of `CASES`.
        punctuation: one of `PUNCTUATION`.

    Raises:
        ValueError: a policy is not known.
    """

    form: str = "NFC"
    case: str = "kept"
    punctuation: str = "kept"

    def __post_init__(self) -> None:
        for name, choices in (("form", FORMS), ("case", CASES), ("punctuation", PUNCTUATION)):
            if getattr(self, name) not in choices:
                raise ValueError(
                    f"{name} of a Normalization must be one of {', '.join(choices)}, "
                    f"got {getattr(self, name)!r}."
                )

    def apply(self, texts: Any) -> tf.Tensor:
        """Make texts valid UTF-8, then read them as the policies say.

        Args:
            texts: strings of any shape. Each maximal invalid sequence of bytes becomes one U+FFFD.

        Returns:
            Strings of the same shape.

        Raises:
            ImportError: a form other than `none` was asked for where tensorflow-text is not installed.
        """
        texts = tf.convert_to_tensor(texts, tf.string)
        texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="replace")
        texts = _form(texts, self.form)
        if self.case == "lower":
            texts = _form(_lower(texts), self.form)  # a lower-cased text may be in normal form no more
        return _split(texts) if self.punctuation == "split" else texts

    def described(self) -> dict[str, str]:
        """As it stands in the file of a vocabulary."""
        return {"normalization": self.form, "case": self.case, "punctuation": self.punctuation}

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> "Normalization":
        """From what `described` gave; a policy that is not mentioned keeps the texts as they are.

        Raises:
            KeyError: the form is missing.
            ValueError: a policy is not known.
        """
        return cls(content["normalization"], content.get("case", "kept"), content.get("punctuation", "kept"))


def normalized(texts: Iterable[str], normalization: Normalization) -> Iterator[str]:
    """The texts of a corpus, read one after another, for learning from them.

    A text is parted at each U+FFFD, which stands for what could not be read: no vocabulary learns it.

    Raises:
        TypeError: texts is a single text.
    """
    if isinstance(texts, str | bytes):
        raise TypeError(
            f"Expected an iterable of texts, got the one text {texts[:40]!r}. Pass a list of them."
        )
    rest = iter(texts)
    while batch := list(islice(rest, BATCH)):
        for text in normalization.apply(batch).numpy():
            yield from text.decode("utf-8").split(REPLACEMENT)


def _form(texts: tf.Tensor, form: str) -> tf.Tensor:
    if form == "none":
        return texts
    # Normalising a run of marks takes time with its square, so one text could keep a server busy for minutes.
    texts = tf.strings.regex_replace(texts, LONG_RUN_OF_MARKS, r"\1")
    return tensorflow_text(f"Normalization({form!r})").normalize_utf8(texts, form)


def _lower(texts: tf.Tensor) -> tf.Tensor:
    """The op ends a text at its first NUL, so it is given what stands between them."""
    parts = _parts(texts, r"(\x00)")
    lowered = tf.strings.lower(parts.values, encoding="utf-8")
    parts = parts.with_values(tf.where(parts.values == "\0", parts.values, lowered))
    return tf.reshape(tf.strings.reduce_join(parts, axis=-1), tf.shape(texts))


def _split(texts: tf.Tensor) -> tf.Tensor:
    parts = _parts(texts, f" ?({SYMBOL}) ?")
    parts = tf.ragged.boolean_mask(parts, parts != "")
    return tf.reshape(tf.strings.reduce_join(parts, axis=-1, separator=" "), tf.shape(texts))


def _parts(texts: tf.Tensor, pattern: str) -> tf.RaggedTensor:
    """Texts, flat, as what the first group of a pattern matched and what stands between."""
    # The byte 0xFF is in no valid UTF-8, so it can stand for the places where a text is split.
    return tf.strings.split(tf.strings.regex_replace(tf.reshape(texts, [-1]), pattern, MARKED), sep=MARK)
