"""Texts to a label for each."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from zoo.predictor import Signature
from zoo.predictors.labels import LABELS, check_labels, describe_labels
from zoo.predictors.reading import TEXT, ReadingPredictor
from zoo.tokenizers import Tokenizer

__all__ = ["Classification", "ClassifyingPredictor", "classification"]


class Classification(NamedTuple):
    """A label for every text; the empty one, with probabilities of 0, for an empty or blank text."""

    label: tf.Tensor
    """(B,) strings: the most probable label."""
    score: tf.Tensor
    """(B,) float32: its probability."""
    probabilities: tf.Tensor
    """(B, C) float32: of all labels, in their order."""


def classification(labels: Sequence[str], blank: tf.Tensor, logits: tf.Tensor) -> Classification:
    """From logits (B, C) to labels; none where there is nothing to be said of a row, `blank` (B,)."""
    probabilities = tf.where(blank[:, None], 0.0, tf.nn.softmax(logits))
    best = tf.gather(tf.constant(labels), tf.argmax(probabilities, axis=-1))
    return Classification(tf.where(blank, "", best), tf.reduce_max(probabilities, axis=-1), probabilities)


class ClassifyingPredictor(ReadingPredictor):
    """A trained classifier behind a tokenizer.

    There is nothing to say of an empty or blank text, so its label is the empty string, its score and all its
    probabilities are 0. Of a text with more tokens than the bound, the rest is not read.

    Args:
        model: `{"source": (B, S) int}` to logits (B, C), and C as `classes`: `zoo.models.SequenceClassifier`.
        source: tokenizer of the texts, of any level.
        labels: the name of each class, a line of text that is not blank.
        max_source_length: greatest number of source tokens, the end mark counted.

    Raises:
        ValueError: the labels are not one for each class.
    """

    def __init__(
        self, model: Any, source: Tokenizer, labels: Sequence[str], *, max_source_length: int = 256
    ) -> None:
        super().__init__(model, source, (None, model.classes), max_source_length=max_source_length)
        self.labels = check_labels(labels, model.classes)

    def classify(self, text: Any) -> Classification:
        """Texts (B,) to a label for each."""
        sources, logits = self.read(text)
        return classification(self.labels, sources.blank, logits)

    def signatures(self) -> dict[str, Signature]:
        """`classify`: label, score and probabilities. `serving_default`: label."""
        return {
            "serving_default": Signature(lambda text: {"label": self.classify(text).label}, TEXT),
            "classify": Signature(lambda text: self.classify(text)._asdict(), TEXT),
        }

    def assets(self) -> dict[str, str]:
        """Files for people who want to review an export: name to content."""
        return {**super().assets(), LABELS: describe_labels(self.labels)}
