import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.layers import Projection

random = np.random.default_rng(3)


@pytest.mark.parametrize("leading", [(5,), (2, 3), (2, 3, 4), (0, 3), (2, 0)])
def test_equals_keras_own_layer(leading):
    inputs = random.normal(size=(*leading, 6)).astype("float32")
    ours, theirs = Projection(4, activation="relu"), keras.layers.Dense(4, activation="relu")
    theirs.build((None, 6))
    ours.build((None, 6))
    ours.set_weights([random.normal(size=weight.shape) for weight in theirs.get_weights()])
    theirs.set_weights(ours.get_weights())
    np.testing.assert_allclose(ours(inputs), theirs(inputs), atol=1e-6)


def test_of_sizes_that_the_graph_does_not_know():
    layer = Projection(4)
    run = tf.function(layer, input_signature=[tf.TensorSpec((None, None, 6), tf.float32)])
    for batch, length in ((2, 3), (1, 7), (0, 2)):
        inputs = random.normal(size=(batch, length, 6)).astype("float32")
        np.testing.assert_allclose(run(inputs), layer(inputs), atol=1e-6)
        assert run(inputs).shape == (batch, length, 4)
