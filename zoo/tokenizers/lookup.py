"""Strings found in a list, in the graph, without a table."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

__all__ = ["Lookup"]

BUCKETS = 2**63 - 1


class Lookup:
    """Places of strings in a list.

    The list is sorted by 64-bit fingerprints. A string is found by a binary search for its own, and then
    compared, so there is no lookup table to track, to initialise or to lose in an export.

    Args:
        strings: V different ones. Should two have one fingerprint (of 100,000 strings, one list in a billion
            has such a pair), the later one is not found.
    """

    def __init__(self, strings: Sequence[str]) -> None:
        encoded = np.array([string.encode("utf-8") for string in strings], dtype=object)
        fingerprints = _fingerprints(tf.constant(encoded, tf.string)).numpy()
        self._places = np.argsort(fingerprints, kind="stable").astype(np.int32)
        self._fingerprints = fingerprints[self._places]
        self._strings = encoded[self._places]

    def find(self, strings: tf.Tensor) -> tf.Tensor:
        """Strings (N,) to their places, (N,) int32; -1 for what is not in the list."""
        if not len(self._places):
            return tf.fill(tf.shape(strings), -1)
        place = tf.searchsorted(tf.constant(self._fingerprints), _fingerprints(strings))
        place = tf.minimum(place, len(self._places) - 1)
        found = tf.gather(tf.constant(self._strings, tf.string), place) == strings
        return tf.where(found, tf.gather(tf.constant(self._places), place), -1)


def _fingerprints(strings: tf.Tensor) -> tf.Tensor:
    return tf.strings.to_hash_bucket_fast(strings, BUCKETS)
