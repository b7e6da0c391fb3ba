"""Texts to a label for every token."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from zoo.predictor import Signature
from zoo.predictors.labels import LABELS, check_labels, describe_labels
from zoo.predictors.reading import TEXT, ReadingPredictor
from zoo.tokenizers import PAD, Tokenizer

__all__ = ["Tagging", "TaggingPredictor"]


class Tagging(NamedTuple):
    """A label for every token. Rows are filled up to the longest of the batch, S, which is at least 1."""

    tokens: tf.Tensor
    """(B, S) strings: the tokens, then empty strings."""
    labels: tf.Tensor
    """(B, S) strings: the most probable label of each token; empty beyond the tokens."""
    scores: tf.Tensor
    """(B, S) float32: its probability; 0 beyond the tokens."""


class TaggingPredictor(ReadingPredictor):
    """A trained tagger behind a tokenizer.

    An empty or blank text has no tokens and so no labels. The END that the model reads after each text has
    none either. A text with more tokens than the bound has labels up to there.

    Args:
        model: `{"source": (B, S) int}` to logits (B, S, C), and C as `classes`: `zoo.models.SequenceTagger`.
        source: tokenizer of the texts, of any level: what its tokens are, the labels are of.
        labels: the name of each class; without white space, since the signature `serving_default` sets blanks
            between labels.
        max_source_length: greatest number of source tokens, the end mark counted.

    Raises:
        ValueError: the labels are not one for each class, or one holds white space.
    """

    def __init__(
        self, model: Any, source: Tokenizer, labels: Sequence[str], *, max_source_length: int = 256
    ) -> None:
        super().__init__(model, source, (None, None, model.classes), max_source_length=max_source_length)
        self.labels = check_labels(labels, model.classes)
        for label in labels:
            if label.split() != [label]:
                raise ValueError(f"The labels of a tagger hold no white space, got {label!r}.")

    def tag(self, text: Any) -> Tagging:
        """Texts (B,) to a label for every token."""
        ids, logits = self.read_tokens(text)
        there = ids != PAD
        probabilities = tf.nn.softmax(logits)
        best = tf.gather(tf.constant(self.labels), tf.argmax(probabilities, axis=-1))
        return Tagging(
            self.source.tokens(ids),
            tf.where(there, best, ""),
            tf.where(there, tf.reduce_max(probabilities, axis=-1), 0.0),
        )

    def signatures(self) -> dict[str, Signature]:
        """`tag`: tokens, labels, scores. `serving_default`: labels (B,), blanks between those of a text."""
        return {
            "serving_default": Signature(self._joined, TEXT),
            "tag": Signature(lambda text: self.tag(text)._asdict(), TEXT),
        }

    def assets(self) -> dict[str, str]:
        """Files for people who want to review an export: name to content."""
        return {**super().assets(), LABELS: describe_labels(self.labels)}

    def _joined(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        joined = tf.strings.reduce_join(self.tag(text).labels, axis=1, separator=" ")
        return {"labels": tf.strings.strip(joined)}  # empty strings beyond the tokens leave blanks behind
