"""Records to a number for each."""

from typing import Any, NamedTuple

import tensorflow as tf

from zoo.predictor import Signature
from zoo.predictors.records import RecordPredictor, RecordReader
from zoo.predictors.regressing import check_finite

__all__ = ["RecordRegressingPredictor", "RecordValue"]


class RecordValue(NamedTuple):
    """A number for every record."""

    value: tf.Tensor
    """(B,) float32."""
    problem: tf.Tensor
    """(B,) strings: why there is nothing to be read; or empty."""


class RecordRegressingPredictor(RecordPredictor):
    """A trained regressor of speech or other sounds, or of node sets, behind a reader of them.

    Args:
        model: what the reader gives to numbers (B, 1): for sounds a `zoo.models.SequenceRegressor` over a
            `zoo.models.RecurrentFrameEncoder`.
        reader: of the records, such as `SoundReader` and `NodeSetReader`.
        blank_value: the answer where there is nothing to be read; finite in float32, for JSON.

    Raises:
        ValueError: the value is not finite in float32.
    """

    def __init__(self, model: Any, reader: RecordReader, *, blank_value: float = 0.0) -> None:
        super().__init__(model, reader, (None, 1))
        self.blank_value = check_finite(blank_value=blank_value)

    def regress(self, records: Any) -> RecordValue:
        """Records (B,) to a number for each."""
        answered = self.read(records)
        return RecordValue(
            tf.where(answered.blank, self.blank_value, answered.outputs[:, 0]), answered.problem
        )

    def signatures(self) -> dict[str, Signature]:
        """`regress`: value and problem. `serving_default`: value."""
        name = self.reader.name
        return {
            "serving_default": Signature(
                lambda **asked: {"value": self.regress(asked[name]).value}, self.inputs
            ),
            "regress": Signature(lambda **asked: self.regress(asked[name])._asdict(), self.inputs),
        }
