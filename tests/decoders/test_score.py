import numpy as np
import pytest
import tensorflow as tf
from scripted import END, PAD, START, Scripted, random_logits, score_of

from zoo.decoders import score
from zoo.tokenizers.sequences import teacher_forced

A, B = 3, 4


def test_decoder_reads_start_and_all_but_the_last():
    ids = tf.constant([[A, B, END], [A, END, PAD], [END, PAD, PAD]])
    np.testing.assert_array_equal(teacher_forced(ids), [[START, A, B], [START, A, END], [START, END, PAD]])


def test_scores_of_given_targets():
    logits = random_logits(8, 2, 4, tables=2)
    ids = tf.constant([[A, B, END, PAD], [B, B, A, B]])
    scored = score(Scripted(logits), np.array([[0], [1]]), ids)

    assert float(scored.scores[0]) == pytest.approx(score_of(logits[0], [A, B, END]), abs=1e-5)
    assert float(scored.scores[1]) == pytest.approx(score_of(logits[1], [B, B, A, B]), abs=1e-5)
    assert float(scored.token_scores[0, 3]) == 0
    np.testing.assert_allclose(tf.reduce_sum(scored.token_scores, 1), scored.scores, atol=1e-6)
    first_two = score_of(logits[0], [A, B]) - score_of(logits[0], [A])
    assert float(scored.token_scores[0, 1]) == pytest.approx(first_two, abs=1e-5)


def test_more_padding_changes_nothing():
    logits = random_logits(8, 2, 4)
    short = score(Scripted(logits), np.array([[0]]), tf.constant([[A, END]]))
    long = score(Scripted(logits), np.array([[0]]), tf.constant([[A, END, *[PAD] * 20]]))
    np.testing.assert_allclose(short.scores, long.scores, atol=1e-6)


def test_no_targets():
    scored = score(Scripted(random_logits(8, 2, 2)), np.zeros((0, 1), int), tf.zeros([0, 2], tf.int32))
    assert scored.scores.shape == (0,)
    assert scored.token_scores.shape == (0, 2)
