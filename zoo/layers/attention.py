"""Attention: a query looks at the positions of a memory, and takes the mean of their values."""

import keras
from keras import ops

from zoo.layers.projection import Projection
from zoo.layers.sizes import require_positive

__all__ = [
    "AdditiveAttention",
    "Attention",
    "DotAttention",
    "GeneralAttention",
    "ScaledDotAttention",
    "masked_softmax",
]


def masked_softmax(scores, mask):
    """Softmax over the last axis, over the positions where the mask is True.

    A row without any True has weights of exactly zero, in every dtype: positions are selected, no large
    negative number is added to their scores.

    Args:
        scores: (..., S) float.
        mask: bool, of the shape of `scores`, or one that broadcasts to it.

    Returns:
        (..., S) weights of the dtype of `scores`: zero where the mask is False, the others add up to 1.
    """
    half = keras.backend.standardize_dtype(scores.dtype) == "float16"
    lowest = -65504.0 if half else -3e38  # finite: a row of infinities has no softmax, nor a gradient
    seen = ops.where(mask, scores, lowest)
    # Keras warns of a softmax over one number, which is 1; here it means a source of one token.
    weights = ops.exp(seen - seen) if seen.shape[-1] == 1 else ops.softmax(seen, axis=-1)
    return ops.where(mask, weights, 0.0)


class Attention(keras.layers.Layer):
    """How the attentions of recurrent decoders are called; subclasses say how they score.

    Call arguments:
        query: (B, T, I) float, any number of queries to each memory: a target's steps, or K hypotheses.
        keys: (B, S, U) float, what `project_keys(values)` gave: it does not depend on the query, so a decoder
            makes the keys once for all its steps.
        values: (B, S, D) float.
        mask: (B, S) bool, True where attention may look. A row without any True gives contexts of zeros.

    Returns:
        (B, T, D) contexts.
    """

    def project_keys(self, values):
        """Values (B, S, D) to keys (B, S, U)."""
        raise NotImplementedError

    def scores(self, query, keys):
        """How well queries (B, T, I) and keys (B, S, U) fit, (B, T, S)."""
        raise NotImplementedError

    def alignment(self, query, keys, mask):
        """How queries (B, T, I) spread their attention over the memory: (B, T, S), rows of sum 1 or 0."""
        return masked_softmax(self.scores(query, keys), mask[:, None, :])

    def call(self, query, keys, values, mask):
        return ops.matmul(self.alignment(query, keys, mask), values)

    def compute_output_shape(self, query_shape, keys_shape, values_shape, mask_shape=None):
        return (*query_shape[:-1], values_shape[-1])

    def compute_mask(self, query, previous_mask):
        """None: the mask is that of the memory, not of the contexts."""
        return None


@keras.saving.register_keras_serializable("zoo")
class AdditiveAttention(Attention):
    """Additive attention, by Bahdanau, Cho & Bengio (2015), section 3.1 and appendix A.1.2.

    For a query s and the values h_1 ... h_S of the memory::

        e_j = v . tanh(W s + U h_j)        score
        a   = softmax(e)                   alignment, over the positions of the mask
        c   = sum_j a_j h_j                context

    `U h_j` is the key of position j. The `concat` score of Luong et al. (2015), `v . tanh(W [s; h_j])`, is
    the same with both halves of W written apart.

    Args:
        units: size of the hidden layer that compares query and value, U in shapes.

    Raises:
        ValueError: the units are less than 1.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        require_positive(units=units)
        self.units = units
        self.query_projection = Projection(units, use_bias=False, dtype=self.dtype_policy)
        self.key_projection = Projection(units, use_bias=False, dtype=self.dtype_policy)

    def build(self, query_shape, keys_shape, values_shape, mask_shape=None) -> None:
        self.query_projection.build(query_shape)
        if not self.key_projection.built:  # `project_keys` comes before the first call
            self.key_projection.build(values_shape)
        self.score_vector = self.add_weight(shape=(self.units, 1), name="score_vector")
        self.built = True

    def project_keys(self, values):
        return self.key_projection(values)

    def scores(self, query, keys):
        compared = ops.tanh(self.query_projection(query)[:, :, None, :] + keys[:, None, :, :])
        return ops.matmul(compared, ops.cast(self.score_vector, compared.dtype))[..., 0]

    def get_config(self):
        return {**super().get_config(), "units": self.units}


@keras.saving.register_keras_serializable("zoo")
class DotAttention(Attention):
    """The `dot` score of Luong, Pham & Manning (2015), equation 8: `e_j = s . h_j`; without weights.

    Queries and values are of one size, and the values are the keys.

    Raises:
        ValueError: when it is built, for queries and values of unlike sizes.
    """

    def build(self, query_shape, keys_shape, values_shape, mask_shape=None) -> None:
        if query_shape[-1] != values_shape[-1]:
            raise ValueError(
                f"{type(self).__name__} compares queries, the states of a decoder, with values, those of its "
                "encoder, as they are, so both must have one size, got queries of size "
                f"{query_shape[-1]} and values of size {values_shape[-1]}. Make them equal (the values of a "
                "bidirectional encoder are twice its units), or choose GeneralAttention, the score `general`."
            )
        self.built = True

    def project_keys(self, values):
        return values

    def scores(self, query, keys):
        return ops.matmul(query, ops.transpose(keys, (0, 2, 1)))


@keras.saving.register_keras_serializable("zoo")
class ScaledDotAttention(DotAttention):
    """The dot score over the root of its size, Vaswani et al. (2017), equation 1: `e_j = s . h_j / sqrt(D)`.

    The variance of a dot product of independent numbers grows with D, and a softmax over large numbers has
    almost no gradient; the division keeps the variance at 1.
    """

    def scores(self, query, keys):
        return super().scores(query, keys) / query.shape[-1] ** 0.5


@keras.saving.register_keras_serializable("zoo")
class GeneralAttention(DotAttention):
    """The `general` score of Luong, Pham & Manning (2015), equation 8: `e_j = s . W h_j`.

    Args:
        units: size of the queries, D in shapes; `W h_j` is the key of position j.

    Raises:
        ValueError: the units are less than 1, or, when it is built, not the size of the queries.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        require_positive(units=units)
        self.units = units
        self.key_projection = Projection(units, use_bias=False, dtype=self.dtype_policy)

    def build(self, query_shape, keys_shape, values_shape, mask_shape=None) -> None:
        if query_shape[-1] != self.units:
            raise ValueError(
                f"Queries of size {query_shape[-1]} do not fit keys of size {self.units}. "
                "Give units the size of the queries."
            )
        if not self.key_projection.built:  # `project_keys` comes before the first call
            self.key_projection.build(values_shape)
        self.built = True

    def project_keys(self, values):
        return self.key_projection(values)

    def get_config(self):
        return {**super().get_config(), "units": self.units}
