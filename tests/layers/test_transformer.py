import numpy as np
import pytest
import tensorflow as tf
from equations import feed_forward, multi_head, residual, rotary_matrix

from zoo.layers import (
    CausalBlock,
    DecoderBlock,
    EncoderBlock,
    FeedForward,
    KeysValues,
    Place,
    RotaryPositions,
)

WIDTH, HEADS, UNITS, MEMORY = 4, 2, 5, 3
B, T, S = 3, 4, 5
random = np.random.default_rng(6)
INPUTS = random.normal(size=(B, T, WIDTH)).astype("float32")
SOURCE = random.normal(size=(B, S, WIDTH)).astype("float32")
VALUES = random.normal(size=(B, S, MEMORY)).astype("float32")
MASK = np.array([[1, 1, 1, 1, 1], [0, 1, 1, 0, 0], [0, 0, 0, 0, 0]], bool)[:, None, :]
CAUSAL = np.tri(T, dtype=bool)
ROTARY = RotaryPositions()
ACTIVATIONS = ("relu", "gelu", "glu")
each_norm = pytest.mark.parametrize("norm", ["pre", "post"])
each_way = pytest.mark.parametrize(
    ("norm", "activation", "normalization", "turned"),
    [
        ("post", "relu", "softmax", False),
        ("pre", "gelu", "softmax", True),
        ("post", "glu", "relu", True),
        ("pre", "glu", "relu", False),
    ],
)


def made(block, memory_width=WIDTH, **kwargs):
    layer = block(WIDTH, heads=HEADS, units=UNITS, **kwargs)
    layer.build_for(memory_width)
    layer.set_weights([random.normal(size=w.shape) for w in layer.weights])
    return layer


def turn(vector, t):
    return rotary_matrix(t, WIDTH // HEADS) @ vector


def by_the_equations(layer, x, mask, memory=None, memory_mask=None, turned=False):
    """One sequence (T, D) through the sub-layers of a block, one after the other."""

    def attention(name, memory, mask, turn=None):
        weights = layer.attentions[name].get_weights()
        return lambda x: multi_head(
            x, x if memory is None else memory, mask, weights, HEADS, layer.normalization, turn
        )[0]

    def network(x):
        return feed_forward(x, layer.feed_forward.get_weights(), layer.activation)

    sublayers = {"self_attention": attention("self_attention", None, mask, turn if turned else None)}
    if memory is not None:
        sublayers["cross_attention"] = attention("cross_attention", memory, memory_mask)
    for name, sublayer in {**sublayers, "feed_forward": network}.items():
        x = residual(x, sublayer, *layer.norms[name].get_weights(), layer.norm)
    return x


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_feed_forward_equals_the_equations(activation):
    layer = FeedForward(WIDTH, units=UNITS, activation=activation)
    layer.build()
    layer.set_weights([random.normal(size=w.shape) for w in layer.weights])
    expected = feed_forward(INPUTS, layer.get_weights(), activation)
    np.testing.assert_allclose(layer(INPUTS), expected, atol=1e-5)


def test_feed_forward_by_hand():
    """One unit, hidden layers h = 1 and -1 (of glu: gate and unit both): gelu(1) = 0.841345."""
    for activation, expected in [
        ("relu", [1, 0]),
        ("gelu", [0.841345, -0.158655]),
        ("glu", [0.841345, 0.158655]),
    ]:
        layer = FeedForward(1, units=1, activation=activation)
        layer.build()
        layer.set_weights([np.full(w.shape, float(w.ndim == 2)) for w in layer.get_weights()])
        np.testing.assert_allclose(layer(np.array([[1.0], [-1.0]]))[:, 0], expected, atol=1e-5)


@each_way
def test_encoder_block_equals_the_equations(norm, activation, normalization, turned):
    layer = made(EncoderBlock, norm=norm, activation=activation, normalization=normalization)
    found = layer(SOURCE, MASK, turn=ROTARY if turned else None)
    for b in range(B):
        mask = np.broadcast_to(MASK[b], (S, S))
        expected = by_the_equations(layer, SOURCE[b], mask, turned=turned)
        np.testing.assert_allclose(found[b], expected, rtol=1e-5, atol=1e-5)


@each_way
def test_decoder_block_equals_the_equations(norm, activation, normalization, turned):
    layer = made(DecoderBlock, MEMORY, norm=norm, activation=activation, normalization=normalization)
    memory, turning = layer.project_memory(VALUES), ROTARY if turned else None
    found = layer(INPUTS, CAUSAL, memory, MASK, turn=turning)
    alignment = layer.alignment(INPUTS, CAUSAL, memory, MASK, turn=turning)
    for b in range(B):
        mask = np.broadcast_to(MASK[b], (T, S))
        expected = by_the_equations(layer, INPUTS[b], CAUSAL, VALUES[b], mask, turned)
        np.testing.assert_allclose(found[b], expected, rtol=1e-5, atol=1e-5)
        assert not np.any(np.asarray(alignment[b])[~mask])
    if normalization == "softmax":
        np.testing.assert_allclose(tf.reduce_sum(alignment, -1), MASK.any(-1) * np.ones((B, T)), atol=1e-6)


@each_way
def test_causal_block_equals_the_equations(norm, activation, normalization, turned):
    layer = made(CausalBlock, norm=norm, activation=activation, normalization=normalization)
    found, _ = layer(INPUTS, np.tile(CAUSAL, (B, 1, 1)), turn=ROTARY if turned else None)
    for b in range(B):
        np.testing.assert_allclose(
            found[b], by_the_equations(layer, INPUTS[b], CAUSAL, turned=turned), rtol=1e-5, atol=1e-5
        )


@each_norm
def test_decoder_alignment_is_the_mean_over_heads_of_the_cross_attention(norm):
    layer = made(DecoderBlock, MEMORY, norm=norm)
    memory = layer.project_memory(VALUES)
    found = layer.alignment(INPUTS, CAUSAL, memory, MASK)
    own, cross = (layer.attentions[name].get_weights() for name in layer.sublayers)
    for b in range(B):
        x = residual(
            INPUTS[b],
            lambda x: multi_head(x, x, CAUSAL, own, HEADS)[0],
            *layer.norms["self_attention"].get_weights(),
            norm,
        )
        asked = []

        def look(x, b=b, asked=asked):
            asked.append(multi_head(x, VALUES[b], np.broadcast_to(MASK[b], (T, S)), cross, HEADS))
            return asked[0][0]

        residual(x, look, *layer.norms["cross_attention"].get_weights(), norm)
        np.testing.assert_allclose(found[b], asked[0][1].mean(axis=0), atol=1e-5)


@each_norm
def test_steps_of_hypotheses_equal_the_whole_pass_of_each(norm):
    layer = made(DecoderBlock, MEMORY, norm=norm, activation="gelu")
    hypotheses = random.normal(size=(B, 2, T, WIDTH)).astype("float32")
    memory = layer.project_memory(VALUES)
    empty = np.zeros((B, 2, HEADS, T + 2, WIDTH // HEADS), "float32")
    cache = KeysValues(empty, empty)
    whole = [layer(hypotheses[:, k], CAUSAL, memory, MASK, turn=ROTARY) for k in range(2)]
    for t in range(T):
        position, place = tf.constant(t), Place.of(t, B * 2 * HEADS, T + 2)
        rows = hypotheses[:, :, t].reshape(-1, WIDTH)
        found, cache = layer.step(rows, place, cache, memory, MASK, turn=lambda x, t=position: ROTARY(x, t))
        for k in range(2):
            np.testing.assert_allclose(found[k::2], whole[k][:, t], atol=1e-5)
    assert cache.keys.shape == empty.shape
    assert not np.any(cache.values[..., T:, :])


def test_a_cache_may_hold_anything_where_it_is_not_filled():
    layer = made(DecoderBlock, MEMORY)
    memory = layer.project_memory(VALUES)
    shape = (B, 2, HEADS, T, WIDTH // HEADS)
    rows = INPUTS[:, :2].reshape(-1, WIDTH)
    found = [
        layer.step(rows, Place.of(0, B * 2 * HEADS, T), KeysValues(filling, filling), memory, MASK)[0]
        for filling in (np.zeros(shape, "float32"), np.full(shape, 1e4, "float32"))
    ]
    np.testing.assert_array_equal(*found)


@each_norm
def test_residual_connection_of_a_new_block(norm):
    """With all results of sub-layers zero, pre-norm hands its input through, post-norm normalises it."""
    layer = made(EncoderBlock, norm=norm)
    layer.set_weights([np.full(w.shape, float("gamma" in w.name)) for w in layer.weights])
    expected = (
        SOURCE if norm == "pre" else (SOURCE - SOURCE.mean(-1, keepdims=True)) / SOURCE.std(-1)[..., None]
    )
    np.testing.assert_allclose(layer(SOURCE, MASK), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rate", ["dropout", "attention_dropout", "activation_dropout"])
def test_dropout_works_in_training_alone(rate):
    layer = made(EncoderBlock, **{rate: 0.5})
    assert np.abs(layer(SOURCE, MASK, training=True) - layer(SOURCE, MASK)).max() > 0.01
    np.testing.assert_array_equal(layer(SOURCE, MASK), layer(SOURCE, MASK))


def test_arguments_that_cannot_be():
    with pytest.raises(ValueError, match=r"activation must be one of relu, gelu, glu, got 'tanh'"):
        FeedForward(4, units=5, activation="tanh")
    for block in (EncoderBlock, DecoderBlock):
        with pytest.raises(ValueError, match=r"norm must be one of pre, post, got 'sandwich'"):
            block(4, heads=2, units=5, norm="sandwich")
        with pytest.raises(ValueError, match="3 heads do not divide a width of 4"):
            block(4, heads=3, units=5)
