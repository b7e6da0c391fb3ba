"""Every layer of the zoo: the next one joins by a row."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import keras
import numpy as np
from keras import ops

from zoo.layers import (
    MFCC,
    AdditiveAttention,
    AdjacencyBias,
    AttentionPooling,
    CausalBlock,
    DecoderBlock,
    DotAttention,
    EncoderBlock,
    FeedForward,
    FrameNormalization,
    FrameStatistics,
    GeneralAttention,
    GRUCell,
    HiddenState,
    KeysValues,
    LayerNorm,
    LearnedPositions,
    LogMel,
    LSTMCell,
    LSTMState,
    MaxoutReadout,
    MultiHeadAttention,
    OneHot,
    Pooling,
    Projection,
    Recurrent,
    RecurrentStack,
    RNNCell,
    RotaryPositions,
    ScaledDotAttention,
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
    """What it is called with, by name."""
    padded: tuple[str, ...] = ()
    """Inputs (B, ..., S, D) whose padding, where `MASK` is False, may hold anything."""
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


def _step(layer, inputs):
    return layer(layer.project(inputs["projected"]), inputs["state"])


def _attend(layer, inputs):
    return layer(**{**inputs, "keys": layer.project_keys(inputs["values"])})


def _attend_with_heads(layer, inputs):
    return layer(**{**inputs, "memory": layer.project(_without_heads(inputs["memory"].values))})


def _read(layer, inputs):
    return layer(**{**inputs, "memory": layer.project_memory(_without_heads(inputs["memory"].values))})


def _without_heads(vectors):
    """(B, H, S, D / H) to (B, S, D)."""
    vectors = ops.swapaxes(vectors, 1, 2)
    return ops.reshape(vectors, (*ops.shape(vectors)[:2], 4))


def _where_seen(layer, inputs):
    outputs = layer(**inputs)
    seen = ops.cast(inputs["mask"][:, 0, :, None], "bool")
    return ops.where(seen, outputs, ops.zeros_like(outputs))


def _cell(cell, state, products):
    return LayerCase(
        cell,
        {"units": 3},
        {"projected": _numbers(B, 3 * products), "state": state},
        build=lambda layer: layer.build_for(3 * products),
        run=_step,
    )


def _sequence(layer, arguments):
    return LayerCase(layer, arguments, {"inputs": _numbers(B, S, 2), "mask": MASK}, ("inputs",))


def _pooling(kind):
    return LayerCase(
        Pooling, {"kind": kind}, {"inputs": _numbers(B, S, 3), "mask": MASK}, ("inputs",), learns=False
    )


def _attention(layer, units=None):
    """Queries and values of unlike sizes where the attention has `units` to make them comparable."""
    width = 3 if units is None else 4
    inputs = {
        "query": _numbers(B, T, width),
        "keys": _numbers(B, S, units or width),
        "values": _numbers(B, S, 3),
        "mask": MASK,
    }
    return LayerCase(
        layer,
        {} if units is None else {"units": units},
        inputs,
        ("keys", "values"),
        run=_attend,
        learns=units is not None,
    )


def _heads(normalization):
    return LayerCase(
        MultiHeadAttention,
        {"width": 4, "heads": 2, "normalization": normalization, "dropout": 0.3},
        {"query": _numbers(B, T, 4), "memory": _memory(), "mask": MASK[:, None, :]},
        ("memory",),
        build=lambda layer: layer.build_for(4),
        run=_attend_with_heads,
    )


def _feed_forward(activation):
    return LayerCase(
        FeedForward,
        {"width": 4, "units": 6, "activation": activation, "dropout": 0.3},
        {"inputs": _numbers(B, T, 4)},
    )


def _block(**own):
    rates = {"dropout": 0.3, "attention_dropout": 0.2, "activation_dropout": 0.1}
    return {"width": 4, "heads": 2, "units": 6, **rates, **own}


def _encoder_block(**own):
    inputs = {"inputs": _numbers(B, S, 4), "mask": MASK[:, None, :]}
    return LayerCase(EncoderBlock, _block(**own), inputs, ("inputs",), run=_where_seen)


def _causal_block(**own):
    case = _encoder_block(**own)
    return case._replace(
        layer=CausalBlock,
        run=lambda layer, inputs: _where_seen(lambda **inputs: layer(**inputs)[0], inputs),
    )


def _decoder_block(**own):
    inputs = {
        "inputs": _numbers(B, T, 4),
        "mask": np.tile(np.tri(T, dtype=bool), (B, 1, 1)),
        "memory": _memory(),
        "memory_mask": MASK[:, None, :],
    }
    return LayerCase(
        DecoderBlock, _block(**own), inputs, ("memory",), build=lambda layer: layer.build_for(4), run=_read
    )


def _memory():
    return KeysValues(_numbers(B, 2, S, 2), _numbers(B, 2, S, 2) / 2)


LAYERS = {
    "RNNCell": _cell(RNNCell, HiddenState(_numbers(B, 3)), 1),
    "GRUCell": _cell(GRUCell, HiddenState(_numbers(B, 3)), 3),
    "LSTMCell": _cell(LSTMCell, LSTMState(_numbers(B, 3), _numbers(B, 3) / 2), 4),
    "Recurrent-rnn": _sequence(
        Recurrent, {"units": 3, "cell": "rnn", "direction": "backward", "loop": "scan"}
    ),
    "Recurrent-gru": _sequence(
        Recurrent, {"units": 3, "cell": "gru", "direction": "backward", "loop": "keras"}
    ),
    "Recurrent-lstm": _sequence(Recurrent, {"units": 3, "direction": "backward", "loop": "keras"}),
    "RecurrentStack-all-options": _sequence(
        RecurrentStack,
        {
            "units": 3,
            "cell": "gru",
            "depth": 2,
            "direction": "bidirectional",
            "dropout": 0.3,
            "residual": True,
            "layer_norm": True,
            "loop": "keras",
        },
    ),
    "RecurrentStack-backward": _sequence(
        RecurrentStack, {"units": 3, "cell": "rnn", "depth": 3, "direction": "backward", "residual": True}
    ),
    "RecurrentStack-lstm": _sequence(RecurrentStack, {"units": 3, "layer_norm": True}),
    "AdditiveAttention": _attention(AdditiveAttention, 6),
    "DotAttention": _attention(DotAttention),
    "ScaledDotAttention": _attention(ScaledDotAttention),
    "GeneralAttention": _attention(GeneralAttention, 4),
    "Pooling-mean": _pooling("mean"),
    "Pooling-max": _pooling("max"),
    "Pooling-first": _pooling("first"),
    "Pooling-last": _pooling("last"),
    "AttentionPooling": LayerCase(
        AttentionPooling, {"units": 4}, {"inputs": 2 * _numbers(B, S, 2), "mask": MASK}, ("inputs",)
    ),
    "MultiHeadAttention-softmax": _heads("softmax"),
    "MultiHeadAttention-relu": _heads("relu"),
    "Projection": LayerCase(
        Projection, {"units": 3, "activation": "tanh", "use_bias": False}, {"inputs": _numbers(B, T, 4)}
    ),
    "LayerNorm": LayerCase(LayerNorm, {"epsilon": 0.01}, {"inputs": _numbers(B, T, 4)}),
    "FeedForward-relu": _feed_forward("relu"),
    "FeedForward-gelu": _feed_forward("gelu"),
    "FeedForward-glu": _feed_forward("glu"),
    "EncoderBlock-post": _encoder_block(activation="gelu"),
    "EncoderBlock-pre": _encoder_block(norm="pre", activation="glu", normalization="relu"),
    "CausalBlock-post": _causal_block(activation="gelu"),
    "CausalBlock-pre": _causal_block(norm="pre", activation="glu", normalization="relu"),
    "DecoderBlock-post": _decoder_block(activation="gelu"),
    "DecoderBlock-pre": _decoder_block(norm="pre", activation="glu", normalization="relu"),
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
