import math

import numpy as np
import pytest
import tensorflow as tf
from compared import assert_same_but_for_rounding
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scripted import (
    END,
    FIRST,
    Scripted,
    by_prefix,
    every_sequence,
    hypotheses,
    list_beam,
    logits_of,
    nodes,
    random_logits,
    score_of,
)

from zoo.decoders import Beam, Greedy, decode, length_norm

A, B, C = FIRST, FIRST + 1, FIRST + 2
ONE_SOURCE = np.array([[0, 1]])
PENALTIES = (-1.0, 0.0, 0.6, 1.0, 2.0)
NORMS = ("wu", "power")


def search(logits, strategy, max_length, **kwargs):
    return hypotheses(decode(Scripted(logits), ONE_SOURCE, strategy, max_length=max_length, **kwargs))


def assert_same(found, expected):
    assert [h.ids for h in found] == [h.ids for h in expected]
    np.testing.assert_allclose([h.score for h in found], [h.score for h in expected], atol=1e-5)
    np.testing.assert_allclose([h.ranked for h in found], [h.ranked for h in expected], atol=1e-5)


@pytest.mark.parametrize(("penalty", "norm", "worked"), [(0.6, "wu", 1.5157), (0.6, "power", 3.2141)])
def test_length_norm_has_the_values_of_its_docstring(penalty, norm, worked):
    assert float(length_norm(tf.constant(7), penalty, norm)) == pytest.approx(worked, abs=5e-5)
    assert f"{worked}" in length_norm.__doc__


def test_length_norm_by_hand():
    np.testing.assert_allclose(length_norm(tf.constant([0, 1, 4]), 1.0), [1, 1, 1.5])
    np.testing.assert_allclose(length_norm(tf.constant([0, 1, 4]), -1.0, "power"), [1, 1, 0.25])
    np.testing.assert_allclose(length_norm(tf.constant([1, 9]), 0.0, "power"), [1, 1])


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_wide_beam_finds_every_sequence_in_order(penalty, norm):
    """Four letters and END, up to length 5: 1 + 4 + ... + 256 that end and 1,024 that are cut."""
    logits = random_logits(3, letters=4, max_length=5)
    expected = every_sequence(logits[0], 5, penalty, norm)
    assert len(expected) == 341 + 1024
    assert_same_but_for_rounding(search(logits, Beam(1365, penalty, norm), 5), expected)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_beam_as_wide_as_all_prefixes_finds_the_optimum(penalty, norm):
    """Three letters and END, up to length 5, in three tables at once; as wide as there are candidates."""
    logits = random_logits(4, letters=3, max_length=5, tables=3)
    width = 4 * 3**4
    found = decode(Scripted(logits), np.array([[0], [1], [2]]), Beam(width, penalty, norm), max_length=5)
    for source in range(3):
        best = every_sequence(logits[source], 5, penalty, norm)[0]
        assert_same(hypotheses(found, source)[:1], [best])


def test_a_wider_beam_may_find_a_worse_best():
    """A A END is the likeliest of all, but a beam of two leaves A A at 0.16 for B A and B B at 0.175."""
    rows = {
        (): {A: 0.4, B: 0.35, C: 0.25},
        (A,): {A: 0.4, B: 0.2, C: 0.2, END: 0.2},
        (B,): {A: 0.5, B: 0.5},
        **{prefix: {A: 0.25, B: 0.25, C: 0.25, END: 0.25} for prefix in [(C,), (B, A), (B, B)]},
    }
    logits = by_prefix(3, 3, {END: 1}, rows)
    narrow, wider, widest = (search(logits, Beam(width), 3)[0] for width in (1, 2, 40))
    assert narrow.ids == widest.ids == (A, A, END)
    assert wider.score < narrow.score - 1


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    letters=st.integers(1, 3),
    max_length=st.integers(0, 5),
    width=st.integers(1, 6),
    penalty=st.sampled_from(PENALTIES),
    norm=st.sampled_from(NORMS),
)
def test_a_narrow_beam_equals_a_beam_of_python_lists(seed, letters, max_length, width, penalty, norm):
    """Two sources with tables of their own, hypothesis by hypothesis."""
    logits = random_logits(seed, letters, max_length, tables=2)
    expected = [list_beam(table, width, max_length, penalty, norm) for table in logits]
    assume(min(gap for _, gap in expected) > 1e-4)
    strategy = Beam(width, penalty, norm)
    found = decode(Scripted(logits), np.array([[1], [0]]), strategy, max_length=max_length)
    assert_same(hypotheses(found, 0), expected[1][0])
    assert_same(hypotheses(found, 1), expected[0][0])


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), width=st.integers(2, 4), dead=st.sampled_from([END, A, B]))
def test_tokens_of_no_probability(seed, width, dead):
    logits = random_logits(seed, 2, 4)
    logits[:, ::2, dead] = -np.inf
    expected, gap = list_beam(logits[0], width, 4, 1.0, "power")
    assume(gap > 1e-4)
    assert_same(search(logits, Beam(width, 1.0, "power"), 4), expected)


def test_own_length_decides():
    """Without a norm the short hypothesis wins, by the mean the long one: the order flips."""
    logits = by_prefix(
        2,
        4,
        {END: 1},
        {(): {A: 0.6, B: 0.4}, (A,): {END: 0.4, A: 0.6}, (A, A): {A: 0.9, END: 0.1}, (B,): {END: 1}},
    )
    assert search(logits, Beam(4), 4)[0].ids == (B, END)  # 0.4
    first = search(logits, Beam(4, 1.0, "power"), 4)[0]
    assert first.ids == (A, A, A, END)  # 0.324, mean of logs -0.282
    assert first.score == pytest.approx(math.log(0.324), abs=1e-5)
    assert first.ranked == pytest.approx(math.log(0.324) / 4, abs=1e-5)


def test_end_is_by_far_the_likeliest():
    logits = logits_of({END: 0.98, A: 0.01, B: 0.01})
    found = search(logits, Beam(3), 6)
    assert [h.ids for h in found] == [(END,), (A, END), (B, END)]
    np.testing.assert_allclose([math.exp(h.score) for h in found], [0.98, 0.0098, 0.0098], rtol=1e-4)


def test_end_never_comes():
    """Nothing finishes: what is cut at the bound answers, without END."""
    logits = logits_of({A: 0.7, B: 0.3})
    decoded = decode(Scripted(logits), ONE_SOURCE, Beam(4, 1.0), max_length=3)
    found = [h.ids for h in hypotheses(decoded)]
    assert found[0] == (A, A, A)
    assert set(found[1:]) == {(A, A, B), (A, B, A), (B, A, A)}  # one and the same product in another order
    np.testing.assert_array_equal(decoded.lengths, [[3, 3, 3, 3]])
    assert END not in decoded.token_ids.numpy()


def test_end_comes_first_and_nothing_else_can():
    decoded = decode(Scripted(logits_of({END: 1.0, A: 0.0})), ONE_SOURCE, Beam(3), max_length=4)
    np.testing.assert_array_equal(decoded.token_ids[0], [[END, 0, 0, 0], [0] * 4, [0] * 4])
    np.testing.assert_allclose(decoded.scores, [[0, -1e9, -1e9]])
    np.testing.assert_allclose(decoded.ranked_scores, [[0, -1e9, -1e9]])
    np.testing.assert_array_equal(decoded.lengths, [[0, 0, 0]])


def test_all_finish_in_one_step():
    rows = {(): {A: 0.5, B: 0.3, C: 0.2}}
    model = Scripted(by_prefix(3, 5, {END: 1}, rows))
    found = hypotheses(decode(model, ONE_SOURCE, Beam(3), max_length=5))
    assert [h.ids for h in found] == [(A, END), (B, END), (C, END)]
    assert model.steps == 2


def test_equal_scores_lower_hypothesis_then_lower_token():
    """All tokens are as likely everywhere: an order by index and id alone, in every mode of running."""
    logits = np.zeros((1, nodes(2, 3), FIRST + 2), "float32")
    model = Scripted(logits)

    def run(source):
        return decode(model, source, Beam(4), max_length=3)

    # Step 1: END, A, B. Step 2: of A: END, A, B; of B: END. Step 3: of AA: END, A, B; of AB: END.
    expected = [(END,), (A, END), (B, END), (A, A, END)]
    for runner in (run, tf.function(run), tf.function(run, jit_compile=True)):
        assert [h.ids for h in hypotheses(runner(tf.constant(ONE_SOURCE)))] == expected


def test_equal_ranked_scores_the_one_that_finished_earlier():
    """(A, END) and (B, B, END) rank equal: 0.25 each, found after 2 and after 3 steps."""
    rows = {(): {A: 0.25, B: 0.75}, (A,): {END: 1}, (B,): {B: 1 / 3, C: 2 / 3}}
    rows |= {(B, B): {END: 1}, (B, C): {END: 1}}
    found = search(by_prefix(3, 4, {END: 1}, rows), Beam(4), 4)
    assert [h.ids for h in found] == [(B, C, END), (A, END), (B, B, END)]


def test_beams_swap_parents_after_one_has_finished():
    """(A, END) finishes behind the leader, then both live hypotheses come from the lower one."""
    rows = {
        (): {A: 0.55, B: 0.45},
        (A,): {END: 0.6, A: 0.3, B: 0.1},
        (B,): {A: 0.5, B: 0.5},
        (A, A): {C: 0.05, B: 0.95},
        (B, A): {END: 0.2, A: 0.8},
        (B, B): {END: 0.9, C: 0.1},
    }
    logits = by_prefix(3, 5, {END: 1}, rows)
    for width in (2, 3, 4):
        expected, _ = list_beam(logits[0], width, 5, 0.6)
        found = search(logits, Beam(width, 0.6), 5)
        for hypothesis in found:
            assert hypothesis.score == pytest.approx(score_of(logits[0], hypothesis.ids), abs=1e-5)
        np.testing.assert_allclose([h.ranked for h in found], [h.ranked for h in expected], atol=1e-5)
    found = search(logits, Beam(3, 0.6), 5)
    assert found[0].ids == (A, END)
    assert (B, B, END) in [h.ids for h in found]


class SumOfTokens:
    """Its state is the sum of the tokens so far, which its logits depend on: a wrong parent shows."""

    vocab_size = 7

    def encode(self, source):
        return tf.cast(source[:, 0], tf.int32)

    def init_state(self, memory, width, max_length):
        return {"sum": tf.zeros([tf.shape(memory)[0], width, 1], tf.int32)}

    def step(self, token_ids, index, state, memory):
        total = state["sum"][..., 0] + tf.cast(token_ids, tf.int32)
        ids = tf.range(self.vocab_size)
        logits = tf.cast((total[..., None] * (ids + 2) + memory[:, None, None] * ids) % 11, tf.float32) / 3
        return logits, {"sum": total[..., None]}


def test_state_follows_its_parent():
    sources = np.array([[1], [4], [8]])
    decoded = decode(SumOfTokens(), sources, Beam(5, 1.0), max_length=6)
    for source in range(3):
        found = hypotheses(decoded, source)
        assert len(found) == 5
        for hypothesis in found:
            total, score = 1, 0.0
            for token in hypothesis.ids:
                logits = (total * (np.arange(7) + 2) + sources[source, 0] * np.arange(7)) % 11 / 3
                score += logits[token] - np.log(np.exp(logits).sum())
                total += token
            assert hypothesis.score == pytest.approx(score, abs=1e-4)


FINISHING = logits_of({END: 0.9, A: 0.09, B: 0.01})


@pytest.mark.parametrize(
    ("strategy", "max_length", "steps"),
    [
        # After 2 steps END (0.9) and A END (0.081) are finished, and the best live one is A A (0.0081).
        (Beam(2), 50, 2),
        # By the mean, A A could still beat A END: ln 0.0081 / 4 = -1.20 > ln 0.081 / 2 = -1.26. A A A cannot.
        (Beam(2, 1.0, "power"), 4, 3),
        # A negative penalty multiplies by the length: the shortest is the best that is left.
        (Beam(2, -1.0, "power"), 50, 2),
        (Beam(1), 50, 1),
        (Greedy(), 50, 1),
    ],
)
def test_search_stops_as_soon_as_nothing_can_change(strategy, max_length, steps):
    model = Scripted(FINISHING)
    decode(model, ONE_SOURCE, strategy, max_length=max_length)
    assert model.steps == steps


def test_search_does_not_stop_too_early():
    """A hypothesis that trails until the end becomes the best one by its length norm."""
    rows = {
        (): {END: 0.5, A: 0.3, B: 0.2},
        (B,): {A: 1},
        (B, A): {A: 1},
        (B, A, A): {A: 1},
        (A,): {END: 0.9, A: 0.1},
    }
    logits = by_prefix(2, 6, {END: 1}, rows)
    found = search(logits, Beam(3, 2.0, "power"), 6)
    assert found[0].ids == (B, A, A, A, END)
    assert found[0].ids == every_sequence(logits[0], 6, 2.0, "power")[0].ids


def test_more_hypotheses_than_sequences():
    """Two letters, length 1: END, A and B, and then nothing."""
    decoded = decode(Scripted(random_logits(5, 2, 1)), ONE_SOURCE, Beam(7), max_length=1)
    assert sorted(h.ids for h in hypotheses(decoded)) == [(END,), (A,), (B,)]
    np.testing.assert_array_equal(decoded.ranked_scores[0, 3:], [-1e9] * 4)
    np.testing.assert_array_equal(decoded.scores[0, 3:], [-1e9] * 4)
    np.testing.assert_array_equal(decoded.token_ids[0, 3:], np.zeros((4, 1)))
    np.testing.assert_array_equal(decoded.lengths[0, 3:], np.zeros(4))


def test_transforms_steer_but_do_not_enter_scores():
    logits = random_logits(6, 3, 4)

    def no_a(following, token_ids, index):
        ids = tf.range(following.searched.shape[2])
        return following.steer(tf.where(ids == A, -math.inf, following.searched))

    def halved(following, token_ids, index):
        return following.steer(following.searched / 2)

    plain = search(logits, Beam(6, 1.0), 4)
    steered = search(logits, Beam(6, 1.0), 4, transforms=[no_a, halved])
    assert any(A in h.ids for h in plain)
    for hypothesis in steered:
        raw = score_of(logits[0], hypothesis.ids)
        assert A not in hypothesis.ids
        assert hypothesis.score == pytest.approx(raw, abs=1e-5)
        assert hypothesis.ranked == pytest.approx(raw / 2 / ((5 + len(hypothesis.ids)) / 6), abs=1e-5)


def test_transforms_see_the_hypotheses_so_far():
    """No token twice in a row, told from the ids that the transform is handed."""

    def no_repeat(following, token_ids, index):
        last = tf.where(index > 0, token_ids[:, :, tf.maximum(index - 1, 0)], -1)
        ids = tf.range(following.searched.shape[2])
        return following.steer(tf.where(ids == last[..., None], -math.inf, following.searched))

    for strategy in (Beam(4), Greedy()):
        found = search(logits_of({A: 0.6, B: 0.3, C: 0.1}), strategy, 6, transforms=[no_repeat])
        assert found[0].ids == (A, B, A, B, A, B)
        for hypothesis in found:
            assert all(x != y for x, y in zip(hypothesis.ids, hypothesis.ids[1:], strict=False))


def test_each_source_follows_its_own_table():
    """Batch 2, width 3, length 5, all different, as are the sources of a batch."""
    logits = random_logits(7, 3, 5, tables=2)
    decoded = decode(Scripted(logits), np.array([[1], [0]]), Beam(3), max_length=5)
    assert decoded.token_ids.shape == (2, 3, 5)
    for row, table in ((0, 1), (1, 0)):
        for hypothesis in hypotheses(decoded, row):
            assert hypothesis.score == pytest.approx(score_of(logits[table], hypothesis.ids), abs=1e-5)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="1 or more, got 0"):
        Beam(0)
    with pytest.raises(ValueError, match="wu, power, got 'mean'"):
        Beam(2, norm="mean")
    with pytest.raises(ValueError, match="0 or more, got -1"):
        decode(Scripted(FINISHING), ONE_SOURCE, Beam(2), max_length=-1)
