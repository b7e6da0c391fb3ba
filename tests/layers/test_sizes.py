"""Sizes that no layer can have are named where they are given."""

import numpy as np
import pytest

from zoo.layers import (
    MFCC,
    AdditiveAttention,
    AdjacencyBias,
    AttentionPooling,
    DotAttention,
    GeneralAttention,
    GRUCell,
    LearnedPositions,
    LogMel,
    LSTMCell,
    MaxoutReadout,
    OneHot,
    Recurrent,
    RNNCell,
    RotaryPositions,
    ScaledDotAttention,
    SinusoidalPositions,
    TiedEmbedding,
    make_cell,
    mel_filters,
)
from zoo.layers.sizes import require_even, require_positive, require_rate


@pytest.mark.parametrize("size", [0, -1, 1.5, 2.0, "3", None])
def test_a_size_is_a_whole_number_of_at_least_1(size):
    with pytest.raises(ValueError, match=f"units must be a whole number, 1 or more, got {size!r}"):
        require_positive(width=4, units=size)


def test_what_is_right_passes():
    require_positive(units=1, width=np.int64(7))
    require_rate(dropout=0, other=0.999)
    require_even(width=4, other=0)


@pytest.mark.parametrize("rate", [1, 1.0, -0.1, 5, float("nan")])
def test_a_rate_leaves_something(rate):
    with pytest.raises(ValueError, match=f"dropout must be a rate from 0 to below 1, got {rate!r}"):
        require_rate(dropout=rate)


def test_a_pair_needs_two():
    with pytest.raises(ValueError, match=r"width must be even, .* got 5\. Give 4 or 6"):
        require_even(width=5)


WRONG = [
    *((cell, {"units": 0}, "units") for cell in (RNNCell, GRUCell, LSTMCell, Recurrent)),
    (make_cell, {"kind": "gru", "units": 0}, "units"),
    (AdditiveAttention, {"units": 0}, "units"),
    (GeneralAttention, {"units": 0}, "units"),
    (AttentionPooling, {"units": 0}, "units"),
    (OneHot, {"vocab_size": 0}, "vocab_size"),
    (TiedEmbedding, {"vocab_size": 0, "width": 4}, "vocab_size"),
    (TiedEmbedding, {"vocab_size": 4, "width": 0}, "width"),
    (LearnedPositions, {"max_length": 0}, "max_length"),
    (MaxoutReadout, {"vocab_size": 0, "units": 3}, "vocab_size"),
    (MaxoutReadout, {"vocab_size": 3, "units": 0}, "units"),
    (AdjacencyBias, {"num_edge_types": 0, "heads": 1}, "num_edge_types"),
    (AdjacencyBias, {"num_edge_types": 1, "heads": 0}, "heads"),
    (LogMel, {"sample_rate": 0}, "sample_rate"),
    (LogMel, {"sample_rate": 16_000, "bands": 0}, "bands"),
    (
        mel_filters,
        {"bands": 0, "fft_length": 8, "sample_rate": 80, "low_hertz": 1, "high_hertz": 20},
        "bands",
    ),
    (MFCC, {"coefficients": 0}, "coefficients"),
]


@pytest.mark.parametrize(
    ("make", "arguments", "name"), WRONG, ids=lambda value: getattr(value, "__name__", None)
)
def test_every_layer_asks_for_its_sizes(make, arguments, name):
    with pytest.raises(ValueError, match=rf"{name} must be a whole number, 1 or more, got 0"):
        make(**arguments)


def test_a_logarithm_needs_a_floor():
    with pytest.raises(ValueError, match="floor must be above 0, which has no logarithm, got 0"):
        LogMel(16_000, floor=0.0)


@pytest.mark.parametrize("layer", [SinusoidalPositions, RotaryPositions])
def test_an_odd_width_is_found_when_a_layer_is_built(layer):
    with pytest.raises(ValueError, match="width must be even"):
        layer().build((None, None, 5))


@pytest.mark.parametrize("layer", [DotAttention, ScaledDotAttention])
def test_unlike_sizes_are_found_when_a_layer_is_built(layer):
    message = rf"{layer.__name__} .* queries of size 4 and values of size 6\. Make them equal"
    with pytest.raises(ValueError, match=message):
        layer().build((None, None, 4), None, (None, None, 6))
