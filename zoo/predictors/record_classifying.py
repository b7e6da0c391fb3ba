"""Records to a label for each."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from zoo.predictor import Signature
from zoo.predictors.classifying import classification
from zoo.predictors.labels import LABELS, check_labels, describe_labels
from zoo.predictors.records import RecordPredictor, RecordReader

__all__ = ["RecordClassification", "RecordClassifyingPredictor"]


class RecordClassification(NamedTuple):
    """A label for every record; the empty one, with probabilities of 0, where there is nothing to be read."""

    label: tf.Tensor
    """(B,) strings: the most probable label."""
    score: tf.Tensor
    """(B,) float32: its probability."""
    probabilities: tf.Tensor
    """(B, C) float32: of all labels, in their order."""
    problem: tf.Tensor
    """(B,) strings: why there is nothing to be read, as in `expected 16 bits a sample, got 8`; or empty."""


class RecordClassifyingPredictor(RecordPredictor):
    """A trained classifier of speech or other sounds, or of node sets, behind a reader of them.

    Args:
        model: what the reader gives to logits (B, C), and C as `classes`: for sounds a
            `zoo.models.SequenceClassifier` over a `zoo.models.RecurrentFrameEncoder`.
        reader: of the records, such as `SoundReader` and `NodeSetReader`.
        labels: the name of each class, a line of text that is not blank.

    Raises:
        ValueError: the labels are not one for each class.
    """

    def __init__(self, model: Any, reader: RecordReader, labels: Sequence[str]) -> None:
        super().__init__(model, reader, (None, model.classes))
        self.labels = check_labels(labels, model.classes)

    def classify(self, records: Any) -> RecordClassification:
        """Records (B,) to a label for each."""
        answered = self.read(records)
        found = classification(self.labels, answered.blank, answered.outputs)
        return RecordClassification(*found, problem=answered.problem)

    def signatures(self) -> dict[str, Signature]:
        """`classify`: label, score, probabilities and problem. `serving_default`: label."""
        name = self.reader.name
        return {
            "serving_default": Signature(
                lambda **asked: {"label": self.classify(asked[name]).label}, self.inputs
            ),
            "classify": Signature(lambda **asked: self.classify(asked[name])._asdict(), self.inputs),
        }

    def assets(self) -> dict[str, str]:
        """Files for people who want to review an export: name to content."""
        return {**super().assets(), LABELS: describe_labels(self.labels)}
