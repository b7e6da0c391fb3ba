"""A product with a matrix, over any number of leading axes."""

import keras
from keras import ops

from zoo.layers.shapes import leading

__all__ = ["Projection"]


@keras.saving.register_keras_serializable("zoo")
class Projection(keras.layers.Dense):
    """`keras.layers.Dense`, as one product of rows.

    With more than one leading axis, TensorFlow's product makes its shapes anew at every call, and nothing can
    be fused with it. Of rows, product and bias become one operation.

    Args:
        units, activation, use_bias and all others: see `keras.layers.Dense`.

    Call arguments:
        inputs: (..., I) float.

    Returns:
        (..., units).
    """

    def call(self, inputs, training=None):
        if len(inputs.shape) == 2:
            return super().call(inputs, training=training)
        rows = super().call(ops.reshape(inputs, (-1, inputs.shape[-1])), training=training)
        return ops.reshape(rows, (*leading(inputs, 1), self.units))
