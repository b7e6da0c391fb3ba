import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.decoders.top_k import BLOCK, top_k


def by_sorting(values, count, lowest):
    """In the order of numbers, falling, and then of indices."""
    masked = [
        np.where(np.arange(len(row)) < low, -np.inf, row) for row, low in zip(values, lowest, strict=True)
    ]
    order = np.array([np.lexsort((np.arange(len(row)), -row))[:count] for row in masked])
    return np.take_along_axis(np.array(masked), order, axis=1), order


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.one_of(st.integers(1, 40), st.integers(4 * BLOCK, 12 * BLOCK)),
    count=st.integers(1, 3),
    levels=st.integers(1, 6),
)
def test_finds_what_sorting_finds(seed, size, count, levels):
    """Few different numbers, so that many are equal; small rows, and rows of blocks, of any length."""
    random = np.random.default_rng(seed)
    values = random.integers(0, levels, (4, size)).astype("float32")
    values[random.random(values.shape) < 0.1] = -np.inf
    lowest = random.integers(0, 3, 4).astype("int32")
    count = min(count, size)
    numbers, indices = top_k(tf.constant(values), count, tf.constant(lowest))
    expected, order = by_sorting(values, count, lowest)
    np.testing.assert_array_equal(numbers, expected)
    there = np.isfinite(expected)
    np.testing.assert_array_equal(indices.numpy()[there], order[there])


@pytest.mark.parametrize("size", [10_000, 9_973, 32_000])
@pytest.mark.parametrize("count", [1, 5, 64])
def test_of_a_whole_vocabulary(size, count):
    values = np.random.default_rng(size).normal(size=(3, size)).astype("float32")
    values[1, 2] = values[1, size - 1] = 50  # at both ends
    for run in (top_k, tf.function(top_k), tf.function(top_k, jit_compile=True)):
        numbers, indices = run(tf.constant(values), count, tf.constant(2))
        expected, order = by_sorting(values, count, [2, 2, 2])
        np.testing.assert_array_equal(numbers, expected)
        np.testing.assert_array_equal(indices, order)


def test_no_rows():
    numbers, indices = top_k(tf.zeros([0, 10_000]), 3, tf.constant(2))
    assert numbers.shape == indices.shape == (0, 3)
