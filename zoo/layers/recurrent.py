"""Recurrent layers: a cell holds the equations of one step, a layer runs it over time."""

from typing import Any, NamedTuple

import keras
from keras import ops

from zoo.layers.attention import AdditiveAttention
from zoo.layers.scan import scan

__all__ = ["LSTM", "AttentiveLSTM", "AttentiveState", "LSTMCell", "LSTMState"]

DIRECTIONS = ("forward", "backward")


class LSTMState(NamedTuple):
    """What an LSTM hands from step to step."""

    hidden: Any
    """(..., U) what the cell shows, h."""
    cell: Any
    """(..., U) what the cell keeps, c."""


class AttentiveState(NamedTuple):
    """What a decoder with attention hands from step to step."""

    hidden: Any
    """(B, K, U)"""
    cell: Any
    """(B, K, U)"""
    context: Any
    """(B, K, V) what attention found for this step."""


@keras.saving.register_keras_serializable("zoo")
class LSTMCell(keras.layers.Layer):
    """One step of a long short-term memory, Hochreiter & Schmidhuber (1997), Gers et al. (2000)::

        i = sigmoid(W_i x + U_i h + b_i)       input gate
        f = sigmoid(W_f x + U_f h + b_f)       forget gate
        g = tanh(W_g x + U_g h + b_g)          candidate
        o = sigmoid(W_o x + U_o h + b_o)       output gate
        c' = f * c + i * g
        h' = o * tanh(c')

    The four products with x are one product, `W x + b`, which `project` makes for all steps at once. The
    columns of the weights are in the order i, f, g, o, as in `keras.layers.LSTM`, whose weights fit. The
    forget bias begins at 1 (Jozefowicz et al. 2015).

    Args:
        units: size of the state, U in shapes.

    Call arguments:
        projected: (..., 4U) float, what `project(x)` gave.
        state: `LSTMState` with leaves (..., U).

    Returns:
        The next `LSTMState`.
    """

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape) -> None:
        units = self.units
        self.kernel = self.add_weight(shape=(input_shape[-1], 4 * units), name="kernel")
        self.recurrent_kernel = self.add_weight(
            shape=(units, 4 * units), initializer="orthogonal", name="recurrent_kernel"
        )
        self.bias = self.add_weight(shape=(4 * units,), initializer=_forget_bias, name="bias")
        self.built = True

    def project(self, inputs):
        """Inputs (..., D) to their part in the gates, (..., 4U)."""
        if not self.built:
            self.build(inputs.shape)
        inputs = ops.cast(inputs, self.compute_dtype)
        return ops.matmul(inputs, ops.cast(self.kernel, inputs.dtype)) + ops.cast(self.bias, inputs.dtype)

    def call(self, projected, state):
        hidden, cell = state
        gates = projected + ops.matmul(hidden, ops.cast(self.recurrent_kernel, projected.dtype))
        input_gate, forget_gate, candidate, output_gate = ops.split(gates, 4, axis=-1)
        cell = ops.sigmoid(forget_gate) * cell + ops.sigmoid(input_gate) * ops.tanh(candidate)
        return LSTMState(ops.sigmoid(output_gate) * ops.tanh(cell), cell)

    def get_config(self):
        return {**super().get_config(), "units": self.units}


def _forget_bias(shape, dtype=None):
    """Bias of zeros, but for the forget gate's quarter of ones."""
    quarter = shape[0] // 4
    return ops.concatenate(
        [ops.zeros((quarter,), dtype), ops.ones((quarter,), dtype), ops.zeros((2 * quarter,), dtype)]
    )


@keras.saving.register_keras_serializable("zoo")
class LSTM(keras.layers.Layer):
    """An LSTM run over time, in either direction, that padding cannot touch.

    At a position whose mask is False the state is carried through unchanged, and the output is zero. So
    left and right padding both give the states of the unpadded run. `backward` begins at the last position;
    its outputs stay aligned with the inputs.

    Args:
        units: size of the state, U in shapes.
        direction: `forward` or `backward`.

    Call arguments:
        inputs: (B, T, D) float, T at least 1.
        mask: (B, T) bool, True where there is a token.

    Returns:
        Outputs (B, T, U), and the final `LSTMState` with leaves (B, U).

    Raises:
        ValueError: the direction is neither of the two.
    """

    def __init__(self, units: int, *, direction: str = "forward", **kwargs) -> None:
        super().__init__(**kwargs)
        if direction not in DIRECTIONS:
            raise ValueError(f"direction must be one of {', '.join(DIRECTIONS)}, got {direction!r}.")
        self.units = units
        self.direction = direction
        self.cell = LSTMCell(units, dtype=self.dtype_policy)

    def build(self, inputs_shape, mask_shape=None) -> None:
        self.cell.build(inputs_shape)
        self.built = True

    def call(self, inputs, mask):
        backward = self.direction == "backward"
        projected = ops.transpose(self.cell.project(inputs), (1, 0, 2))
        present = ops.transpose(mask)[:, :, None]
        if backward:
            projected, present = ops.flip(projected, axis=0), ops.flip(present, axis=0)

        def step(state, current):
            projected, present = current
            moved = self.cell(projected, state)
            return LSTMState(*(ops.where(present, new, old) for new, old in zip(moved, state, strict=True)))

        zeros = ops.zeros((ops.shape(inputs)[0], self.units), projected.dtype)
        states = scan(step, LSTMState(zeros, zeros), (projected, present))
        outputs = ops.where(present, states.hidden, ops.zeros_like(states.hidden))
        if backward:
            outputs = ops.flip(outputs, axis=0)
        return ops.transpose(outputs, (1, 0, 2)), LSTMState(*(leaf[-1] for leaf in states))

    def compute_mask(self, inputs, previous_mask):
        """Outputs are masked as the inputs are, the final state is not."""
        return previous_mask, None, None

    def get_config(self):
        return {**super().get_config(), "units": self.units, "direction": self.direction}


@keras.saving.register_keras_serializable("zoo")
class AttentiveLSTM(keras.layers.Layer):
    """The decoder of Bahdanau, Cho & Bengio (2015), appendix A.2.2, with an LSTM in place of the GRU.

    Step i looks at the memory with the state it comes from, and reads what it found beside its input y::

        c_i = attention(s_{i-1}, memory)
        s_i = LSTM([y; c_i], s_{i-1})

    The product with y is made for all steps at once. K hypotheses of a source are K queries to its memory,
    which is never copied.

    Args:
        units: size of the state, U in shapes.
        attention_units: size of the hidden layer of the attention.

    Call arguments:
        inputs: (B, T, D) float, embedded tokens.
        state: `AttentiveState` with leaves (B, 1, ...).
        keys, values, mask: the memory, as `AdditiveAttention` takes it.

    Returns:
        `AttentiveState` of all steps: leaves (B, T, ...).
    """

    def __init__(self, units: int, attention_units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.attention_units = attention_units
        self.attention = AdditiveAttention(attention_units, dtype=self.dtype_policy)
        self.cell = LSTMCell(units, dtype=self.dtype_policy)
        self.context_projection = keras.layers.Dense(4 * units, use_bias=False, dtype=self.dtype_policy)

    def build(self, inputs_shape, state_shape, keys_shape, values_shape, mask_shape=None) -> None:
        self.attention.build((None, None, self.units), keys_shape, values_shape)
        self.cell.build(inputs_shape)
        self.context_projection.build(values_shape)
        self.built = True

    def step(self, projected, state, keys, values, mask) -> AttentiveState:
        """One step: what `cell.project` gave, (B, K, 4U), and the state to the next state."""
        context = self.attention(state.hidden, keys, values, mask)
        moved = self.cell(projected + self.context_projection(context), LSTMState(state.hidden, state.cell))
        return AttentiveState(moved.hidden, moved.cell, context)

    def call(self, inputs, state, keys, values, mask):
        state = AttentiveState(*state)  # a symbolic call hands over a list
        projected = ops.transpose(self.cell.project(inputs), (1, 0, 2))[:, :, None, :]

        states = scan(lambda state, current: self.step(current, state, keys, values, mask), state, projected)
        return AttentiveState(*(ops.transpose(leaf[:, :, 0], (1, 0, 2)) for leaf in states))

    def compute_mask(self, inputs, previous_mask):
        """None: the mask is that of the memory."""
        return None

    def alignment(self, states, state, keys, mask):
        """How each step of a run spread its attention, (B, T, S).

        Args:
            states: what the call gave, leaves (B, T, ...).
            state: what the call began with, leaves (B, 1, ...).
            keys, mask: of the same memory.
        """
        came_from = ops.concatenate([state.hidden, states.hidden[:, :-1]], axis=1)
        return self.attention.alignment(came_from, keys, mask)

    def get_config(self):
        return {**super().get_config(), "units": self.units, "attention_units": self.attention_units}
