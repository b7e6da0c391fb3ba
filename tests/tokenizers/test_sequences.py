import numpy as np
import pytest
import tensorflow as tf

from zoo.tokenizers import END, PAD
from zoo.tokenizers.sequences import close

ROWS = tf.ragged.constant([[5, 6, 7], [], [8], [9, 9, 9, 9]], tf.int32)


def test_end_right_after_the_last_token_then_padding():
    closed = close(ROWS, 10)
    assert closed.dtype == tf.int32
    np.testing.assert_array_equal(
        closed, [[5, 6, 7, END, PAD], [END, PAD, PAD, PAD, PAD], [8, END, PAD, PAD, PAD], [9, 9, 9, 9, END]]
    )


def test_cut_at_the_limit_without_end():
    np.testing.assert_array_equal(close(ROWS, 3), [[5, 6, 7], [END, 0, 0], [8, END, 0], [9, 9, 9]])
    np.testing.assert_array_equal(close(ROWS, 1), [[5], [END], [8], [9]])


@pytest.mark.parametrize("rows", [ROWS[:0], ROWS[1:2]])
def test_at_least_one_column(rows):
    assert close(rows, 4).shape == (rows.shape[0], 1)
