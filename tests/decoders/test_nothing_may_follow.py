"""Where transforms leave a hypothesis no token: it is gone, and takes nothing with it."""

import numpy as np
import pytest
import tensorflow as tf
from scripted import (
    END,
    FIRST,
    PAD,
    START,
    Scripted,
    every_sequence,
    hypotheses,
    logits_of,
    random_logits,
    score_of,
)

from zoo.decoders import (
    AllowedTokens,
    Beam,
    Greedy,
    MinimumLength,
    NextTokens,
    NoRepeatNGram,
    RepetitionPenalty,
    Sample,
    Temperature,
    TopK,
    TopP,
    decode,
)

A, B = FIRST, FIRST + 1
LOGITS = logits_of({A: 0.6, B: 0.3, END: 0.1})
NOTHING_AFTER_A = AllowedTokens(lambda last: last != A)
NORMALISING = {
    "temperature of 1": Temperature(1.0),
    "temperature of each source": Temperature(tf.constant([0.9])),
    "a softmax of one's own": lambda following, *_: following.steer(tf.nn.log_softmax(following.searched)),
    "a mean of one's own": lambda following, *_: following.steer(
        following.searched - tf.reduce_logsumexp(following.searched, axis=2, keepdims=True)
    ),
    "a penalty of 0": RepetitionPenalty(0.0),  # -inf * 0
    "top-p": TopP(0.9999999),
    "top-k of all": TopK(99),
}
STRATEGIES = {"greedy": Greedy(), "sample": Sample(2), "beam of 1": Beam(1), "beam of 3": Beam(3, 0.6)}


@pytest.mark.parametrize("last", NORMALISING.values(), ids=NORMALISING.keys())
@pytest.mark.parametrize("jit_compile", [None, False, True], ids=["eager", "graph", "xla"])
def test_the_others_go_on(last, jit_compile):
    """All that can be said is found, in as many places as would hold what cannot: A may be last alone."""
    logits = random_logits(1, 3, 4)
    expected = {h.ids for h in every_sequence(logits[0], 4) if A not in h.ids[:3] and h.ids[-2:] != (A, END)}

    def search(source):
        return decode(Scripted(logits), source, Beam(121), max_length=4, transforms=[NOTHING_AFTER_A, last])

    run = search if jit_compile is None else tf.function(search, jit_compile=jit_compile, autograph=False)
    found = hypotheses(run(tf.zeros([1, 1], tf.int32)))
    assert {h.ids for h in found} == expected
    assert len(found) == len(expected) == 15 + 24  # that end, and that are cut
    for hypothesis in found:
        assert hypothesis.score == pytest.approx(score_of(logits[0], hypothesis.ids), abs=1e-5)
        assert np.isfinite(hypothesis.ranked)


@pytest.mark.parametrize("width", [3, 4, 6])
@pytest.mark.parametrize("name", ["temperature of 1", "a softmax of one's own", "top-k of all"])
def test_normalising_what_is_normal_changes_nothing(width, name):
    """A narrow beam keeps the same hypotheses as without, whichever of them are left no token."""
    for seed in range(6):
        logits = random_logits(seed, 2, 4)
        logits[:, :, [PAD, START]] = -np.inf  # so that what may follow adds up to 1 as it is
        model, source = Scripted(logits), np.zeros((1, 1), "int32")
        plain, normalised = (
            decode(model, source, Beam(width), max_length=4, transforms=[NOTHING_AFTER_A, *more])
            for more in ([], [NORMALISING[name]])
        )
        assert [h.ids for h in hypotheses(normalised)] == [h.ids for h in hypotheses(plain)]
        np.testing.assert_allclose(normalised.ranked_scores, plain.ranked_scores, atol=1e-5)


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES.keys())
def test_all_are_gone_and_companions_unharmed(strategy):
    """Two letters, each said once, and no end yet: nothing is left. The other source may repeat itself."""

    def transforms(sizes):
        return [NoRepeatNGram(tf.constant(sizes)), MinimumLength(5), Temperature(1.0)]

    model, source = Scripted(LOGITS), np.zeros((2, 1), "int32")
    found = decode(model, source, strategy, max_length=5, transforms=transforms([1, 0]))
    assert hypotheses(found, 0) == []
    np.testing.assert_array_equal(found.ranked_scores[0], [-1e9] * strategy.width)
    np.testing.assert_array_equal(found.lengths[0], [0] * strategy.width)
    alone = decode(model, source[:1], strategy, max_length=5, transforms=transforms([0]))
    assert hypotheses(found, 1) == hypotheses(alone)
    assert len(hypotheses(found, 1)) == strategy.width


def test_what_is_no_number_may_not_follow():
    following = NextTokens.of(tf.zeros([1, 1, 5]))
    steered = following.steer(tf.constant([[[0.0, 0.0, np.nan, 0.5, -0.5]]]))
    np.testing.assert_array_equal(steered.searched, [[[-np.inf, -np.inf, -np.inf, 0.0, -0.5]]])
    token_ids, searched = steered.best(3)
    np.testing.assert_array_equal(token_ids[0, 0, :2], [3, 4])
    np.testing.assert_array_equal(searched, [[[0.0, -0.5, -np.inf]]])
