"""Where a token stands: three ways to tell attention, which by itself sees a set. The fourth is no layer.

All take the same call: vectors `(..., T, D)` and, if these are not the positions 0 ... T-1 of a whole pass,
`positions`: ints that broadcast to `(..., T)`. A step of a decoder at index t hands over the scalar t, and
gets what position t of the whole pass gets; `(B, 1)` gives each row a position of its own.
"""

import keras
import numpy as np
from keras import ops

from zoo.layers.sizes import require_even, require_positive

__all__ = ["LearnedPositions", "RotaryPositions", "SinusoidalPositions"]


@keras.saving.register_keras_serializable("zoo")
class SinusoidalPositions(keras.layers.Layer):
    """Adds sines and cosines of the position, by Vaswani et al. (2017), section 3.5::

        P(t, 2i)   = sin(t / base^(2i / D))
        P(t, 2i+1) = cos(t / base^(2i / D))
        y_t = x_t + P(t)

    Args:
        base: the longest wave has 2 pi times so many positions.

    Call arguments:
        inputs: (..., T, D) float, D even.
        positions: int, broadcasts to (..., T); 0 ... T-1 unless given.

    Returns:
        (..., T, D).

    Raises:
        ValueError: D is odd.
    """

    def __init__(self, *, base: float = 10_000.0, **kwargs) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.base = base

    def build(self, inputs_shape, positions_shape=None) -> None:
        require_even(width=inputs_shape[-1])
        self.built = True

    def call(self, inputs, positions=None):
        angles = _angles(inputs, positions, self.base)
        waves = ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1)
        waves = ops.reshape(waves, (*ops.shape(angles)[:-1], inputs.shape[-1]))
        return inputs + ops.cast(waves, inputs.dtype)

    def get_config(self):
        return {**super().get_config(), "base": self.base}


@keras.saving.register_keras_serializable("zoo")
class LearnedPositions(keras.layers.Layer):
    """Adds a learned vector for each position, by Gehring et al. (2017), section 3.1::

        y_t = x_t + P[t]

    Args:
        max_length: number of positions, L in shapes; no input may be longer.

    Call arguments:
        inputs: (..., T, D) float.
        positions: int below L, broadcasts to (..., T); 0 ... T-1 unless given.

    Returns:
        (..., T, D).

    Raises:
        ValueError: L is less than 1, or no positions are given, and T is known when the graph is made, and
            greater than L.

    A position that is given, and is not below L, has no vector. On a processor TensorFlow complains when it
    comes to it; a GPU and XLA do not, and there the result is NaN: it is never that of another position.
    """

    def __init__(self, max_length: int, **kwargs) -> None:
        super().__init__(autocast=False, **kwargs)  # rows are cast once they are looked up, not all of them
        require_positive(max_length=max_length)
        self.supports_masking = True
        self.max_length = max_length

    def build(self, inputs_shape, positions_shape=None) -> None:
        self.position_vectors = self.add_weight(
            shape=(self.max_length, inputs_shape[-1]),
            initializer=keras.initializers.RandomNormal(stddev=0.02),
            name="position_vectors",
        )
        self.built = True

    def call(self, inputs, positions=None):
        if positions is None:
            length = inputs.shape[-2]
            if length is not None and length > self.max_length:
                raise ValueError(
                    f"{self.name} has learned {self.max_length} positions, but its input has {length}: "
                    "give it a greater max_length, or shorter sequences."
                )
            positions = ops.arange(ops.shape(inputs)[-2])
        vectors = ops.take(self.position_vectors, positions, axis=0)
        known = ops.less(ops.convert_to_tensor(positions), self.max_length)[..., None]
        vectors = ops.where(known, vectors, ops.full_like(vectors, float("nan")))
        return ops.cast(inputs, self.compute_dtype) + ops.cast(vectors, self.compute_dtype)

    def get_config(self):
        return {**super().get_config(), "max_length": self.max_length}


@keras.saving.register_keras_serializable("zoo")
class RotaryPositions(keras.layers.Layer):
    """Turns queries and keys by their position, by Su et al. (2021), section 3.2.2, equation 34::

        a_i = t / base^(2i / D)                                   i = 0 ... D/2 - 1
        y_2i   = x_2i cos(a_i) - x_2i+1 sin(a_i)
        y_2i+1 = x_2i sin(a_i) + x_2i+1 cos(a_i)

    So the dot product of a query at position m with a key at position n depends on m - n alone. Queries and
    keys of each head are turned, values are not.

    Args:
        base: the slowest pair turns once in 2 pi times so many positions.

    Call arguments:
        inputs: (..., T, D) float, queries or keys, D even.
        positions: int, broadcasts to (..., T); 0 ... T-1 unless given.

    Returns:
        (..., T, D).

    Raises:
        ValueError: D is odd.
    """

    def __init__(self, *, base: float = 10_000.0, **kwargs) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.base = base

    def build(self, inputs_shape, positions_shape=None) -> None:
        require_even(width=inputs_shape[-1])
        self.built = True

    def call(self, inputs, positions=None):
        angles = _angles(inputs, positions, self.base)
        cosine, sine = ops.cast(ops.cos(angles), inputs.dtype), ops.cast(ops.sin(angles), inputs.dtype)
        even, odd = inputs[..., 0::2], inputs[..., 1::2]
        turned = ops.stack([even * cosine - odd * sine, even * sine + odd * cosine], axis=-1)
        return ops.reshape(turned, ops.shape(inputs))

    def get_config(self):
        return {**super().get_config(), "base": self.base}


def _angles(inputs, positions, base: float):
    """`t / base^(2i / D)` in float32, since half precision counts no further than 2,048: (..., T, D/2)."""
    width = inputs.shape[-1]
    if positions is None:
        positions = ops.arange(ops.shape(inputs)[-2])
    frequencies = (base ** -(np.arange(0, width, 2) / width)).astype("float32")
    return ops.cast(positions, "float32")[..., None] * frequencies
