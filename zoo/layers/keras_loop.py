"""Keras' own LSTM and GRU, run with the weights of our cells: on a GPU they take cuDNN."""

from collections.abc import Callable
from typing import Any, NamedTuple

import keras
from keras import ops

from zoo.layers.cells import Cell

__all__ = ["LOOPS", "TWINS", "KerasLoop", "gpu_is_visible"]

LOOPS = ("auto", "scan", "keras")
"""The loops that may run a cell in training, by the names that layers take."""


class Twin(NamedTuple):
    """The layer of Keras that computes what a cell of ours does."""

    layer: type[keras.layers.RNN]
    bias: Callable[[Cell], Any]
    """The cell's biases in the form of Keras' one."""


def _both_biases(cell: Cell):
    return ops.stack([cell.input_projection.bias.value, cell.recurrent_projection.bias.value])


TWINS = {
    "gru": Twin(keras.layers.GRU, _both_biases),
    "lstm": Twin(keras.layers.LSTM, lambda cell: cell.input_projection.bias),
}
"""By the names of the cells. Keras' simple RNN has no cuDNN, so it would bring nothing."""


def gpu_is_visible() -> bool:
    """Whether Keras computes with TensorFlow, and TensorFlow has a GPU."""
    return keras.backend.backend() == "tensorflow" and bool(keras.distribution.list_devices("gpu"))


class KerasLoop:
    """A cell run over time by Keras' own layer, padding left out.

    cuDNN takes rows that have tokens at the front, padding behind, and one token at least. So the tokens of a
    row are gathered at the front in the order in which they are read, the outputs are put back where the
    tokens were, and a row without tokens reads one vector of zeros, whose results are dropped.

    This is no Keras layer, and Keras does not look into it: the variables of Keras' layer are stand-ins, for
    which each call puts in the weights of the cell. They are neither trained nor counted nor saved.

    Args:
        cell: whose weights are used; they are there already.
        name: of the cell, one of `TWINS`.
        direction: `forward` or `backward`.
    """

    def __init__(self, cell: Cell, name: str, direction: str) -> None:
        self.cell = cell
        self.twin = TWINS[name]
        self.direction = direction
        self.layer = self.twin.layer(
            cell.units,
            return_sequences=True,
            return_state=True,
            kernel_initializer="zeros",  # nothing here is to draw from the randomness of the program
            recurrent_initializer="zeros",
            seed=0,
            dtype=cell.dtype_policy,
        )
        self.layer.build((None, None, cell.input_projection.kernel.shape[0]))

    def __call__(self, inputs, mask):
        """Inputs (B, T, I), mask (B, T) to outputs (B, T, D), zero at padding, and final state (B, D)."""
        read = self._tokens_read(mask)
        length = ops.shape(mask)[1]
        order = ops.argsort(ops.where(mask, read, length + 1), axis=1)
        front = _gather(ops.where(mask[..., None], inputs, ops.zeros_like(inputs)), order)
        tokens = ops.sum(ops.cast(mask, "int32"), axis=1, keepdims=True)
        present = ops.arange(length, dtype="int32") < ops.maximum(tokens, 1)
        outputs, *state = self._run(front, present)
        outputs = _gather(outputs, ops.maximum(read - 1, 0))
        outputs = ops.where(mask[..., None], outputs, ops.zeros_like(outputs))
        state = (ops.where(tokens > 0, leaf, ops.zeros_like(leaf)) for leaf in state)
        return outputs, self.cell.State(*state)

    def _tokens_read(self, mask):
        """How many tokens were read after each position, in the direction of reading: (B, T) int."""
        present = ops.cast(mask, "int32")
        counted = ops.cumsum(present, axis=1)
        return counted[:, -1:] - counted + present if self.direction == "backward" else counted

    def _run(self, inputs, mask):
        weights = [
            self.cell.input_projection.kernel,
            self.cell.recurrent_projection.kernel,
            self.twin.bias(self.cell),
        ]
        return self.layer.stateless_call(weights, self.layer.non_trainable_variables, inputs, mask=mask)[0]


def _gather(vectors, positions):
    """Of vectors (B, T, N) those at positions (B, T) of their own rows."""
    rows, length = ops.shape(positions)
    flat = ops.arange(rows, dtype="int32")[:, None] * length + positions
    return ops.take(ops.reshape(vectors, (-1, vectors.shape[-1])), flat, axis=0)
