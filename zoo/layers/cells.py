"""Recurrent cells: the equations of one step, apart from the loop that runs them."""

from typing import Any, NamedTuple

import keras
from keras import ops

from zoo.layers.projection import Projection
from zoo.layers.sizes import require_positive

__all__ = [
    "CELLS",
    "Cell",
    "GRUCell",
    "HiddenState",
    "LSTMCell",
    "LSTMGates",
    "LSTMState",
    "RNNCell",
    "climb",
    "make_cell",
]


class HiddenState(NamedTuple):
    """What an RNN or a GRU hands from step to step."""

    hidden: Any
    """(..., D)"""


class LSTMState(NamedTuple):
    """What an LSTM hands from step to step."""

    hidden: Any
    """(..., D) what the cell shows, h."""
    cell: Any
    """(..., D) what the cell keeps, c."""


class LSTMGates(NamedTuple):
    """What an LSTM decides in a step, each (..., D)."""

    input: Any
    forget: Any
    candidate: Any
    output: Any


@keras.saving.register_keras_serializable("zoo")
class Cell(keras.layers.Layer):
    """How cells are called, and the product with the input, which is made for all steps at once.

    Args:
        units: size of the state, D in shapes.

    Call arguments:
        projected: (..., G * D) float, what `project(x)` gave; G is the number of products with x.
        state: the state before the step, leaves (..., D); its field `hidden` is what the cell shows.

    Returns:
        The state after the step, of the same form.

    Raises:
        ValueError: the units are less than 1.
    """

    products = 1
    State: type[HiddenState] | type[LSTMState] = HiddenState

    def __init__(self, units: int, **kwargs) -> None:
        super().__init__(**kwargs)
        require_positive(units=units)
        self.units = units
        self.input_projection = Projection(
            self.products * units, bias_initializer=self._bias, dtype=self.dtype_policy, name="input"
        )
        self.recurrent_projection = Projection(
            self.products * units,
            use_bias=self.recurrent_bias,
            kernel_initializer="orthogonal",
            dtype=self.dtype_policy,
            name="recurrent",
        )

    recurrent_bias = False

    def build(self, projected_shape=None, state_shape=None) -> None:
        self.recurrent_projection.build((None, self.units))
        self.built = True

    def build_for(self, input_width: int) -> None:
        """Make all weights, for inputs of that width; else `project` makes those of the inputs it gets."""
        self.input_projection.build((None, input_width))
        self.build()

    def get_build_config(self):
        projection = self.input_projection
        return {"input_width": projection.kernel.shape[0]} if projection.built else None

    def build_from_config(self, config) -> None:
        self.build_for(config["input_width"])

    def project(self, inputs):
        """Inputs (..., I) to their part in the step, (..., G * D)."""
        return self.input_projection(inputs)

    def initial_state(self, *leading):
        """Zeros, leaves (*leading, D)."""
        zeros = ops.zeros((*leading, self.units), self.compute_dtype)
        return self.State(*(zeros for _ in self.State._fields))

    def get_config(self):
        return {**super().get_config(), "units": self.units}

    def _bias(self, shape, dtype=None):
        return ops.zeros(shape, dtype)


@keras.saving.register_keras_serializable("zoo")
class RNNCell(Cell):
    """One step of the simple recurrent network, Elman (1990)::

        h' = tanh(W x + U h + b)

    This is `keras.layers.SimpleRNN`.
    """

    def call(self, projected, state):
        (hidden,) = state
        return HiddenState(ops.tanh(projected + self.recurrent_projection(hidden)))


@keras.saving.register_keras_serializable("zoo")
class GRUCell(Cell):
    """One step of a gated recurrent unit, Cho et al. (2014), in the form in which the reset gate comes last::

        z  = sigmoid(W_z x + b_z + U_z h + u_z)        update gate
        r  = sigmoid(W_r x + b_r + U_r h + u_r)        reset gate
        g  = tanh(W_h x + b_h + r * (U_h h + u_h))     candidate
        h' = z * h + (1 - z) * g

    This is what cuDNN computes, and `keras.layers.GRU` with `reset_after=True`.
    """

    products = 3

    recurrent_bias = True

    def call(self, projected, state):
        (hidden,) = state
        recurred = self.recurrent_projection(hidden)
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

    The columns of the weights are in the order i, f, g, o, as in `keras.layers.LSTM`. The forget bias begins
    at 1 (Jozefowicz et al. 2015).
    """

    products = 4
    State = LSTMState

    def gates(self, projected, hidden) -> LSTMGates:
        """What the cell decides: products with the input (..., 4D), state before the step (..., D)."""
        i, f, g, o = ops.split(projected + self.recurrent_projection(hidden), 4, axis=-1)
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
        ValueError: the name is not one of `CELLS`, or the units are less than 1.
    """
    if kind not in CELLS:
        raise ValueError(f"cell must be one of {', '.join(CELLS)}, got {kind!r}.")
    return CELLS[kind](units, **kwargs)


def climb(cells, projected, states):
    """One step up through cells that stand one above the other.

    Args:
        cells: from below.
        projected: (..., G * D) the lowest one's product with its input.
        states: of each cell, before the step, leaves (..., D).

    Returns:
        The states after it.
    """
    moved: list[Any] = []
    for cell, state in zip(cells, states, strict=True):
        moved.append(cell(projected if not moved else cell.project(moved[-1].hidden), state))
    return tuple(moved)
