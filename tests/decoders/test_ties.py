"""Which of equal hypotheses comes first, where it is rounding that makes them equal."""

import numpy as np
import pytest
import tensorflow as tf
from scripted import END, FIRST, Scripted, by_prefix, hypotheses

from zoo.decoders import Beam, Greedy, decode

A, B = FIRST, FIRST + 1
FAR = 1e8
"""So unlikely a first token that float32 cannot tell what follows it: its neighbours lie 8 apart."""


@pytest.fixture
def model():
    """A END, A A and A B have probabilities of their own, but as sums all of them are -1e8."""
    logits = by_prefix(2, 2, {END: 1}, {(): {END: 1}, (A,): {END: 0.2, A: 0.3, B: 0.5}})
    logits[0, 0, A] = -FAR
    return Scripted(logits)


def swapped(following, token_ids, index):
    """From the second token on, the search takes A for B, and B for A."""
    searched = following.searched
    return following.steer(tf.where(index > 0, tf.gather(searched, [0, 1, END, B, A], axis=2), searched))


@pytest.mark.parametrize("jit_compile", [None, False, True], ids=["eager", "graph", "xla"])
@pytest.mark.parametrize(
    ("transforms", "likelier", "other"), [([], B, A), ([swapped], A, B)], ids=["plain", "steered"]
)
def test_of_equal_sums_the_likelier_to_the_search_then_the_lower_id(
    model, transforms, likelier, other, jit_compile
):
    def search(source):
        return decode(model, source, Beam(4), max_length=2, transforms=transforms)

    run = search if jit_compile is None else tf.function(search, jit_compile=jit_compile)
    found = hypotheses(run(tf.zeros([1, 1], tf.int32)))
    assert [h.ids for h in found] == [(END,), (A, likelier), (A, other), (A, END)]
    np.testing.assert_array_equal([h.ranked for h in found], np.float32([0, -FAR, -FAR, -FAR]))


@pytest.mark.parametrize("strategy", [Greedy(), Beam(3)], ids=["greedy", "beam"])
def test_of_tokens_as_likely_the_lower_id_with_transforms_too(strategy):
    def flat(following, token_ids, index):
        return following.steer(tf.zeros_like(following.searched))

    logits = by_prefix(2, 1, {END: 1}, {(): {END: 0.1, A: 0.2, B: 0.7}})
    found = decode(Scripted(logits), np.zeros((1, 1), "int32"), strategy, max_length=1, transforms=[flat])
    assert [h.ids for h in hypotheses(found)] == [(END,), (A,), (B,)][: strategy.width]
