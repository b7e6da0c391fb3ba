"""Every layer of the zoo: the next one joins by a row."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import keras
import numpy as np

from zoo.layers import (
    LSTM,
    MFCC,
    AdditiveAttention,
    AdjacencyBias,
    AttentiveLSTM,
    AttentiveState,
    FrameNormalization,
    FrameStatistics,
    LearnedPositions,
    LogMel,
    LSTMCell,
    LSTMState,
    MaxoutReadout,
    OneHot,
    RotaryPositions,
    SinusoidalPositions,
    TiedEmbedding,
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
    learns: bool = True
    """It has weights to train."""


def _numbers(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype("float32")


def _ids(*shape, below):
    return np.random.default_rng(sum(shape)).integers(0, below, size=shape, dtype="int32")


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
    "OneHot": LayerCase(OneHot, {"vocab_size": 7}, {"ids": _ids(B, S, below=7)}, learns=False),
    "TiedEmbedding": LayerCase(
        TiedEmbedding,
        {"vocab_size": 7, "width": 4, "scaling": "none"},
        {"ids": _ids(B, S, below=7)},
        run=lambda layer, inputs: layer.logits(layer(**inputs)),
    ),
    "SinusoidalPositions": LayerCase(
        SinusoidalPositions, {"base": 50.0}, {"inputs": _numbers(B, S, 4)}, learns=False
    ),
    "LearnedPositions": LayerCase(LearnedPositions, {"max_length": 8}, {"inputs": _numbers(B, S, 4) / 10}),
    "RotaryPositions": LayerCase(
        RotaryPositions,
        {"base": 50.0},
        {"inputs": _numbers(B, 2, S, 4), "positions": _ids(B, 1, S, below=9)},
        learns=False,
    ),
    "LogMel": LayerCase(
        LogMel,
        {
            "sample_rate": 400,
            "window_seconds": 0.04,
            "hop_seconds": 0.02,
            "bands": 3,
            "low_hertz": 30.0,
            "high_hertz": 150.0,
            "floor": 1e-3,
        },
        {"waveform": _numbers(B, 40), "mask": np.arange(40) < np.array([[40], [23], [16], [0]])},
        learns=False,
    ),
    "MFCC": LayerCase(MFCC, {"coefficients": 3}, {"inputs": _numbers(B, S, 5)}, learns=False),
    "FrameNormalization": LayerCase(
        FrameNormalization,
        {},
        {"inputs": _numbers(B, S, 3), "mask": MASK},
        ("inputs",),
        build=lambda layer: layer.set_statistics(FrameStatistics(_numbers(3), np.array([0.5, 1.0, 4.0]))),
        learns=False,
    ),
    "AdjacencyBias": LayerCase(
        AdjacencyBias, {"num_edge_types": 3, "heads": 2}, {"edge_types": _ids(B, S, S, below=3)}
    ),
}
