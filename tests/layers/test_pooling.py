import numpy as np
import pytest
import tensorflow as tf
from equations import attention_pooling

from zoo.layers import AttentionPooling, Pooling

KINDS = ("mean", "max", "first", "last")
random = np.random.default_rng(2)
MASK = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0]], bool)
INPUTS = random.normal(size=(4, 4, 3)).astype("float32") - 5  # a zero from padding would be the greatest

TRUTH = {
    "mean": lambda tokens: tokens.mean(axis=0),
    "max": lambda tokens: tokens.max(axis=0),
    "first": lambda tokens: tokens[0],
    "last": lambda tokens: tokens[-1],
}


@pytest.fixture(scope="module")
def attention():
    layer = AttentionPooling(5)
    layer.build((None, None, 3))
    layer.set_weights([random.normal(size=weight.shape) for weight in layer.weights])
    return layer


@pytest.mark.parametrize("kind", KINDS)
def test_equals_numpy_over_the_tokens_of_each_row(kind):
    found = Pooling(kind)(INPUTS, MASK)
    for row in range(3):
        np.testing.assert_allclose(found[row], TRUTH[kind](INPUTS[row, MASK[row]]), rtol=1e-6)


def test_attention_equals_the_equations(attention):
    query, kernel, bias = attention.get_weights()
    found, alignment = attention(INPUTS, MASK), attention.alignment(INPUTS, MASK).numpy()
    for row in range(3):
        tokens = INPUTS[row, MASK[row]]
        weights = attention_pooling(tokens, kernel, bias, query[:, 0])
        np.testing.assert_allclose(alignment[row, MASK[row]], weights, atol=1e-6)
        np.testing.assert_allclose(found[row], weights @ tokens, rtol=1e-5)
    assert (alignment[~MASK] == 0).all()


def test_attention_by_hand():
    # u_t = tanh(2 h_t - 1) = tanh(-1), tanh(1) = -0.76159, 0.76159; exp of these 0.46692 and 2.14169.
    layer = AttentionPooling(1)
    layer.build((None, None, 1))
    layer.set_weights([np.array([[1.0]]), np.array([[2.0]]), np.array([-1.0])])  # q, W, b
    inputs, mask = np.array([[[0.0], [1.0], [7.0]]], "float32"), np.array([[True, True, False]])
    np.testing.assert_allclose(layer.alignment(inputs, mask), [[0.178996, 0.821004, 0]], atol=1e-5)
    np.testing.assert_allclose(layer(inputs, mask), [[0.821004]], atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "mixed_float16", "mixed_bfloat16"])
def test_a_row_without_tokens_gives_zeros_in_every_dtype(dtype):
    garbage = np.where(MASK[..., None], INPUTS, np.nan).astype("float32")
    for layer in (*(Pooling(kind, dtype=dtype) for kind in KINDS), AttentionPooling(5, dtype=dtype)):
        found = tf.cast(layer(garbage, MASK), tf.float32).numpy()
        assert (found[3] == 0).all()
        assert np.isfinite(found).all()
        assert (found[:3] < -1).all()


def test_the_mean_of_a_long_text_stays_within_float16():
    inputs = np.full((1, 4000, 1), 100.0, "float16")  # their sum is 400,000, float16 ends at 65,504
    found = Pooling("mean", dtype="float16")(inputs, np.ones((1, 4000), bool))
    assert found.dtype == tf.float16
    np.testing.assert_array_equal(found, [[100.0]])


@pytest.mark.parametrize("kind", ["first", "last"])
def test_the_gradient_goes_to_one_position(kind):
    inputs = tf.constant(INPUTS)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        total = tf.reduce_sum(Pooling(kind)(inputs, MASK))
    seen = tape.gradient(total, inputs).numpy().any(axis=-1)
    place = {"first": [0, 0, 1], "last": [3, 1, 2]}[kind]
    np.testing.assert_array_equal(seen, [*np.eye(4, dtype=bool)[place], [False] * 4])


def test_lengths_that_the_graph_does_not_know():
    specs = [tf.TensorSpec([None, None, 3]), tf.TensorSpec([None, None], tf.bool)]
    for kind in KINDS:
        layer = Pooling(kind)
        traced = tf.function(layer, input_signature=specs)
        np.testing.assert_allclose(traced(INPUTS, MASK), layer(INPUTS, MASK), rtol=1e-6)


def test_an_unknown_kind():
    with pytest.raises(ValueError, match="kind must be one of mean, max, first, last, got 'sum'"):
        Pooling("sum")
