"""When a beam may stop: never too early by default, and early where that was asked for."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scripted import END, FIRST, Scripted, by_prefix, hypotheses, list_beam, random_logits, score_of

from zoo.decoders import Beam, Greedy, decode

A, B = FIRST, FIRST + 1
PENALTIES = (-1.0, 0.0, 0.6, 1.0, 2.0)
LATE = by_prefix(1, 4, {END: 1}, {(): {A: 0.6, END: 0.4}, (A,): {A: 0.7, END: 0.3}})


def search(logits, strategy, max_length=4, sources=1):
    return decode(Scripted(logits), np.zeros((sources, 1), "int32"), strategy, max_length=max_length)


def test_stopping_early_loses_what_would_have_finished_later():
    """0.6 * 0.7 = 0.42 is the best, but after two steps 0.4 and 0.18 have finished."""
    exact, early = (hypotheses(search(LATE, Beam(2, stop=stop))) for stop in ("exact", "early"))
    assert [h.ids for h in exact] == [(A, A, END), (END,)]
    assert [h.ids for h in early] == [(END,), (A, END)]
    np.testing.assert_allclose([h.score for h in early], np.log([0.4, 0.18]), atol=1e-5)


@pytest.mark.parametrize(("stop", "steps"), [("exact", 3), ("early", 2)])
def test_steps_that_are_taken(stop, steps):
    model = Scripted(LATE)
    decode(model, np.zeros((1, 1), "int32"), Beam(2, stop=stop), max_length=4)
    assert model.steps == steps


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    letters=st.integers(1, 3),
    max_length=st.integers(0, 5),
    width=st.integers(1, 6),
    penalty=st.sampled_from(PENALTIES),
    norm=st.sampled_from(["wu", "power"]),
)
def test_stopping_early_equals_lists_that_do(seed, letters, max_length, width, penalty, norm):
    logits = random_logits(seed, letters, max_length)
    logits[:, :, END] += 1.0
    expected, gap = list_beam(logits[0], width, max_length, penalty, norm, early=True)
    assume(gap > 1e-4)
    found = hypotheses(search(logits, Beam(width, penalty, norm, stop="early"), max_length))
    assert [h.ids for h in found] == [h.ids for h in expected]
    np.testing.assert_allclose([h.score for h in found], [h.score for h in expected], atol=1e-5)
    np.testing.assert_allclose([h.ranked for h in found], [h.ranked for h in expected], atol=1e-5)


def test_early_may_take_fewer_steps_and_never_more():
    fewer = 0
    for seed in range(12):
        steps = {}
        for stop in ("exact", "early"):
            model = Scripted(random_logits(seed, 2, 6))
            decode(model, np.zeros((1, 1), "int32"), Beam(3, 1.0, stop=stop), max_length=6)
            steps[stop] = model.steps
        assert steps["early"] <= steps["exact"]
        fewer += steps["early"] < steps["exact"]
    assert fewer > 0


def test_each_source_stops_by_itself():
    """Alone, or beside sources of another table and of a narrower width: the same answer."""
    logits = random_logits(5, 3, 5, tables=3)
    logits[1, :, END] -= 9.0
    model, sources = Scripted(logits), np.array([[0], [1], [2], [0]])
    strategy = Beam(4, 0.6, stop="early", widths=tf.constant([4, 4, 4, 2]))
    together = decode(model, sources, strategy, max_length=5)
    for row, width in enumerate((4, 4, 4, 2)):
        alone = decode(model, sources[[row]], Beam(width, 0.6, stop="early"), max_length=5)
        assert [h.ids for h in hypotheses(alone)] == [h.ids for h in hypotheses(together, row)]
        np.testing.assert_allclose(alone.ranked_scores[0], together.ranked_scores[row, :width], atol=1e-5)
        for hypothesis in hypotheses(together, row):
            expected = score_of(logits[sources[row, 0]], hypothesis.ids)
            assert hypothesis.score == pytest.approx(expected, abs=1e-5)


def test_a_beam_of_one_is_greedy_by_either_rule():
    logits = random_logits(9, 3, 5, tables=10)
    sources = np.arange(10)[:, None]
    greedy = decode(Scripted(logits), sources, Greedy(), max_length=5)
    early = decode(Scripted(logits), sources, Beam(1, 1.0, stop="early"), max_length=5)
    np.testing.assert_array_equal(early.token_ids, greedy.token_ids)


def test_eager_graph_and_xla_give_the_same():
    logits = random_logits(10, 3, 5)

    def run(source):
        return decode(Scripted(logits), source, Beam(3, 0.6, stop="early"), max_length=5)

    expected = run(tf.zeros([2, 1], tf.int32))
    for jit_compile in (False, True):
        found = tf.function(run, jit_compile=jit_compile)(tf.zeros([2, 1], tf.int32))
        np.testing.assert_array_equal(found.token_ids, expected.token_ids)


def test_a_rule_that_is_none():
    with pytest.raises(ValueError, match="stop must be one of exact, early, got 'never'"):
        Beam(2, stop="never")
