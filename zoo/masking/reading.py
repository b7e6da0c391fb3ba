"""Which layer first makes features of an input, and where these are padding."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

__all__ = ["ReadInput", "Reading"]


class ReadInput(NamedTuple):
    """An input that runs over time."""

    number: int
    """Among all inputs."""
    array: np.ndarray
    """(B, T, ...)"""
    real: np.ndarray
    """(B, T) bool, False at padding."""


class Reading(NamedTuple):
    """What to do with a float output of the first layer that reads an input."""

    inputs: tuple[ReadInput, ...]
    change: Callable[[int, tf.Tensor, np.ndarray], tf.Tensor]
    """From the number of the input, the output (B, T', ..., D) and where it is padding, (B, T') bool, to what
    takes the place of the output."""

    def places(self, given: list[tf.Tensor], outputs: Any) -> Iterator[tuple[int, np.ndarray]]:
        """The inputs that a layer makes features of, and where those are padding, (B, T') bool.

        Args:
            given: what the layer was given.
            outputs: what it gave.
        """
        for number, array, real in self.inputs if _are_features(outputs) else ():
            padding = _padding(given, array, real)
            if padding is not None and outputs.shape[:2] == padding.shape:
                yield number, padding


def _padding(given: list[tf.Tensor], array: np.ndarray, real: np.ndarray) -> np.ndarray | None:
    """Where a layer is given the padding of an input, (B, T') bool; None if it is not given that input.

    It is given it as it is, or with more positions around it, such as a token for the whole before all
    others. Of ids it may also be given others that were made of them, if it is given nothing else: those at
    padding are one id, which is nowhere else. Other numbers that were made of an input are features already.
    """

    def same(part: np.ndarray) -> bool:
        return np.array_equal(part, array.astype(part.dtype))

    def made_of_it(part: np.ndarray) -> bool:
        ids = part.reshape(*real.shape, -1)
        at_padding = np.unique(ids[~real], axis=0)
        return len(at_padding) == 1 and bool((ids[real] != at_padding[0]).any(axis=-1).all())

    could = [tensor.numpy() for tensor in given if _could_hold(tensor, array)]
    only_ids = could and array.dtype.kind in "iu" and all(map(_are_whole, given))
    for fits in (same, made_of_it) if only_ids else (same,):
        for numbers in could:
            length, before = real.shape[1], range(numbers.shape[1] - real.shape[1] + 1)
            start = next((n for n in before if fits(numbers[:, n : n + length])), None)
            if start is not None:
                after = numbers.shape[1] - length - start
                return np.pad(~real, [(0, 0), (start, after)], constant_values=False)
    return None


def _are_whole(tensor: tf.Tensor) -> bool:
    """Whether all numbers are whole; Keras hands ids on as floats to a model that was made for floats."""
    return not tensor.dtype.is_floating or bool(tf.reduce_all(tf.equal(tensor, tf.floor(tensor))))


def _could_hold(tensor: tf.Tensor, array: np.ndarray) -> bool:
    """Whether a tensor (B, T', ...) has the form of an input (B, T, ...), or of a longer one."""
    if tensor.shape.rank != array.ndim or tensor.dtype.is_bool or array.dtype == bool:
        return False
    if array.dtype.kind == "f" and not tensor.dtype.is_floating:
        return False
    beside = tensor.shape[:1] + tensor.shape[2:] == array.shape[:1] + array.shape[2:]
    return beside and tensor.shape[1] >= array.shape[1]


def _are_features(outputs: Any) -> bool:
    """Whether an output could be features (B, T', ..., D); a mask is not."""
    if not isinstance(outputs, tf.Tensor) or not outputs.dtype.is_floating or outputs.shape.rank < 3:
        return False
    return len(np.unique(outputs.numpy().astype("float32"))) > 2
