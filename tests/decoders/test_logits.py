import itertools
import math

import numpy as np
import pytest
import tensorflow as tf
from scripted import END, FIRST, Scripted, every_sequence, hypotheses, logits_of, random_logits, score_of

from zoo.decoders import (
    AllowedTokens,
    Beam,
    ForbiddenTokens,
    ForcedPrefix,
    Greedy,
    MinimumLength,
    NoRepeatNGram,
    OnlyEnd,
    RepetitionPenalty,
    Temperature,
    decode,
)

A, B, C = FIRST, FIRST + 1, FIRST + 2
ALL = 121
"""As wide as there are sequences of up to 4 of 3 letters."""


def search(logits, transforms, strategy=None, max_length=4, sources=1, **kwargs):
    strategy = strategy or Beam(ALL)
    model, ids = Scripted(logits), np.zeros((sources, 1), "int32")
    return decode(model, ids, strategy, max_length=max_length, transforms=transforms, **kwargs)


def ids_of(found, source=0):
    return [hypothesis.ids for hypothesis in hypotheses(found, source)]


@pytest.fixture(scope="module")
def logits():
    return random_logits(31, 3, 4)


@pytest.fixture(scope="module")
def every(logits):
    """All sequences, best first."""
    return [hypothesis.ids for hypothesis in every_sequence(logits[0], 4)]


def test_only_end_for_some_of_the_sources(logits):
    plain = search(logits, [], Beam(3), sources=2)
    steered = search(logits, [OnlyEnd(tf.constant([True, False]))], Beam(3), sources=2)
    (only,) = hypotheses(steered, 0)
    assert only.ids == (END,)
    assert only.score == only.ranked == pytest.approx(score_of(logits[0], (END,)), abs=1e-5)
    assert hypotheses(steered, 1) == hypotheses(plain, 1)


def test_minimum_length(logits, every):
    found = search(logits, [MinimumLength(3)])
    assert ids_of(found) == [ids for ids in every if len(ids) - (ids[-1] == END) >= 3]


def test_minimum_length_of_each_source(logits, every):
    found = search(logits, [MinimumLength(tf.constant([0, 2, 99]))], sources=3)
    for source, least in enumerate((0, 2, 4)):
        assert ids_of(found, source) == [ids for ids in every if len(ids) - (ids[-1] == END) >= least]


def test_greatest_length_of_each_source(logits):
    found = search(logits, [], sources=4, max_lengths=tf.constant([0, 1, 3, 99]))
    for source, bound in enumerate((0, 1, 3, 4)):
        expected = every_sequence(logits[0], bound)
        assert ids_of(found, source) == [hypothesis.ids for hypothesis in expected]
        assert max(found.lengths[source]) == bound


def test_greatest_length_of_each_source_in_every_strategy(logits):
    bounds = tf.constant([0, 1, 3, 4])
    for strategy in (Greedy(), Beam(3, 1.0)):
        found = search(logits, [], strategy, sources=4, max_lengths=bounds)
        for source, bound in enumerate(bounds.numpy().tolist()):
            alone = search(logits, [], strategy, max_length=bound)
            assert ids_of(found, source) == ids_of(alone)
            np.testing.assert_allclose(found.ranked_scores[source], alone.ranked_scores[0], atol=1e-6)


def test_forbidden_tokens(logits, every):
    found = search(logits, [ForbiddenTokens([A, C])])
    assert ids_of(found) == [ids for ids in every if A not in ids and C not in ids]


def test_forbidden_tokens_of_each_source(logits, every):
    """As many as each wants; PAD, which never follows, fills the rest."""
    found = search(logits, [ForbiddenTokens(tf.constant([[A, C], [B, 0], [0, 0]]))], sources=3)
    for source, forbidden in enumerate(({A, C}, {B}, set())):
        assert ids_of(found, source) == [ids for ids in every if not forbidden & {*ids}]
    assert ids_of(search(logits, [ForbiddenTokens([])])) == every


def test_a_forced_prefix_searches_what_follows_it(logits, every):
    prefix = ForcedPrefix(tf.constant([[B, A], [C, 0], [0, 0]]), tf.constant([2, 1, 0]))
    found = search(logits, [prefix], sources=3)
    for source, given in enumerate([(B, A), (C,), ()]):
        assert ids_of(found, source) == [ids for ids in every if ids[: len(given)] == given]
        for hypothesis in hypotheses(found, source):
            raw, before = score_of(logits[0], hypothesis.ids), score_of(logits[0], given)
            assert hypothesis.score == pytest.approx(raw, abs=1e-5)
            assert hypothesis.ranked == pytest.approx(raw - before, abs=1e-5)


def test_the_norm_does_not_count_what_is_given(logits):
    given = tf.constant([2, 0])
    prefix = ForcedPrefix(tf.constant([[B, A], [0, 0]]), given)
    for norm, power in itertools.product(("wu", "power"), (0.6, 1.0, -1.0)):
        found = search(logits, [prefix], Beam(ALL, power, norm, given=given), sources=2)
        for hypothesis in hypotheses(found, 0):
            own = hypothesis.ids[2:]
            count = max(len(own), 1)
            expected = score_of(logits[0], hypothesis.ids) - score_of(logits[0], (B, A))
            expected /= ((5 + count) / 6 if norm == "wu" else count) ** power
            assert hypothesis.ranked == pytest.approx(expected, abs=1e-5)
        plain = search(logits, [], Beam(ALL, power, norm))
        assert ids_of(found, 1) == ids_of(plain)


def test_a_prefix_as_long_as_the_bound_is_the_answer(logits):
    prefix = ForcedPrefix(tf.constant([[B, A, C, C]]), tf.constant([4]))
    for strategy in (Greedy(), Beam(3)):
        assert ids_of(search(logits, [prefix], strategy)) == [(B, A, C, C)]
        assert ids_of(search(logits, [prefix], strategy, max_length=2)) == [(B, A)]


def test_a_prefix_may_be_what_the_model_would_never_say():
    logits = logits_of({END: 0.5, A: 0.5, B: 0.0})
    found = search(logits, [ForcedPrefix(tf.constant([[B]]), tf.constant([1]))], Beam(2))
    assert ids_of(found)[0][0] == B
    assert np.isfinite(found.scores).all()


def test_allowed_tokens_by_the_last_one(logits, every):
    """A letter may only be followed by a later one, or the end."""

    def later(last):
        assert last.shape[2] == 1
        return (tf.range(6) > last) | (tf.range(6) == END)

    found = search(logits, [AllowedTokens(later)])
    assert ids_of(found) == [
        ids for ids in every if list(ids[: len(ids) - (ids[-1] == END)]) == sorted({*ids} - {END})
    ]


def test_allowed_tokens_see_as_many_as_they_ask_for(logits):
    seen = []

    def all_of_them(last):
        seen.append(last.numpy()[0, 0].tolist())
        return tf.ones([1, 1, 6], tf.bool)

    ids = search(logits, [AllowedTokens(all_of_them, last=2), MinimumLength(4)], Greedy()).token_ids[0, 0]
    a, b, c, _ = ids.numpy().tolist()
    assert seen == [[0, 0], [0, a], [a, b], [b, c]]


def test_repetition_penalty_by_hand():
    """Every further A counts double, then the same again: a token said twice is said once more."""
    logits = logits_of({END: 0.1, A: 0.6, B: 0.3})
    penalty = RepetitionPenalty(2.0)
    for hypothesis in hypotheses(search(logits, [penalty])):
        expected, before = 0.0, set()
        for token in hypothesis.ids:
            expected += score_of(logits[0], [token]) * (2 if token in before else 1)
            before.add(token)
        assert hypothesis.ranked == pytest.approx(expected, abs=1e-5)
        assert hypothesis.score == pytest.approx(score_of(logits[0], hypothesis.ids), abs=1e-5)


def test_repetition_penalty_of_each_source():
    logits = logits_of({END: 0.1, A: 0.6, B: 0.3})
    found = search(logits, [RepetitionPenalty(tf.constant([1.0, 3.0]))], Greedy(), sources=2)
    assert ids_of(found, 0) == [(A, A, A, A)]
    assert ids_of(found, 1) == [(A, B, A, A)] or ids_of(found, 1)[0][:2] == (A, B)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_no_ngram_twice(size, logits, every):
    def repeats(ids):
        grams = list(zip(*(ids[offset:] for offset in range(size)), strict=False))
        return len(set(grams)) < len(grams)

    assert ids_of(search(logits, [NoRepeatNGram(size)])) == [ids for ids in every if not repeats(ids)]


def test_no_ngram_twice_of_each_source(logits, every):
    """Of a size of its own; 0 allows all, and so does a size that no hypothesis reaches."""
    found = search(logits, [NoRepeatNGram(tf.constant([2, 0, 1, 9, 3]))], sources=5)
    for source, size in enumerate((2, 0, 1, 9, 3)):
        alone = search(logits, [NoRepeatNGram(size)])
        assert ids_of(found, source) == ids_of(alone)
    assert ids_of(found, 1) == ids_of(found, 3) == every
    assert len(ids_of(found, 2)) < len(ids_of(found, 0)) < len(ids_of(found, 4)) < len(every)


def test_transforms_are_applied_in_order():
    """Halving and then forbidding, or the other way round: each sees what the one before left."""
    logits = logits_of({END: 0.1, A: 0.6, B: 0.3})
    hot = search(logits, [ForbiddenTokens([A]), Temperature(1.0)], max_length=1)
    assert [round(math.exp(h.ranked), 4) for h in hypotheses(hot)] == [0.75, 0.25]
    cold = search(logits, [Temperature(1.0), ForbiddenTokens([A])], max_length=1)
    assert [round(math.exp(h.ranked), 4) for h in hypotheses(cold)] == [0.3, 0.1]


@pytest.mark.parametrize("temperature", [1e-4, 0.0, -5.0])
def test_a_temperature_below_a_thousandth_counts_as_that(temperature):
    """A is 1.001 times as likely as B, so that a thousandth leaves B a probability of 1 / (1 + e)."""
    logits = logits_of({END: 1e-9, A: 1.001 / 2.001, B: 1 / 2.001})
    for coldest in (0.001, temperature):
        found = hypotheses(search(logits, [Temperature(coldest)], max_length=1))
        likelier = 1.001**1000
        expected = [likelier / (1 + likelier), 1 / (1 + likelier)]
        assert [math.exp(h.ranked) for h in found[:2]] == pytest.approx(expected, abs=1e-3)


EVERY_TRANSFORM = [
    MinimumLength(tf.constant([0, 1, 2])),
    ForbiddenTokens(tf.constant([[C, A], [0, 0], [C, 0]])),
    RepetitionPenalty(tf.constant([1.0, 1.5, 2.0])),
    NoRepeatNGram(tf.constant([2, 0, 3])),
    AllowedTokens(lambda last: tf.range(FIRST + 3) != tf.where(last[:, :, :1] == B, A, C), last=2),
    Temperature(tf.constant([1.0, 0.5, 2.0])),
    ForcedPrefix(tf.constant([[A], [0], [B]]), tf.constant([1, 0, 1])),
    OnlyEnd(tf.constant([False, True, False])),
]


@pytest.mark.parametrize("strategy", [Greedy(), Beam(3, 0.6)], ids=["greedy", "beam"])
def test_all_of_them_together_in_every_mode(strategy):
    logits = random_logits(33, 3, 5)

    def run(source):
        return decode(Scripted(logits), source, strategy, max_length=5, transforms=EVERY_TRANSFORM)

    source = tf.zeros([3, 1], tf.int32)
    expected = run(source)
    for jit_compile in (False, True):
        found = tf.function(run, jit_compile=jit_compile)(source)
        np.testing.assert_array_equal(found.token_ids, expected.token_ids)
        np.testing.assert_allclose(found.ranked_scores, expected.ranked_scores, atol=1e-5)
    assert ids_of(expected, 1)[0] == (END,)


def test_widths_of_each_source_are_beams_of_their_own(logits):
    widths = [1, 3, 2]
    found = search(logits, [], Beam(4, 0.6, widths=tf.constant(widths)), sources=3)
    for source, width in enumerate(widths):
        alone = hypotheses(search(logits, [], Beam(width, 0.6)))
        assert hypotheses(found, source) == alone
        np.testing.assert_array_equal(found.scores[source, width:], [-1e9] * (4 - width))


def test_penalties_of_each_source_are_beams_of_their_own(logits):
    penalties = [-1.0, 0.0, 2.0]
    found = search(logits, [], Beam(5, tf.constant(penalties), "power"), sources=3)
    for source, penalty in enumerate(penalties):
        alone = search(logits, [], Beam(5, penalty, "power"))
        assert ids_of(found, source) == ids_of(alone)
        np.testing.assert_allclose(found.ranked_scores[source], alone.ranked_scores[0], atol=1e-6)
