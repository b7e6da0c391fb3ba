"""Metrics against numbers worked out by hand."""

import pytest

from zoo.metrics import (
    character_error_rate,
    edit_distance,
    exact_match,
    phoneme_error_rate,
    string_error_rate,
    word_error_rate,
)

DISTANCES = [
    ("", "", 0),
    ("", "abc", 3),
    ("abc", "", 3),
    ("abc", "abc", 0),
    ("kitten", "sitting", 3),  # k to s, e to i, g added
    ("flaw", "lawn", 2),  # f taken, n added
    ("ab", "ba", 2),  # exchanging neighbours is two edits
    ("2019-02-15", "2019-02-51", 2),
    ("2019-02-15", "2018-02-15", 1),
    ("ß日🙂", "ß月🙂", 1),  # code points count, not bytes
]


@pytest.mark.parametrize(("left", "right", "distance"), DISTANCES)
def test_edit_distance_both_ways(left, right, distance):
    assert edit_distance(left, right) == distance
    assert edit_distance(right, left) == distance


def test_edit_distance_of_words():
    assert edit_distance(["the", "cat", "sat"], ["the", "dog", "sat", "down"]) == 2


def test_edit_distance_equals_its_recursive_definition():
    def by_definition(left, right):
        if not left or not right:
            return len(left) + len(right)
        return min(
            by_definition(left[:-1], right) + 1,
            by_definition(left, right[:-1]) + 1,
            by_definition(left[:-1], right[:-1]) + (left[-1] != right[-1]),
        )

    words = [a + b + c + d for a in "ab" for b in ("", "a", "b") for c in ("", "b") for d in ("", "c")]
    assert all(edit_distance(x, y) == by_definition(x, y) for x in words for y in words)


def test_exact_match_is_the_share_of_equal_pairs():
    assert exact_match(["a", "b", "c ", ""], ["a", "x", "c", ""]) == 0.5
    assert exact_match(["a"], ["a"]) == 1.0
    assert exact_match(["a"], ["A"]) == 0.0


def test_character_error_rate_divides_sums():
    # 1 edit in 4 characters and 2 in 1: (1 + 2) / (4 + 1), not the mean of 1/4 and 2/1.
    assert character_error_rate(["abcx", "yyy"], ["abcd", "y"]) == pytest.approx(3 / 5)


def test_character_error_rate_of_missing_and_of_long_answers():
    assert character_error_rate([""], ["abc"]) == 1.0
    assert character_error_rate(["abcdef"], ["a"]) == 5.0
    assert character_error_rate(["abc"], ["abc"]) == 0.0
    assert character_error_rate(["a", "ab"], ["", "ab"]) == 0.5


def test_string_error_rate_is_the_share_of_unequal_pairs():
    assert string_error_rate(["a", "b", "c ", "d"], ["a", "x", "c", "d"]) == 0.5


@pytest.mark.parametrize("metric", [word_error_rate, phoneme_error_rate])
def test_error_rates_of_what_stands_between_spaces(metric):
    # One substitution in 3, then one deletion and one insertion in 2: (1 + 2) / (3 + 2).
    assert metric(["t͡ʃ a t", "a b c"], ["t͡ʃ ɑ t", "b d"]) == pytest.approx(3 / 5)
    assert metric(["  a   b "], ["a b"]) == 0.0
    assert metric([""], ["a b"]) == 1.0
    with pytest.raises(ValueError, match="not empty"):
        metric(["a"], [" "])


EVERY = [exact_match, character_error_rate, word_error_rate, phoneme_error_rate, string_error_rate]


@pytest.mark.parametrize("metric", EVERY)
def test_metrics_refuse_what_cannot_be_judged(metric):
    with pytest.raises(ValueError, match="2 predictions and 1 references"):
        metric(["a", "b"], ["a"])
    with pytest.raises(ValueError, match="at least one pair"):
        metric([], [])


def test_character_error_rate_refuses_empty_references():
    with pytest.raises(ValueError, match="not empty"):
        character_error_rate(["a"], [""])
