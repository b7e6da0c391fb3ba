"""What a training takes its batches from."""

from typing import NamedTuple, Protocol

import tensorflow as tf

from zoo.data.batches import AHEAD
from zoo.training.distribution import even_rows

__all__ = ["Epochs", "SharedEpochs", "share_weights"]


class Epochs(Protocol):
    """Training data, a pure function of the epoch and the step; `zoo.data.batches.Batches` is one."""

    @property
    def steps(self) -> int:
        """Batches of an epoch, the same in each."""

    def epoch(self, epoch: int, first_step: int = 0) -> tf.data.Dataset:
        """Batches of inputs, labels and weights, from one step on; of known cardinality."""


class SharedEpochs(NamedTuple):
    """Epochs whose updates are shared by several batches, or by several devices; see `share_weights`."""

    whole: Epochs
    group: int
    """Batches that make an update."""
    devices: int
    """Devices that share a batch."""

    @property
    def steps(self) -> int:
        """Batches of an epoch that make whole updates; what is left at its end is left out."""
        return self.whole.steps // self.group * self.group

    def epoch(self, epoch: int, first_step: int = 0) -> tf.data.Dataset:
        """Batches from one step on, which may lie amid those of an update."""
        done = first_step % self.group
        batches = share_weights(self.whole.epoch(epoch, first_step - done), group=self.group)
        return even_rows(batches.skip(done), self.devices)


def share_weights(batches: tf.data.Dataset, *, group: int) -> tf.data.Dataset:
    """Normalise the weights of tokens over groups of batches, for losses that are summed.

    The mean over the tokens of a large batch is not the mean of the means over its parts, since they have
    unequal numbers of tokens. A sum over tokens can be taken part by part, once the weights are divided by
    their sum over all parts, be those batches or the rows that a device takes of a batch. Keras divides the
    sum of the gradients of a group by the number of its batches, which the factor `group` makes up::

        weights'  =  weights * group / (sum of the weights of the group)

    Args:
        batches: of inputs, labels and weights; their number is known.
        group: batches that make an update; what is left at the end is left out.
    """

    def shared(inputs, labels, weights):
        zero = tf.zeros((), weights.element_spec.dtype)
        total = weights.reduce(zero, lambda total, batch: total + tf.reduce_sum(batch))
        factor = tf.math.divide_no_nan(tf.cast(group, zero.dtype), total)
        whole = tf.data.Dataset.zip((inputs, labels, weights))
        return whole.map(lambda inputs, labels, weights: (inputs, labels, factor * weights))

    count = batches.cardinality() // group * group
    grouped = batches.window(group, drop_remainder=True).flat_map(shared)
    return grouped.apply(tf.data.experimental.assert_cardinality(count)).prefetch(AHEAD)
