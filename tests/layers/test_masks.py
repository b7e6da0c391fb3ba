import numpy as np

from zoo.layers import padding_mask


def test_true_where_there_is_a_token():
    ids = np.array([[4, 3, 2, 0, 0], [0, 0, 5, 1, 2]])
    np.testing.assert_array_equal(padding_mask(ids), [[1, 1, 1, 0, 0], [0, 0, 1, 1, 1]])


def test_another_id_can_be_the_padding():
    np.testing.assert_array_equal(padding_mask(np.array([[0, 9, 9]]), pad_id=9), [[True, False, False]])


def test_of_any_rank_and_empty():
    assert padding_mask(np.zeros((2, 3, 4), "int32")).shape == (2, 3, 4)
    assert padding_mask(np.zeros((0, 4), "int32")).shape == (0, 4)
