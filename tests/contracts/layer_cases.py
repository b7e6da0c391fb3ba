"""Every layer of the zoo: the next one joins by a row."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import keras
import numpy as np

from zoo.layers import (
    LSTM,
    AdditiveAttention,
    AttentiveLSTM,
    AttentiveState,
    LSTMCell,
    LSTMState,
    MaxoutReadout,
)

B, S, T = 4, 5, 3
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 0]], bool)
"""Full, right padding, padding on both sides, and no token at all."""


class LayerCase(NamedTuple):
    layer: type[keras.layers.Layer]
    arguments: Mapping[str, Any]
    """All of its own arguments, each with a value that is not its default."""
    inputs: Mapping[str, Any]
    """What it is called with, by name; `mask` is over axis 1 of the inputs in `padded`."""
    padded: tuple[str, ...] = ()
    build: Callable[[Any], None] = lambda layer: None
    """For a layer that its first call cannot build."""
    run: Callable[..., Any] = lambda layer, inputs: layer(**inputs)
    """As a model uses it, with every weight at work."""
    zero_gradients: tuple[str, ...] = ()
    """Weights whose gradient is zero by theory."""


def _numbers(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype("float32")


def _attend(layer, inputs):
    return layer(**{**inputs, "keys": layer.project_keys(inputs["values"])})


def _decode(layer, inputs):
    return layer(**{**inputs, "keys": layer.attention.project_keys(inputs["values"])})


LAYERS = {
    "LSTMCell": LayerCase(
        LSTMCell,
        {"units": 3},
        {"projected": _numbers(B, 12), "state": LSTMState(_numbers(B, 3), _numbers(B, 3) / 2)},
        build=lambda layer: layer.build((None, 12)),
        run=lambda layer, inputs: layer(layer.project(inputs["projected"]), inputs["state"]),
    ),
    "LSTM": LayerCase(
        LSTM, {"units": 3, "direction": "backward"}, {"inputs": _numbers(B, S, 2), "mask": MASK}, ("inputs",)
    ),
    "AdditiveAttention": LayerCase(
        AdditiveAttention,
        {"units": 6},
        {"query": _numbers(B, T, 4), "keys": _numbers(B, S, 6), "values": _numbers(B, S, 3), "mask": MASK},
        ("keys", "values"),
        run=_attend,
    ),
    "AttentiveLSTM": LayerCase(
        AttentiveLSTM,
        {"units": 4, "attention_units": 6},
        {
            "inputs": _numbers(B, T, 2),
            "state": AttentiveState(_numbers(B, 1, 4), _numbers(B, 1, 4) / 2, _numbers(B, 1, 3)),
            "keys": _numbers(B, S, 6),
            "values": _numbers(B, S, 3),
            "mask": MASK,
        },
        ("keys", "values"),
        run=_decode,
    ),
    "MaxoutReadout": LayerCase(MaxoutReadout, {"vocab_size": 5, "units": 3}, {"inputs": _numbers(B, T, 4)}),
}
