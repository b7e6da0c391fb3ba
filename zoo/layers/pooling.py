"""Pooling over time: from the vectors of all positions to one vector of the whole."""

import keras
from keras import ops

from zoo.layers.attention import masked_softmax
from zoo.layers.sizes import require_positive

__all__ = ["AttentionPooling", "Pooling"]


def _tokens_alone(inputs, mask):
    """Zeros at padding, whatever stands there."""
    return ops.where(mask[..., None], inputs, ops.zeros_like(inputs))


def _mean(inputs, mask):
    # In float32 at least: the sum over a long text leaves the range of float16.
    wide = keras.backend.result_type(inputs.dtype, "float32")
    count = ops.maximum(ops.sum(ops.cast(mask, wide), axis=1), 1.0)
    total = ops.sum(ops.cast(_tokens_alone(inputs, mask), wide), axis=1)
    return ops.cast(total / count[:, None], inputs.dtype)


def _max(inputs, mask):
    lowest = ops.zeros_like(inputs) - float("inf")
    highest = ops.max(ops.where(mask[..., None], inputs, lowest), axis=1, initial=-float("inf"))
    return ops.where(ops.any(mask, axis=1)[:, None], highest, ops.zeros_like(highest))


def _first(inputs, mask):
    return _at(ops.argmax(ops.cast(mask, "int32"), axis=1), inputs, mask)


def _last(inputs, mask):
    backward = ops.flip(ops.cast(mask, "int32"), axis=1)
    return _at(ops.shape(inputs)[1] - 1 - ops.cast(ops.argmax(backward, axis=1), "int32"), inputs, mask)


def _at(place, inputs, mask):
    """The vectors (B, D) at one position (B,) of each row; a row without tokens has zeros there."""
    here = ops.equal(ops.arange(ops.shape(inputs)[1])[None, :], ops.cast(place, "int32")[:, None])
    return ops.sum(_tokens_alone(inputs, ops.logical_and(here, mask)), axis=1)


KINDS = {"mean": _mean, "max": _max, "first": _first, "last": _last}


@keras.saving.register_keras_serializable("zoo")
class Pooling(keras.layers.Layer):
    """One vector from many, without weights.

    The mean and the greatest of each component over all tokens (Collobert et al. 2011, section 3.3.2), or the
    vector of one token: the `last` is where a forward recurrent encoder has read everything; the `first` is
    where a backward one has, and where a class token stands ([CLS], position 0; Devlin et al. 2019).

    Args:
        kind: `mean`, `max`, `first` or `last`.

    Call arguments:
        inputs: (B, S, D) float, S at least 1.
        mask: (B, S) bool, True where there is a token.

    Returns:
        (B, D); a row without any token gives zeros.

    Raises:
        ValueError: the kind is not known.
    """

    def __init__(self, kind: str, **kwargs) -> None:
        super().__init__(**kwargs)
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}.")
        self.kind = kind
        self.supports_masking = True

    def build(self, inputs_shape, mask_shape=None) -> None:
        self.built = True

    def call(self, inputs, mask):
        return KINDS[self.kind](inputs, mask)

    def compute_mask(self, inputs, previous_mask):
        """None: one vector has no padding."""
        return None

    def get_config(self):
        return {**super().get_config(), "kind": self.kind}


@keras.saving.register_keras_serializable("zoo")
class AttentionPooling(keras.layers.Layer):
    """The mean of all vectors, weighted by how well they fit a query that is learned.

    Additive attention with one query for all sources, by Yang et al. (2016), "Hierarchical attention networks
    for document classification", equations 5 to 7; Lin et al. (2017) have the same without b, and several
    queries::

        u_t = tanh(W h_t + b)
        a   = softmax(u_t . q)             alignment, over the positions of the mask
        s   = sum_t a_t h_t

    Args:
        units: size of u and q, U in shapes.

    Call arguments:
        inputs: (B, S, D) float, S at least 1.
        mask: (B, S) bool, True where there is a token.

    Returns:
        (B, D); a row without any token gives zeros.

    Raises:
        ValueError: the units are less than 1.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        require_positive(units=units)
        self.units = units
        self.projection = keras.layers.Dense(
            units, activation="tanh", dtype=self.dtype_policy, name="projection"
        )
        self.supports_masking = True

    def build(self, inputs_shape, mask_shape=None) -> None:
        self.projection.build(inputs_shape)
        self.query = self.add_weight(shape=(self.units, 1), name="query")
        self.built = True

    def alignment(self, inputs, mask):
        """How much each position counts: (B, S), rows of sum 1, or 0 where there is no token."""
        fits = ops.matmul(self.projection(inputs), ops.cast(self.query, self.compute_dtype))
        return masked_softmax(fits[..., 0], mask)

    def call(self, inputs, mask):
        inputs = _tokens_alone(inputs, mask)
        return ops.matmul(self.alignment(inputs, mask)[:, None, :], inputs)[:, 0]

    def compute_mask(self, inputs, previous_mask):
        """None: one vector has no padding."""
        return None

    def get_config(self):
        return {**super().get_config(), "units": self.units}
