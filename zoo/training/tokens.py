"""What is measured token by token while a model trains."""

import keras
from keras import ops

__all__ = ["TokenAccuracy", "Tokens"]

COUNTS = "float64"
"""Whole numbers up to 2 ** 53, which can be halved when devices share them; float32 ends at 16 million."""


@keras.saving.register_keras_serializable("zoo")
class Tokens(keras.metrics.Metric):
    """Counts tokens: labels that weigh something.

    Call arguments:
        y_true: (B, T) ids.
        y_pred: not looked at.
        sample_weight: (B, T) weights, 0 at padding.
    """

    def __init__(self, name: str = "tokens", **kwargs) -> None:
        super().__init__(name=name, **kwargs)
        self.count = self.add_variable((), initializer="zeros", dtype=COUNTS, name="count")

    def update_state(self, y_true, y_pred, sample_weight=None):
        weights = ops.ones_like(y_true) if sample_weight is None else sample_weight
        self.count.assign(self.count + ops.cast(ops.count_nonzero(weights), COUNTS))

    def result(self):
        return self.count + 0  # the number of now; the variable itself would be read later


@keras.saving.register_keras_serializable("zoo")
class TokenAccuracy(keras.metrics.Metric):
    """Share of the tokens to which the greatest logit belongs.

    `keras.metrics.SparseCategoricalAccuracy` takes means over the T of each batch first, so that a token of a
    long batch weighs less than one of a short batch. Here all that weigh something weigh the same.

    Call arguments:
        y_true: (B, T) ids.
        y_pred: (B, T, V) logits.
        sample_weight: (B, T) weights, 0 at padding.
    """

    def __init__(self, name: str = "token_accuracy", **kwargs) -> None:
        super().__init__(name=name, **kwargs)
        self.right = self.add_variable((), initializer="zeros", dtype=COUNTS, name="right")
        self.all = self.add_variable((), initializer="zeros", dtype=COUNTS, name="all")

    def update_state(self, y_true, y_pred, sample_weight=None):
        best = ops.argmax(y_pred, axis=-1)
        right = ops.equal(ops.cast(y_true, best.dtype), best)
        counted = ops.ones_like(right) if sample_weight is None else ops.not_equal(sample_weight, 0)
        self.right.assign(self.right + ops.cast(ops.count_nonzero(right & counted), COUNTS))
        self.all.assign(self.all + ops.cast(ops.count_nonzero(counted), COUNTS))

    def result(self):
        return ops.divide_no_nan(self.right, self.all)
