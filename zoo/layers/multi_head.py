"""Multi-head attention, for sequences that look at themselves or at a memory."""

from typing import Any, NamedTuple

import keras
from keras import ops

from zoo.layers.attention import masked_softmax
from zoo.layers.projection import Projection
from zoo.layers.shapes import leading
from zoo.layers.sizes import require_positive, require_rate

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
        A = softmax(q k^T / sqrt(D / H) + bias)                   over the positions of the mask
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
            nothing to look at reads zeros: all its weights are 0, and its y is b_o, the bias of W_o.
        turn: applied to the queries, such as rotary positions.
        bias: (..., H, Q, S) float, added to the scores, such as what `AdjacencyBias` gives.

    Returns:
        (..., Q, D).

    Raises:
        ValueError: a size is less than 1, the dropout is no rate, the heads do not divide the width, or the
            normalization is not known.
    """

    def __init__(
        self, width: int, *, heads: int, normalization: str = "softmax", dropout: float = 0.0, **kwargs
    ) -> None:
        super().__init__(**kwargs)
        require_positive(width=width, heads=heads)
        require_rate(dropout=dropout)
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
        self.query_projection = Projection(width, dtype=policy, name="query")
        self.key_projection = Projection(width, use_bias=False, dtype=policy, name="key")
        self.value_projection = Projection(width, dtype=policy, name="value")
        self.output_projection = Projection(width, dtype=policy, name="output")
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

    def project_rows(self, rows, turn=None) -> KeysValues:
        """Keys and values of one position of N sequences, (N, D): leaves (N, H, 1, D / H)."""
        keys = self._rows(self.key_projection(rows))
        return KeysValues(turn(keys) if turn else keys, self._rows(self.value_projection(rows)))

    def alignment(self, query, keys, mask, turn=None, bias=None):
        """How each head spreads the attention of queries (..., Q, D): (..., H, Q, S)."""
        query = self._split(self.query_projection(query))
        return self._weights(turn(query) if turn else query, keys, mask[..., None, :, :], bias)

    def call(self, query, memory, mask, turn=None, bias=None, training=False):
        keys, values = memory
        weights = self.alignment(query, keys, mask, turn, bias)
        return self._join(ops.matmul(self.weights_dropout(weights, training=training), values))

    def look(self, rows, memory: KeysValues, mask, width: int):
        """One position of each of K hypotheses, which look at the memory of their source.

        The memory is not copied for them: they are K queries to it. `read` also says where they looked.

        Args:
            rows: (B * K, D) float, the hypotheses of a source side by side.
            memory: leaves (B, H, S, D / H).
            mask: (B, 1, S) bool, True where attention may look.
            width: K.

        Returns:
            (B * K, D).
        """
        return self.read(rows, memory, mask, width)[0]

    def read(self, rows, memory: KeysValues, mask, width: int):
        """What `look` gives, (B * K, D), and how each head spread its attention for it, (B, H, K, S)."""
        query = _side_by_side(self._rows(self.query_projection(rows)), width)
        weights = self._weights(query, memory.keys, mask[:, None])
        return self._join_rows(_alone(ops.matmul(weights, memory.values))), weights

    def look_back(self, rows, own: KeysValues, mask, turn=None):
        """One position of N sequences, each of which looks at what is its own.

        Args:
            rows: (N, D) float.
            own: leaves (N, H, L, D / H).
            mask: (L,) bool, True where attention may look.
            turn: applied to queries (N, H, 1, D / H), such as rotary positions.

        Returns:
            (N, D).
        """
        weights = self._weights(self._query_rows(rows, turn), own.keys, mask)
        return self._join_rows(ops.matmul(weights, own.values))

    def look_back_beyond(
        self, rows, own: KeysValues, own_mask, shared: KeysValues, shared_mask, width: int, turn=None
    ):
        """One position of each of K hypotheses, which look at what is their own and at what they share.

        The scores of both go through one normalisation, as if the shared memory stood before each hypothesis'
        own; but it is not copied for them: they are K queries to it.

        Args:
            rows: (B * K, D) float, the hypotheses of a source side by side.
            own: leaves (B * K, H, L, D / H).
            own_mask: (L,) bool, True where attention may look.
            shared: leaves (B, H, P, D / H).
            shared_mask: (B, P) bool, True where attention may look.
            width: K.
            turn: see `look_back`.

        Returns:
            (B * K, D).
        """
        count = ops.shape(shared.keys)[-2]
        query = self._query_rows(rows, turn) * self._scale
        scores = (
            _alone(ops.matmul(_side_by_side(query, width), ops.swapaxes(shared.keys, -1, -2))),
            ops.matmul(query, ops.swapaxes(own.keys, -1, -2)),
        )
        of_each = ops.logical_and(shared_mask[:, None], ops.ones((width, 1), "bool"))
        mask = (
            ops.reshape(of_each, (-1, 1, 1, count)),
            ops.broadcast_to(own_mask, (ops.shape(rows)[0], 1, 1, own_mask.shape[0])),
        )
        weights = NORMALIZATIONS[self.normalization](
            ops.concatenate(scores, axis=-1), ops.concatenate(mask, axis=-1)
        )
        read = ops.matmul(_side_by_side(weights[..., :count], width), shared.values)
        return self._join_rows(_alone(read) + ops.matmul(weights[..., count:], own.values))

    def compute_mask(self, query, previous_mask):
        """None: masks are given, not handed on."""
        return None

    def get_config(self):
        own = ("width", "heads", "normalization", "dropout")
        return {**super().get_config(), **{name: getattr(self, name) for name in own}}

    @property
    def _scale(self) -> float:
        return (self.width // self.heads) ** -0.5

    def _weights(self, query, keys, mask, bias=None):
        """Queries (..., Q, D / H) and keys (..., S, D / H) to how each query spreads, (..., Q, S)."""
        scores = ops.matmul(query * self._scale, ops.swapaxes(keys, -1, -2))
        if bias is not None:
            scores = scores + ops.cast(bias, scores.dtype)
        return NORMALIZATIONS[self.normalization](scores, mask)

    def _query_rows(self, rows, turn):
        query = self._rows(self.query_projection(rows))
        return turn(query) if turn else query

    def _rows(self, vectors):
        """(N, D) to (N, H, 1, D / H)."""
        return ops.reshape(vectors, (-1, self.heads, 1, self.width // self.heads))

    def _join_rows(self, read):
        """(N, H, 1, D / H) to (N, D)."""
        return self.output_projection(ops.reshape(read, (-1, self.width)))

    def _split(self, vectors):
        """(..., T, D) to (..., H, T, D / H)."""
        heads = (*leading(vectors, 1), self.heads, self.width // self.heads)
        return ops.swapaxes(ops.reshape(vectors, heads), -3, -2)

    def _join(self, read):
        """(..., H, T, D / H) to (..., T, D)."""
        read = ops.swapaxes(read, -3, -2)
        return self.output_projection(ops.reshape(read, (*leading(read, 2), self.width)))


def _side_by_side(rows, width: int):
    """One position of each of K hypotheses, (B * K, H, 1, N), as K positions of one: (B, H, K, N)."""
    if width == 1:
        return rows
    heads, size = rows.shape[1], ops.shape(rows)[3]
    return ops.swapaxes(ops.reshape(rows, (-1, width, heads, size)), 1, 2)


def _alone(positions):
    """K positions of one, (B, H, K, N), as one position of each of K hypotheses: (B * K, H, 1, N)."""
    heads, width = positions.shape[1:3]
    if width == 1:
        return positions
    return ops.reshape(ops.swapaxes(positions, 1, 2), (-1, heads, 1, ops.shape(positions)[3]))
