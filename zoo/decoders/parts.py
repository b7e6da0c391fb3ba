"""A batch in parts, which are searched at the same time."""

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

__all__ = ["in_parts"]

FEWEST = 4
"""Rows of a part, at least: below, one search of all is as fast."""


def in_parts(search: Callable[..., Any], inputs: Mapping[str, tf.Tensor], *, most: int) -> Any:
    """Search the rows of a batch in parts, each by a loop of its own.

    Most operations of a step are too small to be shared between processor cores, so one loop keeps hardly
    more than one core busy, whatever it is allowed. Two loops keep two busy, where TensorFlow runs operations
    beside each other rather than in pieces: with as many threads between operations as there are parts, and
    one within. Each loop ends with its own last row.

    Args:
        search: called with keyword arguments named as the inputs; rows do not depend on each other. It is
            called for each part, so the graph has it as many times.
        inputs: leaves (B, ...).
        most: how many parts at most; a small batch has fewer.

    Returns:
        What `search` gives of the whole batch: leaves (B, ...).
    """
    if most == 1:
        return search(**inputs)
    batch = tf.shape(next(iter(inputs.values())))[0]
    count = tf.clip_by_value(batch // FEWEST, 1, most)
    found = []
    for part in range(most):
        begin, end = (batch * tf.minimum(edge, count) // count for edge in (part, part + 1))
        found.append(search(**{name: rows[begin:end] for name, rows in inputs.items()}))
    return tf.nest.map_structure(lambda *leaves: tf.concat(leaves, axis=0), *found)
