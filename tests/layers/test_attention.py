import numpy as np
import pytest
import tensorflow as tf
from equations import additive_energies, dot_energies, general_energies, scaled_dot_energies, softmax

from zoo.layers import (
    AdditiveAttention,
    DotAttention,
    GeneralAttention,
    ScaledDotAttention,
    masked_softmax,
)

HALVES = ("float16", "bfloat16")
random = np.random.default_rng(1)

VALUES = random.normal(size=(4, 5, 3)).astype("float32")
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 1, 0, 1, 0], [0, 0, 0, 0, 0]], bool)


def additive(layer, query, values):
    kernels = layer.query_projection.kernel.numpy(), layer.key_projection.kernel.numpy()
    return additive_energies(query, values, *kernels, layer.score_vector.numpy()[:, 0])


def general(layer, query, values):
    return general_energies(query, values, layer.key_projection.kernel.numpy())


KINDS = {
    "additive": (lambda **kwargs: AdditiveAttention(6, **kwargs), 4, additive),
    "dot": (DotAttention, 3, lambda layer, query, values: dot_energies(query, values)),
    "scaled dot": (ScaledDotAttention, 3, lambda layer, query, values: scaled_dot_energies(query, values)),
    "general": (lambda **kwargs: GeneralAttention(4, **kwargs), 4, general),
}
"""How each is made, the size of its queries, and its scores by the equations."""

each_kind = pytest.mark.parametrize("kind", KINDS)


def made(kind, **kwargs):
    make, width, _ = KINDS[kind]
    layer = make(**kwargs)
    layer.build((None, None, width), None, VALUES.shape)
    layer.set_weights([random.normal(size=w.shape) for w in layer.weights])
    return layer, random.normal(size=(4, 2, width)).astype("float32")


@each_kind
def test_alignment_and_context_equal_the_equations(kind):
    layer, queries = made(kind)
    keys = layer.project_keys(VALUES)
    scores = layer.scores(queries, keys)
    alignment = layer.alignment(queries, keys, MASK).numpy()
    contexts = layer(queries, keys, VALUES, MASK).numpy()
    for b, q in np.ndindex(4, 2):
        energies, expected = KINDS[kind][2](layer, queries[b, q], VALUES[b]), np.zeros(5)
        np.testing.assert_allclose(scores[b, q], energies, atol=1e-5)
        if MASK[b].any():
            expected[MASK[b]] = softmax(energies[MASK[b]])
        np.testing.assert_allclose(alignment[b, q], expected, atol=1e-5)
        np.testing.assert_allclose(contexts[b, q], expected @ VALUES[b], atol=1e-5)
    assert (alignment[~np.broadcast_to(MASK[:, None], alignment.shape)] == 0).all()
    assert not np.any(contexts[3])


def test_additive_scores_of_the_lecture_notes():
    """5 states S of an encoder, 4 states H of a decoder, all of size 8: e = v . tanh(S W_s + H W_h)."""
    random = np.random.RandomState(42)
    length, queries, d = 5, 4, 8
    encoder, decoder = random.randn(length, d), random.randn(queries, d)
    w_s, w_h, v = random.randn(d, d), random.randn(d, d), random.randn(d)
    energies = np.zeros((queries, length))
    for t in range(queries):
        for s in range(length):
            energies[t, s] = np.dot(v, np.tanh(np.dot(encoder[s], w_s) + np.dot(decoder[t], w_h)))
    alignment = np.exp(energies) / np.exp(energies).sum(axis=1, keepdims=True)

    layer = AdditiveAttention(d)
    layer.build((None, None, d), None, (None, None, d))
    layer.query_projection.set_weights([w_h])
    layer.key_projection.set_weights([w_s])
    layer.score_vector.assign(v[:, None])
    values, query, mask = (
        encoder[None].astype("float32"),
        decoder[None].astype("float32"),
        np.ones((1, 5), bool),
    )
    keys = layer.project_keys(values)
    np.testing.assert_allclose(layer.scores(query, keys)[0], energies, atol=1e-5)
    np.testing.assert_allclose(layer.alignment(query, keys, mask)[0], alignment, atol=1e-5)
    np.testing.assert_allclose(layer(query, keys, values, mask)[0], alignment @ encoder, atol=1e-5)


def test_additive_by_hand():
    # One unit: scores are tanh(q + h), here tanh(0) = 0 and tanh(1) = 0.76159; exp of these 1 and 2.14168.
    layer = AdditiveAttention(1)
    layer.build((None, None, 1), (None, None, 1), (None, None, 1))
    layer.set_weights([np.ones((1, 1))] * 3)
    values = np.array([[[-1.0], [0.0], [9.0]]], "float32")
    mask = np.array([[True, True, False]])
    keys = layer.project_keys(values)
    query = np.array([[[1.0]]], "float32")

    np.testing.assert_allclose(layer.alignment(query, keys, mask), [[[0.318300, 0.681700, 0]]], atol=1e-5)
    np.testing.assert_allclose(layer(query, keys, values, mask), [[[-0.318300]]], atol=1e-5)


def test_products_by_hand():
    """Query (2, 0), values (1, 0) and (0, 1): scores 2 and 0, or over the root of 2, 1.41421 and 0."""
    query, values, mask = (
        np.array([[[2.0, 0]]]),
        np.array([[[1.0, 0], [0, 1], [7, 7]]]),
        [[True, True, False]],
    )
    query, values, mask = query.astype("float32"), values.astype("float32"), np.array(mask)
    general = GeneralAttention(2)
    general.build(query.shape, None, values.shape)
    general.key_projection.set_weights([np.array([[0.0, 1], [0.5, 0]])])  # scores 0 and 1: s . W h
    for layer, first in [(DotAttention(), 0.880797), (ScaledDotAttention(), 0.804430), (general, 0.268941)]:
        contexts = layer(query, layer.project_keys(values), values, mask)
        np.testing.assert_allclose(contexts, [[[first, 1 - first]]], atol=1e-5)


def test_the_scale_keeps_the_variance_of_scores():
    random = np.random.default_rng(0)
    for width in (4, 256):
        query, keys = random.normal(size=(2, 8, 200, width)).astype("float32")
        assert np.var(DotAttention().scores(query, keys)) == pytest.approx(width, rel=0.05)
        assert np.var(ScaledDotAttention().scores(query, keys)) == pytest.approx(1, rel=0.05)


@each_kind
def test_queries_are_independent(kind):
    """A step of K hypotheses equals K steps of one."""
    layer, queries = made(kind)
    keys = layer.project_keys(VALUES)
    together = layer(queries, keys, VALUES, MASK)
    for q in range(2):
        alone = layer(queries[:, q : q + 1], keys, VALUES, MASK)
        np.testing.assert_allclose(together[:, q], alone[:, 0], atol=1e-6)


@pytest.mark.parametrize("kind", ["additive", "general"])
def test_keys_can_be_made_before_the_first_call_with_the_same_weights(kind):
    make, width, _ = KINDS[kind]
    layer = make()
    keys = layer.project_keys(VALUES)
    layer(tf.zeros([4, 1, width]), keys, VALUES, MASK)

    assert len(layer.weights) == {"additive": 3, "general": 1}[kind]
    np.testing.assert_array_equal(layer.project_keys(VALUES), keys)


def test_sizes_that_do_not_fit():
    with pytest.raises(ValueError, match=r"DotAttention .* of size 4 and values of size 3.*General"):
        DotAttention()(tf.zeros([4, 1, 4]), VALUES, VALUES, MASK)
    with pytest.raises(ValueError, match="Queries of size 4 do not fit keys of size 3"):
        GeneralAttention(3)(tf.zeros([4, 1, 4]), VALUES, VALUES, MASK)


@each_kind
@pytest.mark.parametrize("dtype", ["float32", *HALVES])
def test_a_memory_without_any_token_gives_zeros_and_finite_gradients(kind, dtype):
    layer, _ = made(kind, dtype=dtype)
    query = tf.fill([2, 1, KINDS[kind][1]], tf.constant(-8.0, dtype))
    values = tf.Variable(tf.fill([2, 3, 3], tf.constant(8.0, dtype)))
    mask = tf.constant([[False] * 3, [True, False, False]])
    with tf.GradientTape() as tape:
        contexts = layer(query, layer.project_keys(values), values, mask)
        alignment = layer.alignment(query, layer.project_keys(values), mask)
        total = tf.reduce_sum(contexts) + tf.reduce_sum(alignment)
    gradients = tape.gradient(total, [values, *layer.trainable_variables])

    np.testing.assert_array_equal(tf.cast(contexts, tf.float32)[0], np.zeros((1, 3)))
    np.testing.assert_array_equal(tf.cast(alignment, tf.float32)[0], np.zeros((1, 3)))
    np.testing.assert_array_equal(tf.cast(contexts, tf.float32)[1], np.full((1, 3), 8.0))
    for gradient in gradients:
        assert np.isfinite(tf.cast(gradient, tf.float32)).all()
    assert contexts.dtype == alignment.dtype == dtype


@pytest.mark.parametrize("dtype", ["float32", *HALVES])
def test_softmax_selects_and_does_not_add(dtype):
    """Scores far below any large negative number that could be added, and scores near the end of the type."""
    scores = tf.constant(
        [[-40_000.0, 60_000.0, 3.0], [60_000.0, 60_000.0, -60_000.0], [1.0, 2.0, 3.0]], dtype
    )
    mask = tf.constant([[True, False, False], [True, True, True], [False, False, False]])
    weights = tf.cast(masked_softmax(scores, mask), tf.float32)
    np.testing.assert_array_equal(weights, [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 0]])


def test_softmax_equals_the_plain_one_where_all_may_be_seen():
    scores = random.normal(size=(4, 7)).astype("float32") * 5
    np.testing.assert_allclose(
        masked_softmax(scores, np.ones((4, 7), bool)), tf.nn.softmax(scores), atol=1e-6
    )
    np.testing.assert_allclose(
        masked_softmax(scores, np.ones((1, 7), bool)), tf.nn.softmax(scores), atol=1e-6
    )


def test_softmax_over_no_positions_at_all():
    assert masked_softmax(np.zeros((2, 0), "float32"), np.zeros((2, 0), bool)).shape == (2, 0)


def test_softmax_gradient_equals_the_plain_one_and_is_zero_where_masked():
    scores = tf.Variable(random.normal(size=(1, 4)).astype("float32"))
    chosen = tf.constant([[0.3, -1.0, 2.0]])
    mask = tf.constant([[True, True, True, False]])
    with tf.GradientTape() as tape:
        masked = tf.reduce_sum(masked_softmax(scores, mask)[:, :3] * chosen)
    with tf.GradientTape() as plain_tape:
        plain = tf.reduce_sum(tf.nn.softmax(scores[:, :3]) * chosen)
    gradient = tf.convert_to_tensor(tape.gradient(masked, scores))
    np.testing.assert_allclose(gradient, tf.convert_to_tensor(plain_tape.gradient(plain, scores)), atol=1e-6)
    assert gradient[0, 3] == 0


@pytest.mark.parametrize("dtype", ["float32", *HALVES])
def test_softmax_gradient_is_finite_whatever_stands_where_masked(dtype):
    scores = tf.Variable(tf.constant([[1.0, 2.0, 60_000.0], [60_000.0] * 3], dtype))
    mask = tf.constant([[True, True, False], [False, False, False]])
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(masked_softmax(scores, mask) * tf.constant([1.0, 2.0, 3.0], dtype))
    gradient = tf.cast(tf.convert_to_tensor(tape.gradient(total, scores)), tf.float32)
    # Of the first row: both weights times their product's distance, p (1 - p) = 0.196612.
    np.testing.assert_allclose(gradient, [[-0.196612, 0.196612, 0], [0, 0, 0]], atol=3e-3)


@pytest.mark.filterwarnings("error::UserWarning")
def test_one_position_gets_all_or_nothing():
    """Keras warns of a softmax over one number; a source of one token is nothing to warn of."""
    mask = tf.constant([[True], [False]])
    scores = tf.Variable([[3.0], [3.0]])
    with tf.GradientTape() as tape:
        weights = masked_softmax(scores, mask)
    np.testing.assert_array_equal(weights, [[1.0], [0.0]])
    np.testing.assert_array_equal(tape.gradient(weights, scores), [[0.0], [0.0]])
