"""Batches for several devices at once."""

import tensorflow as tf

__all__ = ["even_rows"]


def even_rows(batches: tf.data.Dataset, devices: int) -> tf.data.Dataset:
    """Add rows of padding, which weigh nothing, until each device gets as many rows as every other.

    Keras takes the mean of what the devices get to find out what a batch looks like, which fails where they
    get unequal numbers of rows.

    Args:
        batches: of tensors (B, ...), zero where there is nothing.
        devices: that share each batch.
    """

    def padded(tensor: tf.Tensor) -> tf.Tensor:
        missing = -tf.shape(tensor)[0] % devices
        return tf.pad(tensor, [[0, missing], *[[0, 0]] * (tensor.shape.rank - 1)])

    return batches.map(
        lambda *batch: tf.nest.map_structure(padded, batch), num_parallel_calls=tf.data.AUTOTUNE
    )
