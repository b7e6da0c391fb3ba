"""Recurrent cells: the equations of one step, apart from the loop that runs them."""

from typing import Any, NamedTuple

import keras
from keras import ops

__all__ = [
    "CELLS",
    "Cell",
    "GRUCell",
    "HiddenState",
    "LSTMCell",
    "LSTMGates",
    "LSTMState",
    "RNNCell",
    "make_cell",
]


class HiddenState(NamedTuple):
    """What an RNN or a GRU hands from step to step."""

    hidden: Any
    """(..., U)"""


class LSTMState(NamedTuple):
    """What an LSTM hands from step to step."""

    hidden: Any
    """(..., U) what the cell shows, h."""
    cell: Any
    """(..., U) what the cell keeps, c."""


class LSTMGates(NamedTuple):
    """What an LSTM decides in a step, each (..., U)."""

    input: Any
    forget: Any
    candidate: Any
    output: Any


class Cell(keras.layers.Layer):
    """How cells are called, and the product with the input, which is made for all steps at once.

    Args:
        units: size of the state, U in shapes.

    Call arguments:
        projected: (..., G * U) float, what `project(x)` gave; G is the number of products with x.
        state: the state before the step, leaves (..., U); its field `hidden` is what the cell shows.

    Returns:
        The state after the step, of the same form.
    """

    products = 1
    State: type = HiddenState

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape) -> None:
        width = self.products * self.units
        self.kernel = self.add_weight(shape=(input_shape[-1], width), name="kernel")
        self.recurrent_kernel = self.add_weight(
            shape=(self.units, width), initializer="orthogonal", name="recurrent_kernel"
        )
        self.bias = self.add_weight(shape=(width,), initializer=self._bias, name="bias")
        self.built = True

    def project(self, inputs):
        """Inputs (..., D) to their part in the step, (..., G * U)."""
        if not self.built:
            self.build(inputs.shape)
        inputs = ops.cast(inputs, self.compute_dtype)
        return ops.matmul(inputs, self._cast(self.kernel)) + self._cast(self.bias)

    def initial_state(self, *leading):
        """Zeros, leaves (*leading, U)."""
        zeros = ops.zeros((*leading, self.units), self.compute_dtype)
        return self.State(*(zeros for _ in self.State._fields))

    def recur(self, hidden):
        """The product with the state before the step, (..., G * U)."""
        return ops.matmul(hidden, self._cast(self.recurrent_kernel))

    def get_config(self):
        return {**super().get_config(), "units": self.units}

    def _cast(self, weight):
        return ops.cast(weight, self.compute_dtype)

    def _bias(self, shape, dtype=None):
        return ops.zeros(shape, dtype)


@keras.saving.register_keras_serializable("zoo")
class RNNCell(Cell):
    """One step of the simple recurrent network, Elman (1990)::

        h' = tanh(W x + U h + b)

    Its weights fit those of `keras.layers.SimpleRNN`.
    """

    def call(self, projected, state):
        (hidden,) = state
        return HiddenState(ops.tanh(projected + self.recur(hidden)))


@keras.saving.register_keras_serializable("zoo")
class GRUCell(Cell):
    """One step of a gated recurrent unit, Cho et al. (2014), in the form in which the reset gate comes last::

        z  = sigmoid(W_z x + b_z + U_z h + u_z)        update gate
        r  = sigmoid(W_r x + b_r + U_r h + u_r)        reset gate
        g  = tanh(W_h x + b_h + r * (U_h h + u_h))     candidate
        h' = z * h + (1 - z) * g

    This is what cuDNN computes, and `keras.layers.GRU` with `reset_after=True`, whose weights fit: its bias has
    b and u as rows.
    """

    products = 3

    def build(self, input_shape) -> None:
        super().build(input_shape)
        self.recurrent_bias = self.add_weight(
            shape=(self.products * self.units,), initializer="zeros", name="recurrent_bias"
        )

    def call(self, projected, state):
        (hidden,) = state
        recurred = self.recur(hidden) + self._cast(self.recurrent_bias)
        update, reset, candidate = ops.split(projected, 3, axis=-1)
        recurred_update, recurred_reset, recurred_candidate = ops.split(recurred, 3, axis=-1)
        update = ops.sigmoid(update + recurred_update)
        reset = ops.sigmoid(reset + recurred_reset)
        candidate = ops.tanh(candidate + reset * recurred_candidate)
        return HiddenState(update * hidden + (1 - update) * candidate)


@keras.saving.register_keras_serializable("zoo")
class LSTMCell(Cell):
    """One step of a long short-term memory, Hochreiter & Schmidhuber (1997), Gers et al. (2000)::

        i  = sigmoid(W_i x + U_i h + b_i)       input gate
        f  = sigmoid(W_f x + U_f h + b_f)       forget gate
        g  = tanh(W_g x + U_g h + b_g)          candidate
        o  = sigmoid(W_o x + U_o h + b_o)       output gate
        c' = f * c + i * g
        h' = o * tanh(c')

    The columns of the weights are in the order i, f, g, o, as in `keras.layers.LSTM`, whose weights fit. The
    forget bias begins at 1 (Jozefowicz et al. 2015).
    """

    products = 4
    State = LSTMState

    def gates(self, projected, hidden) -> LSTMGates:
        """What the cell decides: products with the input (..., 4U), state before the step (..., U)."""
        i, f, g, o = ops.split(projected + self.recur(hidden), 4, axis=-1)
        return LSTMGates(ops.sigmoid(i), ops.sigmoid(f), ops.tanh(g), ops.sigmoid(o))

    def call(self, projected, state):
        hidden, cell = state
        gates = self.gates(projected, hidden)
        cell = gates.forget * cell + gates.input * gates.candidate
        return LSTMState(gates.output * ops.tanh(cell), cell)

    def _bias(self, shape, dtype=None):
        zeros, ones = ops.zeros((self.units,), dtype), ops.ones((self.units,), dtype)
        return ops.concatenate([zeros, ones, zeros, zeros])


CELLS = {"rnn": RNNCell, "gru": GRUCell, "lstm": LSTMCell}
"""The cells, by the names that layers and models take."""


def make_cell(kind: str, units: int, **kwargs) -> Cell:
    """A cell by its name.

    Raises:
        ValueError: the name is not one of `CELLS`.
    """
    if kind not in CELLS:
        raise ValueError(f"cell must be one of {', '.join(CELLS)}, got {kind!r}.")
    return CELLS[kind](units, **kwargs)
