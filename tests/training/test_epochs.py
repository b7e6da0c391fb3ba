import dataclasses
from typing import NamedTuple

import numpy as np
import pytest
import tensorflow as tf
from tiny_training import FLOATS, SETTINGS, TOKENS, Counting, train

from zoo.training.epochs import share_weights


class OneLargeBatch(NamedTuple):
    """All batches of an epoch as one, padded to the longest."""

    parts: Counting
    steps: int = 1

    def epoch(self, epoch, first_step=0):
        inputs, labels, weights = zip(*self.parts.epoch(epoch).as_numpy_iterator(), strict=True)
        ids = padded([one["target_ids"] for one in inputs])
        return tf.data.Dataset.from_tensors(({"target_ids": ids}, padded(labels), padded(weights)))


def padded(arrays):
    longest = max(array.shape[1] for array in arrays)
    rows = [np.pad(array, ((0, 0), (0, longest - array.shape[1]))) for array in arrays]
    return tf.constant(np.concatenate(rows))


def without_dropout(settings, training, *, accumulation):
    changed = dataclasses.replace(settings, accumulation=accumulation)
    return train(changed, training=training, dropout=0.0)[0]


@pytest.mark.parametrize("epochs", [1, 3])
def test_batches_that_make_one_update_are_one_large_batch(epochs):
    """Four batches of unequal numbers of tokens make the one update of an epoch, clipped as one gradient."""
    settings = dataclasses.replace(SETTINGS, epochs=epochs, average_last=1, clip_norm=0.05)
    parts = without_dropout(settings, Counting(steps=4), accumulation=4)
    whole = without_dropout(settings, OneLargeBatch(Counting(steps=4)), accumulation=1)
    moments, expected = first_moments(parts), first_moments(whole)
    assert sum(np.square(moment).sum() for moment in expected) > 1e-6
    for moment, other in zip(moments, expected, strict=True):
        np.testing.assert_allclose(moment, other, atol=1e-7 * epochs)
    for weight, other in zip(parts.get_weights(), whole.get_weights(), strict=True):
        np.testing.assert_allclose(weight, other, atol=1e-3)  # Adam divides by gradients near zero


def first_moments(model):
    """Adam's running means of the gradients: linear in them, so that no rounding grows."""
    return [variable.numpy() for variable in model.optimizer.variables if variable.path.endswith("_momentum")]


def test_the_weights_of_a_group_sum_to_the_number_of_its_batches():
    shared = list(share_weights(Counting(steps=5).epoch(0), group=2))
    assert len(shared) == 4, "what is left is left out"
    sums = [float(tf.reduce_sum(weights)) for _, _, weights in shared]
    assert sums[0] + sums[1] == pytest.approx(2)
    assert sums[2] + sums[3] == pytest.approx(2)
    for (inputs, labels, weights), (inputs_before, labels_before, weights_before) in zip(
        shared, Counting(steps=5).epoch(0), strict=False
    ):
        np.testing.assert_array_equal(inputs["target_ids"], inputs_before["target_ids"])
        np.testing.assert_array_equal(labels, labels_before)
        np.testing.assert_array_equal(weights > 0, weights_before > 0)


def test_a_group_without_any_token_weighs_nothing():
    ids, weights = tf.zeros((2, 3), tf.int32), tf.zeros((2, 3))
    data = tf.data.Dataset.from_tensors(({"target_ids": ids}, ids, weights))
    ((_, _, shared),) = share_weights(data, group=1)
    np.testing.assert_array_equal(shared, weights)


def test_batches_keep_their_form():
    inputs, labels, weights = share_weights(Counting().epoch(0), group=3).element_spec
    assert (inputs["target_ids"], labels, weights) == (TOKENS, TOKENS, FLOATS)


def test_an_update_takes_no_more_batches_than_an_epoch_has():
    with pytest.raises(ValueError, match="An update takes 7 batches: lower accumulation"):
        train(dataclasses.replace(SETTINGS, accumulation=7))
