import dataclasses

import keras
import numpy as np
import pytest
from tiny_training import SETTINGS, train

from zoo.training.averaging import AverageLast, MovingAverage

PLAIN = dataclasses.replace(SETTINGS, average_last=1)


class Weights(keras.callbacks.Callback):
    """All weights that there were: at the beginning, and behind each batch."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def on_train_begin(self, logs=None):
        self.seen.append(self.model.get_weights())

    def on_train_batch_end(self, batch, logs=None):
        self.seen.append(self.model.get_weights())


@pytest.fixture(scope="module")
def weights():
    """Of three epochs of six batches."""
    watch = Weights()
    train(PLAIN, callbacks=[watch])
    assert len(watch.seen) == 1 + 18
    return watch.seen


def test_the_last_epochs_are_averaged(weights):
    model, _ = train(dataclasses.replace(SETTINGS, average_last=2))
    for found, second, third in zip(model.get_weights(), weights[12], weights[18], strict=True):
        np.testing.assert_allclose(found, (second + third) / 2, atol=1e-6)


def test_one_epoch_is_taken_as_it_is(weights):
    model, _ = train(PLAIN, callbacks=[AverageLast(1)])
    for found, third in zip(model.get_weights(), weights[18], strict=True):
        np.testing.assert_allclose(found, third, atol=1e-6)


def test_the_moving_average_is_the_formula(weights):
    model, _ = train(PLAIN, callbacks=[MovingAverage(0.5)])
    average = weights[0]
    for count, after in enumerate(weights[1:], start=1):
        momentum = min(0.5, (1 + count) / (10 + count))
        average = [momentum * a + (1 - momentum) * w for a, w in zip(average, after, strict=True)]
    for found, expected in zip(model.get_weights(), average, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_what_cannot_be_is_told():
    with pytest.raises(ValueError, match="1 epoch or more are averaged, got epochs=0"):
        AverageLast(0)
    with pytest.raises(ValueError, match="from 0 to below 1, got 1"):
        MovingAverage(1.0)
