"""Texts to a number for each."""

from typing import Any

import tensorflow as tf

from zoo.predictor import Signature
from zoo.predictors.reading import TEXT, ReadingPredictor
from zoo.tokenizers import Tokenizer

__all__ = ["RegressingPredictor", "check_finite"]


def check_finite(**named: float) -> float:
    """A number, given by the name of its argument, that float32 and so JSON can hold.

    Raises:
        ValueError: it is not finite in float32.
    """
    ((name, value),) = named.items()
    if not abs(value) <= float(tf.float32.max):  # nor is NaN
        raise ValueError(f"{name} must be a finite number in float32, got {value}.")
    return value


class RegressingPredictor(ReadingPredictor):
    """A trained regressor behind a tokenizer.

    Args:
        model: such as `zoo.models.SequenceRegressor`: `{"source": (B, S) int}` to numbers (B, 1).
        source: tokenizer of the texts, of any level.
        blank_value: the answer to empty and blank texts, of which there is nothing to say. It must be finite
            in float32, since JSON has no other numbers.
        max_source_length: greatest number of source tokens, the end mark counted; what is beyond is not read.

    Raises:
        ValueError: the value for blank texts is not finite in float32.
    """

    def __init__(
        self, model: Any, source: Tokenizer, *, blank_value: float = 0.0, max_source_length: int = 256
    ) -> None:
        super().__init__(model, source, (None, 1), max_source_length=max_source_length)
        self.blank_value = check_finite(blank_value=blank_value)

    def regress(self, text: Any) -> tf.Tensor:
        """Texts (B,) to numbers (B,) float32."""
        sources, numbers = self.read(text)
        return tf.where(sources.blank, self.blank_value, numbers[:, 0])

    def signatures(self) -> dict[str, Signature]:
        """`regress`: value. `serving_default`: the same."""
        regress = Signature(lambda text: {"value": self.regress(text)}, TEXT)
        return {"serving_default": regress, "regress": regress}
