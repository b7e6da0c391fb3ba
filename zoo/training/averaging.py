"""Means of the weights that a training went through."""

from collections import deque
from collections.abc import Mapping

import keras
import numpy as np
import tensorflow as tf

__all__ = ["AverageLast", "MovingAverage"]


class AverageLast(keras.callbacks.Callback):
    """At the end, the weights are the mean of those at the end of each of the last epochs.

    Checkpoint averaging (Vaswani et al. 2017, section 6.1). The weights of so many epochs are held in memory
    and in the checkpoint of the training.

    Args:
        epochs: how many, at least 1; all that there were, if there were fewer.
    """

    def __init__(self, epochs: int) -> None:
        super().__init__()
        if epochs < 1:
            raise ValueError(f"The weights of 1 epoch or more are averaged, got epochs={epochs}.")
        self._weights: deque[list[np.ndarray]] = deque(maxlen=epochs)

    def on_epoch_end(self, epoch, logs=None):
        self._weights.append(self.model.get_weights())

    def on_train_end(self, logs=None):
        if self._weights:
            means = [np.mean(values, axis=0, dtype=np.float64) for values in zip(*self._weights, strict=True)]
            self.model.set_weights(means)

    def memory(self) -> Mapping[str, np.ndarray]:
        """The weights of the last epochs."""
        return {
            f"{epoch:03}-{number:05}": value
            for epoch, weights in enumerate(self._weights)
            for number, value in enumerate(weights)
        }

    def remember(self, memory: Mapping[str, np.ndarray]) -> None:
        """Take up what `memory` gave."""
        self._weights.clear()
        for epoch in sorted({name.split("-")[0] for name in memory}):
            names = sorted(name for name in memory if name.startswith(f"{epoch}-"))
            self._weights.append([memory[name] for name in names])


class MovingAverage(keras.callbacks.Callback):
    """At the end, the weights are their exponential moving average over the batches.

    ::

        average_t = momentum_t * average_(t-1) + (1 - momentum_t) * weights_t
        momentum_t = min(momentum, (1 + t) / (10 + t))

    The momentum grows into its value, so that the first weights, which are random, are soon forgotten. Keras'
    optimizers have an average of their own (`use_ema`), but put it in the place of the weights at the end of
    each `fit`; `zoo.training.fit.fit` calls that once for each epoch.

    Args:
        momentum: from 0 to below 1; 0.999 averages over about a thousand batches.
    """

    def __init__(self, momentum: float = 0.999) -> None:
        super().__init__()
        if not 0 <= momentum < 1:
            raise ValueError(f"momentum is from 0 to below 1, got {momentum}.")
        self.momentum = momentum

    def on_train_begin(self, logs=None):
        weights = self.model.trainable_variables
        self._count = tf.Variable(0.0, trainable=False)
        self._averages = [tf.Variable(weight.value, trainable=False) for weight in weights]
        self._update = tf.function(self._move, autograph=False)

    def on_train_batch_end(self, batch, logs=None):
        self._update()

    def on_train_end(self, logs=None):
        for weight, average in zip(self.model.trainable_variables, self._averages, strict=True):
            weight.assign(average)

    def memory(self) -> Mapping[str, np.ndarray]:
        """The averages, and how many batches they are of."""
        averages = {f"{number:05}": average.numpy() for number, average in enumerate(self._averages)}
        return {"count": self._count.numpy(), **averages}

    def remember(self, memory: Mapping[str, np.ndarray]) -> None:
        """Take up what `memory` gave."""
        self._count.assign(memory["count"])
        for number, average in enumerate(self._averages):
            average.assign(memory[f"{number:05}"])

    def _move(self) -> None:
        count = self._count.assign_add(1.0)
        share = 1.0 - tf.minimum(self.momentum, (1.0 + count) / (10.0 + count))
        for weight, average in zip(self.model.trainable_variables, self._averages, strict=True):
            average.assign_add(share * (weight.value - average))
