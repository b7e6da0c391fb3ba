"""From the states of a decoder to scores over its vocabulary."""

import keras
from keras import ops

from zoo.layers.projection import Projection
from zoo.layers.sizes import require_positive

__all__ = ["MaxoutReadout"]


@keras.saving.register_keras_serializable("zoo")
class MaxoutReadout(keras.layers.Layer):
    """Deep output with one maxout layer, by Bahdanau, Cho & Bengio (2015), appendix A.2.2::

        t~ = U s_i + V y + C c_i                       2 * units numbers, taken in pairs
        t  = max of each pair                          (Goodfellow et al. 2013)
        logits = W t + b

    The appendix prints s_{i-1}, equation 4 of the paper s_i: this is the latter.

    Args:
        vocab_size: number of logits, V in shapes.
        units: size of t.

    Call arguments:
        inputs: (..., D) float, state, embedded token and context side by side.

    Returns:
        (..., V) logits.

    Raises:
        ValueError: a size is less than 1.
    """

    def __init__(self, vocab_size: int, *, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        require_positive(vocab_size=vocab_size, units=units)
        self.supports_masking = True
        self.vocab_size = vocab_size
        self.units = units
        self.pairs = Projection(2 * units, dtype=self.dtype_policy)
        self.logits = Projection(vocab_size, dtype=self.dtype_policy)

    def build(self, input_shape) -> None:
        self.pairs.build(input_shape)
        self.logits.build((*input_shape[:-1], self.units))
        self.built = True

    def call(self, inputs):
        first, second = ops.split(self.pairs(inputs), 2, axis=-1)
        return self.logits(ops.maximum(first, second))

    def get_config(self):
        return {**super().get_config(), "vocab_size": self.vocab_size, "units": self.units}
