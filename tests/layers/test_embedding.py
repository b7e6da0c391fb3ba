import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.layers import OneHot, TiedEmbedding

random = np.random.default_rng(4)


def test_one_hot_by_hand():
    expected = [[[0, 0, 1], [1, 0, 0]], [[0, 1, 0], [0, 0, 0]]]  # 3 is no id
    np.testing.assert_array_equal(OneHot(3)(np.array([[2, 0], [1, 3]])), expected)


def test_one_hot_chooses_the_rows_of_the_next_matrix():
    kernel, ids = random.normal(size=(6, 2)), random.integers(0, 6, (3, 4))
    np.testing.assert_allclose(OneHot(6)(ids) @ kernel.astype("float32"), kernel[ids], atol=1e-6)


@pytest.mark.parametrize(("scaling", "factor"), [("none", 1), ("sqrt_width", 3)])
def test_tied_equals_the_equation(scaling, factor):
    layer = TiedEmbedding(5, width=9, scaling=scaling)
    layer.build()
    matrix = random.normal(size=(5, 9)).astype("float32")
    layer.set_weights([matrix])
    ids, states = np.array([[0, 4, 2], [1, 1, 3]]), random.normal(size=(2, 3, 9)).astype("float32")

    np.testing.assert_allclose(layer(ids), factor * matrix[ids], atol=1e-6)
    np.testing.assert_allclose(layer.logits(states), states @ matrix.T, atol=1e-5)
    np.testing.assert_allclose(layer.logits(states[:, 0]), states[:, 0] @ matrix.T, atol=1e-5)


def test_one_matrix_learns_from_both_ends():
    layer = TiedEmbedding(4, width=2)
    layer.build()
    matrix = np.array([[1.0, 0], [0, 2], [3, 3], [0, 0]], "float32")
    layer.set_weights([matrix])
    assert len(layer.weights) == 1
    with tf.GradientTape() as tape:
        logits = layer.logits(layer(np.array([[1]])))
        loss = tf.reduce_sum(logits * [0.0, 0, 1, 0])  # sqrt(2) E[1] . E[2]
    gradient = tf.convert_to_tensor(tape.gradient(loss, layer.trainable_variables)[0])
    expected = 2**0.5 * np.array([[0, 0], matrix[2], matrix[1], [0, 0]])
    np.testing.assert_allclose(gradient, expected, atol=1e-6)


def test_variance_at_the_start():
    keras.utils.set_random_seed(0)
    layer = TiedEmbedding(500, width=64)
    assert np.std(layer(np.arange(500))) == pytest.approx(1, rel=0.05)
    assert np.std(layer.logits(random.normal(size=(100, 64)))) == pytest.approx(1, rel=0.05)


def test_logits_may_come_first():
    layer = TiedEmbedding(5, width=2)
    layer.logits(np.ones((1, 2)))
    layer(np.array([[1]]))
    assert len(layer.weights) == 1


def test_an_unknown_scaling():
    with pytest.raises(ValueError, match="scaling must be one of none, sqrt_width, got 'yes'"):
        TiedEmbedding(5, width=2, scaling="yes")


def test_packed_logits_are_the_same_and_no_weight():
    layer = TiedEmbedding(7, width=4)
    layer.build()
    states = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")
    expected, names = layer.logits(states), [weight.path for weight in layer.weights]
    with layer.packed():
        np.testing.assert_allclose(layer.logits(states), expected, atol=1e-6)
        assert [weight.path for weight in layer.weights] == names
        layer.embeddings.assign(layer.embeddings * 2)  # the copy does not follow
        np.testing.assert_allclose(layer.logits(states), expected, atol=1e-6)
    np.testing.assert_allclose(layer.logits(states), expected * 2, atol=1e-6)


def test_packed_logits_in_half_precision():
    layer = TiedEmbedding(7, width=4, dtype="mixed_bfloat16")
    layer.build()
    states = np.random.default_rng(0).normal(size=(2, 4)).astype("float32")
    expected = layer.logits(states)
    with layer.packed():
        assert layer.logits(states).dtype == expected.dtype
        np.testing.assert_array_equal(np.asarray(layer.logits(states)), np.asarray(expected))
