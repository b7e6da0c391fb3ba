import numpy as np
import pytest
import tensorflow as tf

from zoo.layers import adjacency_mask, causal_mask, frame_mask, padding_mask


def test_true_where_there_is_a_token():
    ids = np.array([[4, 3, 2, 0, 0], [0, 0, 5, 1, 2]])
    np.testing.assert_array_equal(padding_mask(ids), [[1, 1, 1, 0, 0], [0, 0, 1, 1, 1]])


def test_another_id_can_be_the_padding():
    np.testing.assert_array_equal(padding_mask(np.array([[0, 9, 9]]), pad_id=9), [[True, False, False]])


def test_of_any_rank_and_empty():
    assert padding_mask(np.zeros((2, 3, 4), "int32")).shape == (2, 3, 4)
    assert padding_mask(np.zeros((0, 4), "int32")).shape == (0, 4)


def test_no_position_sees_the_future():
    np.testing.assert_array_equal(
        causal_mask(3), [[True, False, False], [True, True, False], [True, True, True]]
    )
    assert causal_mask(0).shape == (0, 0)


def test_causal_mask_of_a_length_that_the_graph_does_not_know():
    traced = tf.function(causal_mask, input_signature=[tf.TensorSpec((), tf.int32)])
    np.testing.assert_array_equal(traced(tf.constant(4)), np.tri(4, dtype=bool))


@pytest.mark.parametrize("dtype", ["bool", "int32", "float32"])
def test_a_node_sees_itself_and_its_neighbours(dtype):
    adjacency = np.zeros((2, 3, 3), dtype)
    adjacency[0, 0, 1] = adjacency[1, 0, 1] = adjacency[1, 0, 2] = adjacency[1, 2, 1] = 1
    node_mask = np.array([[True, True, True], [True, True, False]])
    mask = adjacency_mask(adjacency, node_mask)
    expected = [[[1, 1, 0], [0, 1, 0], [0, 0, 1]], [[1, 1, 0], [0, 1, 0], [0, 0, 0]]]
    np.testing.assert_array_equal(mask, np.array(expected, bool))


def test_a_frame_counts_when_all_its_samples_are_there():
    # Frames of 4 samples begin at 0, 2, 4, 6, 8.
    samples = np.arange(10) < np.array([[10], [9], [5], [4], [3], [0]])
    expected = [[1, 1, 1, 1, 0], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [0] * 5, [0] * 5]
    np.testing.assert_array_equal(frame_mask(samples, window=4, hop=2), np.array(expected, bool))


@pytest.mark.parametrize(("window", "hop"), [(1, 1), (5, 2), (3, 3), (2, 5), (20, 4)])
def test_frames_of_any_mask_by_looking_at_each(window, hop):
    samples = np.random.default_rng(0).random((6, 13)) < 0.8
    whole = np.pad(samples, ((0, 0), (0, window)))
    expected = [[row[t : t + window].all() for t in range(0, 13, hop)] for row in whole]
    found = frame_mask(samples, window=window, hop=hop)
    np.testing.assert_array_equal(found, expected)
    traced = tf.function(lambda samples: frame_mask(samples, window=window, hop=hop), jit_compile=True)
    np.testing.assert_array_equal(traced(samples), expected)
