"""What a decoder keeps from step to step, written in place where TensorFlow can.

Everything else in the layers is `keras.ops`. But there a cache is copied whole for each position that is
written, which soon costs more than all products of a step.
"""

from typing import Any, NamedTuple

import keras
from keras import ops

__all__ = ["Place", "empty_cache"]


class Place(NamedTuple):
    """The position of N caches (N, H, L, E) that a step fills."""

    index: Any
    """() int."""
    filled: Any
    """(L,) bool, True up to the position."""
    rows: Any
    """(N * H,) int32: which of the N * H * L rows of a cache; None where nothing is written in place."""

    @classmethod
    def of(cls, index, count, length: int) -> "Place":
        """Position `index` of `count` sequences, N * H, of `length`, L."""
        positions = ops.arange(length)
        rows = ops.arange(count) * length + ops.cast(index, "int32") if _in_place() else None
        return cls(index, positions <= index, rows)

    def write(self, cache, new):
        """A cache with what is new at the position.

        In a TensorFlow graph, but under XLA, this writes into the memory of `cache`: what was handed over is
        not to be used any more, as a loop that hands its state from step to step does not.

        Args:
            cache: (N, H, L, E), made by `empty_cache`, or what came back from here.
            new: (N, H, 1, E).
        """
        if self.rows is None:
            here = ops.arange(cache.shape[-2]) == self.index
            return ops.where(here[:, None], new, cache)
        import tensorflow as tf

        width = cache.shape[-1]
        flat, new = tf.reshape(cache, [-1, width]), tf.reshape(new, [-1, width])
        written = tf.raw_ops.InplaceUpdate(x=flat, i=self.rows, v=new)
        return tf.reshape(written, [-1, *cache.shape[1:]])


def empty_cache(shape, dtype):
    """A cache of zeros that shares its memory with nothing.

    Args:
        shape: (..., L, E).
        dtype: of its numbers.
    """
    if not _in_place():
        return ops.zeros(shape, dtype)
    import tensorflow as tf

    return tf.raw_ops.Empty(shape=tf.stack(shape), dtype=dtype, init=True)


def _in_place() -> bool:
    if keras.backend.backend() != "tensorflow":
        return False
    import tensorflow as tf
    from tensorflow.python.ops.control_flow_util import GraphOrParentsInXlaContext

    # XLA has no such operation, and eager tensors may be looked at again.
    graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
    return graph is not None and not GraphOrParentsInXlaContext(graph)
