import math

import numpy as np
import pytest
import tensorflow as tf
from scripted import END, FIRST, Scripted, hypotheses, logits_of, random_logits, score_of

from zoo.decoders import Sample, Temperature, TopK, TopP, decode
from zoo.decoders.sample import uniform

A, B, C = FIRST, FIRST + 1, FIRST + 2
PROBABILITIES = {END: 0.1, A: 0.4, B: 0.2, C: 0.3}


def first_tokens(count, transforms=(), probabilities=PROBABILITIES):
    """How often each token came first, in so many draws."""
    found = decode(
        Scripted(logits_of(probabilities)),
        np.zeros((count, 1), "int32"),
        Sample(tf.range(count)),
        max_length=1,
        transforms=transforms,
    )
    ids, counts = np.unique(found.token_ids.numpy()[:, 0, 0], return_counts=True)
    return dict(zip(ids.tolist(), (counts / count).tolist(), strict=True))


def assert_drawn_as(found, expected, count):
    """No frequency is more than 4.5 deviations from its probability."""
    assert set(found) == set(expected)
    for token, probability in expected.items():
        assert abs(found[token] - probability) < 4.5 * math.sqrt(probability * (1 - probability) / count)


def test_draws_with_the_probabilities_of_the_model():
    assert_drawn_as(first_tokens(20_000), PROBABILITIES, 20_000)


def test_temperature_by_hand():
    """At 0.5 probabilities are squared: 0.01, 0.16, 0.04, 0.09 of 0.30."""
    expected = {END: 1 / 30, A: 16 / 30, B: 4 / 30, C: 9 / 30}
    assert_drawn_as(first_tokens(20_000, [Temperature(0.5)]), expected, 20_000)


def test_the_coldest_is_greedy():
    for temperature in (0.0, -1.0, 1e-6):
        assert first_tokens(300, [Temperature(temperature)]) == {A: 1.0}


def test_top_k_by_hand():
    assert_drawn_as(first_tokens(20_000, [TopK(2)]), {A: 4 / 7, C: 3 / 7}, 20_000)
    assert first_tokens(300, [TopK(1)]) == {A: 1.0}
    assert set(first_tokens(300, [TopK(100)])) == set(PROBABILITIES)


def test_top_p_by_hand():
    """A reaches 0.4, A and C 0.7, A, C and B 0.9."""
    assert first_tokens(300, [TopP(0.0)]) == {A: 1.0}
    assert first_tokens(300, [TopP(0.39)]) == {A: 1.0}
    assert_drawn_as(first_tokens(20_000, [TopP(0.6)]), {A: 4 / 7, C: 3 / 7}, 20_000)
    assert set(first_tokens(300, [TopP(0.75)])) == {A, B, C}
    assert set(first_tokens(300, [TopP(1.0)])) == set(PROBABILITIES)


def test_of_equal_tokens_the_lower_ids_are_kept():
    equal = {END: 0.25, A: 0.25, B: 0.25, C: 0.25}
    assert set(first_tokens(300, [TopK(2)], equal)) == {END, A}
    assert set(first_tokens(300, [TopP(0.5)], equal)) == {END, A}


def test_each_source_has_knobs_of_its_own():
    count = 300
    logits = Scripted(logits_of(PROBABILITIES))
    cold, few, some = (np.where(np.arange(3 * count) // count == part, 1, 0) for part in range(3))
    transforms = [
        Temperature(tf.constant(np.where(cold, 0.0, 1.0), tf.float32)),
        TopK(tf.constant(np.where(few, 2, 0), tf.int32)),
        TopP(tf.constant(np.where(some, 0.75, 1.0), tf.float32)),
    ]
    found = decode(
        logits,
        np.zeros((3 * count, 1), "int32"),
        Sample(tf.range(3 * count)),
        max_length=1,
        transforms=transforms,
    ).token_ids.numpy()[:, 0, 0]
    assert [set(part.tolist()) for part in np.split(found, 3)] == [{A}, {A, C}, {A, B, C}]


def test_the_same_seed_says_the_same_in_any_batch():
    logits, seeds = random_logits(21, 3, 6), [5, -1, 2**31 - 1, 0, 5]
    model, sources = Scripted(logits), np.zeros((5, 1), "int32")
    together = decode(model, sources, Sample(tf.constant(seeds)), max_length=6)
    for row, seed in enumerate(seeds):
        alone = decode(model, sources[:1], Sample(seed), max_length=6)
        np.testing.assert_array_equal(alone.token_ids[0], together.token_ids[row])
    np.testing.assert_array_equal(together.token_ids[0], together.token_ids[4])
    assert len({tuple(ids) for ids in together.token_ids.numpy()[:, 0].tolist()}) > 2


def test_scores_are_those_of_the_model_whatever_was_drawn_from():
    logits = random_logits(22, 3, 5)
    found = decode(
        Scripted(logits),
        np.zeros((50, 1), "int32"),
        Sample(tf.range(50)),
        max_length=5,
        transforms=[Temperature(2.0), TopK(3)],
    )
    for source in range(50):
        (hypothesis,) = hypotheses(found, source)
        assert hypothesis.score == pytest.approx(score_of(logits[0], hypothesis.ids), abs=1e-5)


def test_uniform_numbers():
    """Even over seeds, over steps, and over both together; neighbours have nothing to do with each other."""
    drawn = np.array([uniform(tf.range(-10_000, 10_000), tf.constant(index)) for index in range(16)])
    assert drawn.min() >= 0
    assert drawn.max() < 1
    for numbers in (drawn[0], drawn[:, :1000].ravel(), drawn.ravel()):
        counts, _ = np.histogram(numbers, bins=50, range=(0, 1))
        expected = len(numbers) / 50
        chi_squared = ((counts - expected) ** 2 / expected).sum()
        assert chi_squared < 95  # of 49 degrees of freedom: one in 10,000 is greater
    deviations = 4.5 / math.sqrt(drawn.shape[1])
    assert abs(np.corrcoef(drawn)[~np.eye(16, dtype=bool)]).max() < deviations
    assert abs(np.corrcoef(drawn[:, :-1].ravel(), drawn[:, 1:].ravel())[0, 1]) < deviations


def test_uniform_numbers_are_the_same_in_every_mode():
    seeds = tf.constant([0, 1, -1, 2**31 - 1, -(2**31)])
    expected = uniform(seeds, tf.constant(3))
    for jit_compile in (False, True):
        found = tf.function(uniform, jit_compile=jit_compile)(seeds, tf.constant(3))
        np.testing.assert_array_equal(found, expected)
