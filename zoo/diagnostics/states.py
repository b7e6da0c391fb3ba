"""What the units of a layer do at each position: gates of an LSTM, states of an encoder."""

from typing import NamedTuple

import keras
import numpy as np
from keras import ops

from zoo.layers import EncoderBlock, LSTMCell, Recurrent
from zoo.masking.recording import recording
from zoo.models import Encoded

__all__ = ["GatesOverTime", "encoder_states", "gates_over_time"]

LAYERS = (Recurrent.__name__, EncoderBlock.__name__)
"""Kinds of layers whose outputs are an encoder's states."""


class GatesOverTime(NamedTuple):
    """What an LSTM decides and what it keeps, each (B, T, D)."""

    input: np.ndarray
    """From 0, nothing is written, to 1."""
    forget: np.ndarray
    """From 0, all is forgotten, to 1, all is kept."""
    candidate: np.ndarray
    """From -1 to 1: what would be written."""
    output: np.ndarray
    """From 0, nothing is shown, to 1."""
    cell: np.ndarray
    """What is kept after the step."""
    hidden: np.ndarray
    """From -1 to 1: what is shown after the step."""


def gates_over_time(layer: Recurrent, inputs, mask=None) -> GatesOverTime:
    """The gates and states of an LSTM at each step of a run, made in one go from the states of that run.

    Args:
        layer: with an `lstm` cell; see `zoo.layers.LSTMCell` for the equations.
        inputs: (B, T, I) float.
        mask: (B, T) bool, True where there is a token; everywhere unless given.

    Returns:
        `GatesOverTime`, aligned with the inputs. At padding gates and candidates are zero, for no step is
        taken, and the states are those of the step before.

    Raises:
        ValueError: the layer has another cell.
    """
    if layer.cell_name != "lstm":
        raise ValueError(f"Only an lstm has these gates, {layer.name} has the cell {layer.cell_name!r}.")
    if not layer.built:
        layer.build(np.shape(inputs))
    cell: LSTMCell = layer.cell
    inputs = ops.convert_to_tensor(inputs, layer.compute_dtype)
    mask = ops.convert_to_tensor(np.ones(inputs.shape[:2], bool) if mask is None else mask, "bool")
    states = layer.states(inputs, mask)
    start = cell.initial_state(inputs.shape[0], 1).hidden
    if layer.direction == "backward":
        before = ops.concatenate([states.hidden[:, 1:], start], axis=1)
    else:
        before = ops.concatenate([start, states.hidden[:, :-1]], axis=1)
    gates = cell.gates(cell.project(inputs), before)
    named = {name: ops.where(mask[..., None], gate, 0.0) for name, gate in gates._asdict().items()}
    named |= states._asdict()
    return GatesOverTime(**{name: ops.convert_to_numpy(array) for name, array in named.items()})


def encoder_states(model: keras.Model, source) -> dict[str, np.ndarray]:
    """The hidden states of each layer of a model's encoder, in the order in which they are made.

    Args:
        model: one with an `encoder` that gives `zoo.models.Encoded`, such as `zoo.models.Seq2Seq`, and has
            recurrent layers or Transformer blocks inside.
        source: (B, S) int, S at least 1.

    Returns:
        By the layer's name, such as `stack/forward_0` or `block_1`: (B, S, D), aligned with the source in
        either direction, zero at padding.

    Raises:
        ValueError: the encoder has no such layer.
    """
    with recording() as recorded:
        encoded: Encoded = model.encoder(ops.convert_to_tensor(source))
    present = ops.convert_to_numpy(encoded.mask)[..., None]
    states = {
        moment.path: np.where(present, ops.convert_to_numpy(moment.tensors[0]), 0)
        for moment in recorded.moments
        if moment.after and moment.kind in LAYERS
    }
    if not states:
        raise ValueError(f"{model.encoder.name} has no layer of the kinds {' and '.join(LAYERS)}.")
    return states
