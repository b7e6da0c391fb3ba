"""Tables at their extremes, for every penalty, norm and width: against enumeration and plain lists."""

import itertools
import math

import numpy as np
import pytest
from compared import assert_same_but_for_rounding
from scripted import (
    END,
    FIRST,
    Scripted,
    by_prefix,
    every_sequence,
    hypotheses,
    list_beam,
    logits_of,
    random_logits,
)

from zoo.decoders import Beam, decode

A, B, C, D = range(FIRST, FIRST + 4)
LENGTH = 5
SEQUENCES = {2: 31 + 32, 3: 121 + 243, 4: 341 + 1024}
"""How many there are of so many letters: those that end after 0 to 4, and those that are cut after 5."""
PENALTIES = (-1.0, 0.0, 0.6, 1.0, 2.0)


def without_end(seed):
    logits = random_logits(seed, 3, LENGTH)
    logits[:, :, END] = -np.inf
    return logits


def by_last_letter(letters, rows):
    """What follows a letter: {letter, or None at first: {token: probability}}."""
    prefixes = (prefix for n in range(LENGTH) for prefix in itertools.product(letters, repeat=n))
    typed = {prefix: rows[prefix[-1] if prefix else None] for prefix in prefixes}
    return by_prefix(len(letters), LENGTH, {END: 1}, typed)


FOUR_LETTERS = {
    None: {END: 0.06, A: 0.41, B: 0.29, C: 0.17, D: 0.07},
    A: {END: 0.23, A: 0.05, B: 0.37, C: 0.24, D: 0.11},
    B: {END: 0.13, A: 0.31, B: 0.08, C: 0.09, D: 0.39},
    C: {END: 0.52, A: 0.04, B: 0.15, C: 0.26, D: 0.03},
    D: {END: 0.19, A: 0.21, B: 0.12, C: 0.47, D: 0.01},
}
THREE_LETTERS = {
    None: {END: 0.12, A: 0.34, B: 0.33, C: 0.21},
    A: {END: 0.09, A: 0.48, B: 0.16, C: 0.27},
    B: {END: 0.57, A: 0.11, B: 0.18, C: 0.14},
    C: {END: 0.02, A: 0.36, B: 0.43, C: 0.19},
}

TABLES = {
    "four letters": by_last_letter((A, B, C, D), FOUR_LETTERS),
    "three letters": by_last_letter((A, B, C), THREE_LETTERS),
    "the end is by far the likeliest": logits_of({END: 0.97, A: 0.017, B: 0.009, C: 0.004}),
    "the end never comes": without_end(51),
    "nothing but the end": logits_of({END: 1.0, C: 0.0}),
    "all finish at once": by_prefix(3, LENGTH, {END: 1}, {(): {A: 0.5, B: 0.3, C: 0.2}}),
    "few can be reached": by_prefix(3, LENGTH, {END: 1}, {(): {A: 0.7, B: 0.3}, (A,): {END: 0.4, C: 0.6}}),
    "all that is left is cut": by_prefix(2, LENGTH, {A: 0.8, B: 0.2}, {(): {END: 0.5, A: 0.3, B: 0.2}}),
    "all are equal": np.zeros((1, 1, FIRST + 3), "float32"),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_every_penalty_norm_and_width(table):
    """The same ids in the same order, unless two lie so close that rounding decides."""
    letters = table.shape[2] - FIRST
    for penalty, kind in itertools.product(PENALTIES, ("wu", "power")):
        for width in (1, 2, 3, letters + 2):
            found = decode(Scripted(table), np.array([[0]]), Beam(width, penalty, kind), max_length=LENGTH)
            expected, gap = list_beam(table[0], width, LENGTH, penalty, kind)
            here = hypotheses(found)
            assert len(here) == len({h.ids for h in here}) == len(expected)
            np.testing.assert_allclose([h.ranked for h in here], [h.ranked for h in expected], atol=1e-5)
            if gap > 1e-5:
                assert [h.ids for h in here] == [h.ids for h in expected]
            assert np.isfinite(found.ranked_scores).all()
            np.testing.assert_array_equal(found.scores[0, len(here) :], [-1e9] * (width - len(here)))


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_wide_enough_finds_every_sequence_in_order(table):
    width = SEQUENCES[table.shape[2] - FIRST]
    for penalty, kind in itertools.product(PENALTIES, ("wu", "power")):
        every = every_sequence(table[0], LENGTH, penalty, kind)
        found = decode(Scripted(table), np.array([[0]]), Beam(width, penalty, kind), max_length=LENGTH)
        assert_same_but_for_rounding(hypotheses(found), every)


@pytest.mark.parametrize("name", ["four letters", "three letters", "all are equal"])
def test_every_sequence_is_counted(name):
    """Where all tokens may follow, the width above leaves no place empty, and nobody out."""
    table = TABLES[name]
    assert len(every_sequence(table[0], LENGTH)) == SEQUENCES[table.shape[2] - FIRST]


def test_equal_scores_keep_the_order_of_indices_and_ids():
    """Of a beam of lists with a stable sort: lower hypothesis, then lower token; earlier ends first."""
    table = TABLES["all are equal"]
    for width in (2, 5):
        found = decode(Scripted(table), np.array([[0]]), Beam(width), max_length=LENGTH)
        expected, gap = list_beam(table[0], width, LENGTH)
        assert math.isclose(gap, 0, abs_tol=1e-12)
        assert [h.ids for h in hypotheses(found)] == [h.ids for h in expected]
