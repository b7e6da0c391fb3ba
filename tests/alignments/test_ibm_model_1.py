"""Model 1 against numbers worked out by hand, and against the likelihood written out in plain Python."""

import math
from itertools import pairwise

import numpy as np
import pytest

from zoo.alignments import IbmModel1

SOURCES = [["a", "b"], ["a"]]
TARGETS = [["x", "y"], ["x"]]
"""Two sentence pairs. Round 1 starts from t(x|.) = t(y|.) = 1/2 for NULL, a and b, each of which met both.

Pair 1 gives x and y a third of a count each with NULL, a and b. Pair 2 gives x a half with NULL and with a.
So

    count(x|NULL) = 1/3 + 1/2 = 5/6, count(y|NULL) = 1/3, and the same for a; count(x|b) = count(y|b) = 1/3
    t(x|NULL) = t(x|a) = 5/7, t(y|NULL) = t(y|a) = 2/7, t(x|b) = t(y|b) = 1/2

Round 2, pair 1: x divides 5/7 + 5/7 + 1/2 = 27/14, so NULL and a get 10/27 and b gets 7/27;
y divides 2/7 + 2/7 + 1/2 = 15/14, so NULL and a get 4/15 and b gets 7/15. Pair 2: a half each.
"""


def test_one_round_by_hand():
    model = IbmModel1.learn(SOURCES, TARGETS, rounds=1)
    for source in (None, "a"):
        assert model.probability("x", source) == pytest.approx(5 / 7)
        assert model.probability("y", source) == pytest.approx(2 / 7)
    assert model.probability("x", "b") == model.probability("y", "b") == pytest.approx(1 / 2)
    assert model.probability("z", "a") == model.probability("x", "c") == 0
    # Each of the three words has 1/2 + 1/2 + 1/2 over 3, or 1/2 + 1/2 over 2, which is 1/2.
    before = 3 * math.log(1 / 2)
    after = math.log(27 / 14 / 3) + math.log(15 / 14 / 3) + math.log(10 / 7 / 2)
    assert model.log_likelihoods == pytest.approx((before, after))


def test_two_rounds_by_hand():
    model = IbmModel1.learn(SOURCES, TARGETS, rounds=2)
    x, y = 10 / 27 + 1 / 2, 4 / 15
    assert model.probability("x", "a") == pytest.approx(x / (x + y))
    assert model.probability("y", "a") == pytest.approx(y / (x + y))
    assert model.probability("y", "b") == pytest.approx((7 / 15) / (7 / 15 + 7 / 27))


def test_in_the_end_each_word_has_its_own():
    """With b alone free for y, and NULL and a for x, b says y."""
    model = IbmModel1.learn(SOURCES, TARGETS, rounds=200)
    assert model.probability("y", "b") == pytest.approx(1, abs=1e-3)
    assert model.align(["a", "b"], ["y", "x"]) == {(1, 0), (0, 1)}


def written_out(sources, targets, rounds):
    """The equations of the docstring, with dictionaries."""
    pairs = [([None, *source], target) for source, target in zip(sources, targets, strict=True)]
    met = {}
    for source, target in pairs:
        for e in source:
            met.setdefault(e, set()).update(target)
    t = {(f, e): 1 / len(fs) for e, fs in met.items() for f in fs}
    for _ in range(rounds):
        counts = dict.fromkeys(t, 0.0)
        for source, target in pairs:
            for f in target:
                total = sum(t[f, e] for e in source)
                for e in source:
                    counts[f, e] += t[f, e] / total
        sums = {e: sum(counts[f, e] for f in fs) for e, fs in met.items()}
        t = {(f, e): counts[f, e] / sums[e] for f, e in counts}
    return t


@pytest.fixture(scope="module")
def corpus():
    random = np.random.default_rng(7)
    sources = [list(random.choice(list("abcdefg"), random.integers(1, 6))) for _ in range(40)]
    return sources, [[word.upper() for word in reversed(source)] for source in sources]


def test_it_is_the_model_written_out(corpus):
    model = IbmModel1.learn(*corpus, rounds=4)
    for (f, e), value in written_out(*corpus, 4).items():
        assert model.probability(f, e) == pytest.approx(value, abs=1e-12)


def test_probabilities_of_a_word_add_up_to_1(corpus):
    model = IbmModel1.learn(*corpus, rounds=3)
    for source in (None, *"abcdefg"):
        assert sum(model.probability(word, source) for word in "ABCDEFG") == pytest.approx(1)


def test_the_likelihood_never_falls(corpus):
    likelihoods = IbmModel1.learn(*corpus, rounds=12).log_likelihoods
    assert len(likelihoods) == 13
    assert all(after >= before - 1e-9 for before, after in pairwise(likelihoods))
    assert likelihoods[-1] > likelihoods[0] + 10


def test_it_finds_words_that_stand_in_another_order(corpus):
    sources, targets = corpus
    model = IbmModel1.learn(sources, targets, rounds=10)
    assert model.align(["a", "b", "c"], ["C", "B", "A"]) == {(0, 2), (1, 1), (2, 0)}


def test_what_nobody_said_has_no_link(corpus):
    model = IbmModel1.learn(*corpus, rounds=2)
    assert model.align(["a"], ["unknown"]) == set()
    assert model.align([], ["A"]) == set()
    assert model.align(["a"], []) == set()


def test_null_says_what_is_everywhere():
    sources = [["a"], ["b"], ["c"], ["d"]]
    targets = [["the", "A"], ["the", "B"], ["the", "C"], ["the", "D"]]
    model = IbmModel1.learn(sources, targets, rounds=30)
    assert model.probability("the", None) > 0.9
    assert model.align(["a"], ["the", "A"]) == {(0, 1)}


@pytest.mark.parametrize(
    ("sources", "targets", "told"),
    [([["a"]], [], "got 1 sources and 0 targets"), ([], [], "got 0"), ([["a"]], [[]], "some words")],
)
def test_what_cannot_be_learned_is_told(sources, targets, told):
    with pytest.raises(ValueError, match=told):
        IbmModel1.learn(sources, targets)


def test_there_is_a_round():
    with pytest.raises(ValueError, match="rounds is a whole number of 1 or more, got 0"):
        IbmModel1.learn([["a"]], [["b"]], rounds=0)
