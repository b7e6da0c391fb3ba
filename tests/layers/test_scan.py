from typing import NamedTuple

import numpy as np
import tensorflow as tf

from zoo.layers.scan import scan


class Sums(NamedTuple):
    total: tf.Tensor
    steps: tf.Tensor


def add(state, current):
    return Sums(state.total + current["x"], state.steps + 1)


def begin(size):
    return Sums(tf.zeros([size]), tf.zeros([], tf.int32))


def test_states_after_each_step_keep_their_form():
    x = np.arange(12, dtype="float32").reshape(4, 3)
    states = scan(add, begin(3), {"x": tf.constant(x)})

    assert isinstance(states, Sums)
    np.testing.assert_array_equal(states.total, np.cumsum(x, axis=0))
    np.testing.assert_array_equal(states.steps, [1, 2, 3, 4])


def test_length_unknown_until_run_and_empty_states():
    traced = tf.function(
        lambda x: scan(add, begin(tf.shape(x)[1]), {"x": x}),
        input_signature=[tf.TensorSpec([None, None], tf.float32)],
    )
    for length, size in [(1, 2), (5, 2), (3, 0)]:
        x = tf.ones([length, size])
        np.testing.assert_array_equal(traced(x).total, np.cumsum(x.numpy(), axis=0))


def test_gradient_of_every_step_eager_graph_and_xla():
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            states = scan(lambda s, c: s * c, tf.ones([2]), x)
            last = tf.reduce_sum(states[-1])
        return tape.gradient(last, x)

    x = tf.constant([[2.0, 3.0], [5.0, 7.0], [11.0, 13.0]])
    expected = [[55.0, 91.0], [22.0, 39.0], [10.0, 21.0]]  # product of the two others in each column
    np.testing.assert_allclose(gradient(x), expected)
    np.testing.assert_allclose(tf.function(gradient)(x), expected)
    np.testing.assert_allclose(tf.function(gradient, jit_compile=True)(x), expected)
