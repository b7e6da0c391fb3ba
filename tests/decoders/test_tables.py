"""Tables at their extremes, for every penalty, norm and width: against enumeration and plain lists."""

import itertools
import math

import numpy as np
import pytest
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

A, B, C = FIRST, FIRST + 1, FIRST + 2
LENGTH = 4
PENALTIES = (-1.0, 0.0, 0.6, 1.0, 2.0)


def without_end(seed):
    logits = random_logits(seed, 3, LENGTH)
    logits[:, :, END] = -np.inf
    return logits


TABLES = {
    "the end is by far the likeliest": logits_of({END: 0.97, A: 0.017, B: 0.009, C: 0.004}),
    "the end never comes": without_end(51),
    "nothing but the end": logits_of({END: 1.0, C: 0.0}),
    "all finish at once": by_prefix(3, LENGTH, {END: 1}, {(): {A: 0.5, B: 0.3, C: 0.2}}),
    "few can be reached": by_prefix(3, LENGTH, {END: 1}, {(): {A: 0.7, B: 0.3}, (A,): {END: 0.4, C: 0.6}}),
    "all that is left is cut": by_prefix(2, LENGTH, {A: 0.8, B: 0.2}, {(): {END: 0.5, A: 0.3, B: 0.2}}),
    "all are equal": np.zeros((1, 40, FIRST + 3), "float32"),
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
def test_wide_enough_finds_the_optimum(table):
    for penalty, kind in itertools.product(PENALTIES, ("wu", "power")):
        every = every_sequence(table[0], LENGTH, penalty, kind)
        found = decode(Scripted(table), np.array([[0]]), Beam(130, penalty, kind), max_length=LENGTH)
        here = hypotheses(found)
        np.testing.assert_allclose([h.ranked for h in here], [h.ranked for h in every], atol=1e-5)
        assert {h.ids for h in here} == {h.ids for h in every}


def test_equal_scores_keep_the_order_of_indices_and_ids():
    """Of a beam of lists with a stable sort: lower hypothesis, then lower token; earlier ends first."""
    table = TABLES["all are equal"]
    for width in (2, 5):
        found = decode(Scripted(table), np.array([[0]]), Beam(width), max_length=LENGTH)
        expected, gap = list_beam(table[0], width, LENGTH)
        assert math.isclose(gap, 0, abs_tol=1e-12)
        assert [h.ids for h in hypotheses(found)] == [h.ids for h in expected]
