import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.training.adam import Adam

IDS = [1, 1, 1, 2]
"""The tokens of a batch."""

BY_TOKEN = np.array([[0.0], [0.9], [0.1]])
"""The gradient of their embedding: three rows of 0.3 for the first, one of 0.1 for the second."""


def after_one_update(clip_norm):
    embedding = keras.Variable(np.ones((3, 1), "float32"))
    optimizer = Adam(0.1, clip_norm=clip_norm)
    optimizer.build([embedding])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(embedding.value, IDS) * [[0.3], [0.3], [0.3], [0.1]])
    gradients = tape.gradient(loss, [embedding.value])
    assert isinstance(gradients[0], tf.IndexedSlices)
    optimizer.apply(gradients, [embedding])
    moments = {variable.path.rsplit("_", 1)[-1]: variable.numpy() for variable in optimizer.variables}
    return moments["momentum"], moments["velocity"]


@pytest.mark.parametrize("clip_norm", [None, 1.0])
def test_rows_of_one_token_are_one_gradient(clip_norm):
    first, second = after_one_update(clip_norm)
    np.testing.assert_allclose(first, 0.1 * BY_TOKEN, rtol=1e-5)
    np.testing.assert_allclose(second, 0.001 * BY_TOKEN**2, rtol=1e-4)


def test_what_is_clipped_is_its_norm():
    first, _ = after_one_update(0.5)
    np.testing.assert_allclose(first, 0.1 * 0.5 * BY_TOKEN / np.sqrt(0.9**2 + 0.1**2), rtol=1e-5)


def test_it_comes_back_from_its_configuration():
    optimizer = Adam(0.25, clip_norm=0.5, accumulation=3, beta_2=0.98)
    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert isinstance(again, Adam)
    assert again.get_config() == optimizer.get_config()
    assert again.gradient_accumulation_steps == 3
