"""Sizes that make no sense are named by the constructor."""

import pytest

from zoo.layers import DecoderBlock, EncoderBlock, FeedForward, MultiHeadAttention, RecurrentStack
from zoo.models import TransformerDecoder, TransformerEncoder

BLOCK = {"width": 4, "heads": 2, "units": 6}
STACK = {"vocab_size": 9, "depth": 1, **BLOCK}


@pytest.mark.parametrize(
    ("layer", "arguments", "wrong", "message"),
    [
        (MultiHeadAttention, {"width": 4, "heads": 2}, {"heads": 0}, "heads must be a whole number"),
        (MultiHeadAttention, {"width": 4, "heads": 2}, {"dropout": 1.0}, "dropout must be a rate"),
        (FeedForward, {"width": 4, "units": 6}, {"units": 0}, "units must be a whole number"),
        (FeedForward, {"width": 4, "units": 6}, {"dropout": -0.1}, "dropout must be a rate"),
        (EncoderBlock, BLOCK, {"units": -1}, "units must be a whole number"),
        (DecoderBlock, BLOCK, {"dropout": 2}, "dropout must be a rate"),
        (RecurrentStack, {"units": 3}, {"depth": 0}, "depth must be a whole number"),
        (RecurrentStack, {"units": 3}, {"dropout": 1}, "dropout must be a rate"),
        (TransformerEncoder, STACK, {"depth": 0}, "depth must be a whole number"),
        (TransformerEncoder, STACK, {"max_length": 0}, "max_length must be a whole number"),
        (TransformerDecoder, STACK, {"dropout": 1.5}, "dropout must be a rate"),
        (TransformerDecoder, STACK, {"vocab_size": 0}, "vocab_size must be a whole number"),
    ],
)
def test_a_size_without_sense_is_named(layer, arguments, wrong, message):
    layer(**arguments)
    with pytest.raises(ValueError, match=message):
        layer(**{**arguments, **wrong})


@pytest.mark.parametrize(("positions", "width", "heads"), [("rotary", 6, 2), ("sinusoidal", 5, 1)])
def test_an_odd_width_is_named_when_weights_are_made(positions, width, heads):
    encoder = TransformerEncoder(9, width, depth=1, heads=heads, units=6, positions=positions)
    with pytest.raises(ValueError, match="must be even"):
        encoder.build()
