import numpy as np
import pytest
import tensorflow as tf
from equations import additive_alignment

from zoo.layers import AdditiveAttention, masked_softmax

HALVES = ("float16", "bfloat16")
random = np.random.default_rng(1)


@pytest.fixture(scope="module")
def layer():
    layer = AdditiveAttention(6)
    layer.build((None, None, 4), (None, None, 6), (None, None, 3))
    layer.set_weights([random.normal(size=w.shape) for w in layer.weights])
    return layer


@pytest.fixture(scope="module")
def memory():
    values = random.normal(size=(3, 5, 3)).astype("float32")
    mask = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 1, 0, 1, 0]], bool)
    return values, mask


def test_alignment_and_context_equal_the_equations(layer, memory):
    values, mask = memory
    query = random.normal(size=(3, 2, 4)).astype("float32")
    query_kernel, key_kernel = layer.query_projection.kernel.numpy(), layer.key_projection.kernel.numpy()

    keys = layer.project_keys(values)
    alignment = layer.alignment(query, keys, mask).numpy()
    contexts = layer(query, keys, values, mask).numpy()
    for b, q in np.ndindex(3, 2):
        seen = mask[b]
        expected = np.zeros(5)
        expected[seen] = additive_alignment(
            query[b, q], values[b, seen], query_kernel, key_kernel, layer.score_vector.numpy()[:, 0]
        )
        np.testing.assert_allclose(alignment[b, q], expected, atol=1e-6)
        np.testing.assert_allclose(contexts[b, q], expected @ values[b], atol=1e-5)
    assert (alignment[~np.broadcast_to(mask[:, None], alignment.shape)] == 0).all()


def test_by_hand():
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


def test_keys_can_be_made_before_the_first_call_with_the_same_weights():
    layer = AdditiveAttention(6)
    values = tf.constant(random.normal(size=(2, 3, 4)), tf.float32)
    keys = layer.project_keys(values)
    layer(tf.zeros([2, 1, 5]), keys, values, tf.ones([2, 3], tf.bool))

    assert len(layer.weights) == 3
    np.testing.assert_array_equal(layer.project_keys(values), keys)


@pytest.mark.parametrize("dtype", ["float32", *HALVES])
def test_a_memory_without_any_token_gives_zeros_and_finite_gradients(dtype):
    layer = AdditiveAttention(8, dtype=dtype)
    query = tf.fill([2, 1, 8], tf.constant(-8.0, dtype))
    values = tf.Variable(tf.fill([2, 3, 8], tf.constant(8.0, dtype)))
    mask = tf.constant([[False] * 3, [True, False, False]])
    with tf.GradientTape() as tape:
        contexts = layer(query, layer.project_keys(values), values, mask)
        alignment = layer.alignment(query, layer.project_keys(values), mask)
        total = tf.reduce_sum(contexts) + tf.reduce_sum(alignment)
    gradients = tape.gradient(total, [values, *layer.trainable_variables])

    np.testing.assert_array_equal(tf.cast(contexts, tf.float32)[0], np.zeros((1, 8)))
    np.testing.assert_array_equal(tf.cast(alignment, tf.float32)[0], np.zeros((1, 3)))
    np.testing.assert_array_equal(tf.cast(contexts, tf.float32)[1], np.full((1, 8), 8.0))
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
    np.testing.assert_allclose(gradient, [[-0.196612, 0.196612, 0], [0, 0, 0]], atol=2e-3)
