"""Running a step over time."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops, tree

__all__ = ["scan"]


def scan(step: Callable[[Any, Any], Any], state: Any, inputs: Any) -> Any:
    """Hand a state from step to step, and keep what it was after each.

    Args:
        step: `step(state, inputs of one step) -> next state`.
        state: before the first step; any structure of tensors, which keep their shapes and dtypes.
        inputs: any structure of tensors (T, ...), T at least 1.

    Returns:
        The states after each step, leaves (T, ...).
    """
    if keras.backend.backend() == "tensorflow":
        return _tensorflow_scan(step, state, inputs)

    def step_and_keep(state, current):
        state = step(state, current)
        return state, state

    return ops.scan(step_and_keep, state, inputs)[1]


def _tensorflow_scan(step, state, inputs):
    """What `keras.ops.scan` would do if, on TensorFlow, it took several tensors of unknown length, could be
    differentiated under XLA, and did not keep its state in arrays."""
    import tensorflow as tf

    length = tf.shape(tree.flatten(inputs)[0])[0]
    read = [
        tf.TensorArray(x.dtype, length, element_shape=x.shape[1:]).unstack(x) for x in tree.flatten(inputs)
    ]
    written = [tf.TensorArray(x.dtype, length, element_shape=x.shape) for x in tree.flatten(state)]

    def body(index, state, written):
        state = step(state, tree.pack_sequence_as(inputs, [array.read(index) for array in read]))
        leaves = tree.flatten(state)
        return index + 1, state, [array.write(index, x) for array, x in zip(written, leaves, strict=True)]

    *_, written = tf.while_loop(
        lambda index, *_: index < length, body, (0, state, written), maximum_iterations=length
    )
    return tree.pack_sequence_as(state, [array.stack() for array in written])
