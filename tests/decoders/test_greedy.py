import math

import numpy as np
import pytest
import tensorflow as tf
from scripted import END, FIRST, Scripted, by_prefix, hypotheses, logits_of, random_logits, score_of

from zoo.decoders import Greedy, decode

A, B = FIRST, FIRST + 1


def test_takes_the_likeliest_token_of_each_step():
    """Not the likeliest sequence: A is likelier than B at first, but then worth less."""
    rows = {(): {A: 0.6, B: 0.4}, (A,): {A: 0.55, END: 0.45}, (A, A): {END: 1}, (B,): {END: 1}}
    decoded = decode(Scripted(by_prefix(2, 4, {END: 1}, rows)), np.array([[0]]), Greedy(), max_length=4)
    np.testing.assert_array_equal(decoded.token_ids, [[[A, A, END, 0]]])
    np.testing.assert_array_equal(decoded.lengths, [[2]])
    assert math.exp(decoded.scores[0, 0]) == pytest.approx(0.33)
    np.testing.assert_array_equal(decoded.scores, decoded.ranked_scores)


def test_of_equal_tokens_the_lower_id():
    model = Scripted(logits_of({A: 0.5, B: 0.5}))

    def search(source):
        return decode(model, source, Greedy(), max_length=3)

    for run in (search, tf.function(search, jit_compile=True)):
        np.testing.assert_array_equal(run(tf.constant([[0]])).token_ids, [[[A, A, A]]])


def test_equals_a_plain_loop():
    logits = random_logits(1, 3, 6, tables=4)
    decoded = decode(Scripted(logits), np.arange(4)[:, None], Greedy(), max_length=6)
    for source, table in enumerate(logits):
        ids = []
        while len(ids) < 6 and END not in ids:
            ids.append(max((END, *range(FIRST, 6)), key=lambda token: score_of(table, [*ids, token])))
        found = hypotheses(decoded, source)[0]
        assert found.ids == tuple(ids)
        assert found.score == pytest.approx(score_of(table, ids), abs=1e-5)
