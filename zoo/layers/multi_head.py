"""Multi-head attention, for sequences that look at themselves or at a memory."""

from typing import Any, NamedTuple

import keras
from keras import ops

from zoo.layers.attention import masked_softmax

__all__ = ["NORMALIZATIONS", "KeysValues", "MultiHeadAttention", "masked_relu"]


def masked_relu(scores, mask):
    """ReLU in place of the softmax, over the number of positions in sight, Wortsman et al. (2023).

    Args:
        scores: (..., S) float.
        mask: bool, of the shape of `scores`, or one that broadcasts to it.

    Returns:
        (..., S) weights, `max(0, e) / n`; they need not add up to 1. Zero where the mask is False.
    """
    weights = ops.where(mask, ops.relu(scores), ops.zeros_like(scores))
    allowed = ops.sum(ops.cast(mask, "float32"), axis=-1, keepdims=True)
    return weights / ops.cast(ops.maximum(allowed, 1.0), scores.dtype)


NORMALIZATIONS = {"softmax": masked_softmax, "relu": masked_relu}
"""How scores become weights, by name."""


class KeysValues(NamedTuple):
    """What a memory offers to attention."""

    keys: Any
    """(..., H, S, D / H)"""
    values: Any
    """(..., H, S, D / H)"""


@keras.saving.register_keras_serializable("zoo")
class MultiHeadAttention(keras.layers.Layer):
    """Multi-head attention, by Vaswani et al. (2017), section 3.2.2::

        q, k, v = x W_q + b_q, m W_k + b_k, m W_v + b_v           H heads of D / H numbers each
        A = softmax(q k^T / sqrt(D / H))                          over the positions of the mask
        y = concat(A v) W_o + b_o

    `project` makes keys and values of a memory m once, for all that look at it later: hypotheses of one
    source are queries to one memory, and a decoder that looks back at itself keeps them from step to step.

    Args:
        width: size of the queries, of the result, and of all heads together, D in shapes.
        heads: number of heads, H in shapes; divides the width.
        normalization: `softmax` or `relu`, see `NORMALIZATIONS`.
        dropout: rate of dropout on the weights.

    Call arguments:
        query: (..., Q, D) float.
        memory: `KeysValues`, with leading axes like those of the query.
        mask: (..., Q, S) bool, or one that broadcasts to it; True where attention may look. A query with
            nothing to look at reads zeros.

    Returns:
        (..., Q, D).

    Raises:
        ValueError: the heads do not divide the width, or the normalization is not known.
    """

    def __init__(
        self, width: int, *, heads: int, normalization: str = "softmax", dropout: float = 0.0, **kwargs
    ) -> None:
        super().__init__(**kwargs)
        if width % heads:
            raise ValueError(f"{heads} heads do not divide a width of {width}. Choose a divisor of it.")
        if normalization not in NORMALIZATIONS:
            raise ValueError(
                f"normalization must be one of {', '.join(NORMALIZATIONS)}, got {normalization!r}."
            )
        self.width = width
        self.heads = heads
        self.normalization = normalization
        self.dropout = dropout
        policy = self.dtype_policy
        self.query_projection = keras.layers.Dense(width, dtype=policy, name="query")
        self.key_projection = keras.layers.Dense(width, use_bias=False, dtype=policy, name="key")
        self.value_projection = keras.layers.Dense(width, dtype=policy, name="value")
        self.output_projection = keras.layers.Dense(width, dtype=policy, name="output")
        self.weights_dropout = keras.layers.Dropout(dropout, dtype=policy, name="weights_dropout")

    def build(self, query_shape=None) -> None:
        self.build_for(self.width)

    def build_for(self, memory_width: int) -> None:
        """Make all weights, for memories of that width."""
        self.query_projection.build((None, self.width))
        self.key_projection.build((None, memory_width))
        self.value_projection.build((None, memory_width))
        self.output_projection.build((None, self.width))
        self.built = True

    def get_build_config(self):
        return {"memory_width": self.key_projection.kernel.shape[0]} if self.built else None

    def build_from_config(self, config) -> None:
        self.build_for(config["memory_width"])

    def project(self, memory, turn=None) -> KeysValues:
        """Keys and values of a memory (..., S, M).

        Args:
            memory: float, of any width M.
            turn: applied to the keys, such as rotary positions.
        """
        if not self.built:
            self.build_for(memory.shape[-1])
        keys = self._split(self.key_projection(memory))
        return KeysValues(turn(keys) if turn else keys, self._split(self.value_projection(memory)))

    def alignment(self, query, keys, mask, turn=None):
        """How each head spreads the attention of queries (..., Q, D): (..., H, Q, S)."""
        scores = ops.matmul(self._queries(query, turn), ops.swapaxes(keys, -1, -2))
        return NORMALIZATIONS[self.normalization](scores, mask[..., None, :, :])

    def call(self, query, memory, mask, turn=None, training=False):
        keys, values = memory
        weights = self.alignment(query, keys, mask, turn)
        return self._join(ops.matmul(self.weights_dropout(weights, training=training), values))

    def step(self, query, own: KeysValues, own_mask, shared: KeysValues, shared_mask, turn=None):
        """One position of K hypotheses, each of which looks at what is its own and at what all of them share.

        The scores of both go through one normalisation, as if the shared memory stood before each hypothesis'
        own; but it is not copied for them: they are K queries to it.

        Args:
            query: (B, K, D) float.
            own: leaves (B, K, H, L, D / H).
            own_mask: (L,) bool, True where attention may look.
            shared: leaves (B, H, P, D / H).
            shared_mask: (B, P) bool, True where attention may look.
            turn: applied to queries (B, K, H, 1, D / H), such as rotary positions.

        Returns:
            (B, K, D).
        """
        query = self._queries(query[:, :, None], turn)
        scores_shared = _alone(ops.matmul(_side_by_side(query), ops.swapaxes(shared.keys, -1, -2)))
        scores_own = ops.matmul(query, ops.swapaxes(own.keys, -1, -2))
        batch, width = ops.shape(query)[:2]
        may_look = (
            ops.logical_and(shared_mask[:, None, None, None], ops.ones((width, 1, 1, 1), "bool")),
            ops.broadcast_to(own_mask, (batch, width, 1, 1, ops.shape(own_mask)[0])),
        )
        weights = NORMALIZATIONS[self.normalization](
            ops.concatenate([scores_shared, scores_own], axis=-1), ops.concatenate(may_look, axis=-1)
        )
        count = ops.shape(shared.keys)[-2]
        read = _alone(ops.matmul(_side_by_side(weights[..., :count]), shared.values))
        return self._join(read + ops.matmul(weights[..., count:], own.values))[:, :, 0]

    def compute_mask(self, query, previous_mask):
        """None: masks are given, not handed on."""
        return None

    def get_config(self):
        own = ("width", "heads", "normalization", "dropout")
        return {**super().get_config(), **{name: getattr(self, name) for name in own}}

    def _queries(self, vectors, turn):
        """(..., T, D) to (..., H, T, D / H), scaled and turned."""
        query = self._split(self.query_projection(vectors)) * (self.width // self.heads) ** -0.5
        return turn(query) if turn else query

    def _split(self, vectors):
        """(..., T, D) to (..., H, T, D / H)."""
        heads = (*ops.shape(vectors)[:-1], self.heads, self.width // self.heads)
        return ops.swapaxes(ops.reshape(vectors, heads), -3, -2)

    def _join(self, read):
        """(..., H, T, D / H) to (..., T, D)."""
        read = ops.swapaxes(read, -3, -2)
        return self.output_projection(ops.reshape(read, (*ops.shape(read)[:-2], self.width)))


def _side_by_side(hypotheses):
    """One position of each of K hypotheses, (B, K, H, 1, N), as K positions of one: (B, H, K, N)."""
    return ops.swapaxes(hypotheses[..., 0, :], 1, 2)


def _alone(positions):
    """K positions of one, (B, H, K, N), as one position of each of K hypotheses: (B, K, H, 1, N)."""
    return ops.swapaxes(positions, 1, 2)[..., None, :]
