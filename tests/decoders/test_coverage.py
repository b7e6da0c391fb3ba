"""The coverage penalty, by hand, by enumeration, and on models with attention."""

import math

import numpy as np
import pytest
import tensorflow as tf
from contracts.model_cases import MODELS
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scripted import (
    END,
    FIRST,
    PAD,
    Scripted,
    by_prefix,
    every_sequence,
    hypotheses,
    list_beam,
    nodes,
    norm,
    random_logits,
)

from zoo.decoders import Beam, Greedy, decode, log_coverage
from zoo.tokenizers.sequences import teacher_forced

A, B = FIRST, FIRST + 1
PENALTIES = (-1.0, 0.0, 0.6, 1.0, 2.0)
POSITIONS = 4
FLOOR = 1e-6
ALIGNING = [name for name, case in MODELS.items() if hasattr(case.new(), "alignment")]


class Looking(Scripted):
    """With a typed attention for each prefix: the row of the source's length, (nodes, S).

    A source is its table, its number of real positions, and zeros.
    """

    def __init__(self, logits, attention):
        super().__init__(logits)
        self.attention = tf.constant(attention, tf.float32)

    def encode(self, source):
        mask = tf.range(tf.shape(source)[1]) < source[:, 1:2]
        return super().encode(source) | {"mask": mask}

    def source_mask(self, memory):
        return memory["mask"]

    def aligned_step(self, token_ids, index, state, memory):
        logits, node = self.step(token_ids, index, state, memory)
        width = tf.shape(memory["mask"])[1]
        rows = tf.gather(self.attention, tf.minimum(node, self.attention.shape[0] - 1))
        rows = tf.pad(rows, [[0, 0], [0, 0], [0, width]])[:, :, :width]
        rows = tf.where(memory["mask"][:, None], rows, 0.0)
        return logits, node, rows / tf.reduce_sum(rows, axis=2, keepdims=True)


def sources(*lengths, width=POSITIONS):
    return np.array([[0, length, *[0] * (width - 2)] for length in lengths], "int32")


def penalty_of(attention, letters, length, beta):
    """What a hypothesis' ids cost, by the equation, in plain Python."""

    def cost(ids):
        node, sums = 0, [0.0] * length
        for token in ids:
            row = attention[min(node, len(attention) - 1)][:length]
            sums = [total + weight / sum(row) for total, weight in zip(sums, row, strict=True)]
            node = node * letters + token - FIRST + 1
        return beta * sum(math.log(max(min(total, 1.0), FLOOR)) for total in sums)

    return cost


def looking(seed, letters, max_length):
    random = np.random.default_rng(seed + 1)
    attention = random.dirichlet([0.3] * POSITIONS, nodes(letters, max_length))
    return random_logits(seed, letters, max_length), attention


def assert_same(found, expected):
    assert [h.ids for h in found] == [h.ids for h in expected]
    np.testing.assert_allclose([h.score for h in found], [h.score for h in expected], atol=1e-5)
    np.testing.assert_allclose([h.ranked for h in found], [h.ranked for h in expected], atol=2e-5)


def test_the_sum_of_logarithms_by_hand():
    """Two hypotheses; the third position is padding; 1.7 counts as 1, and nothing as a millionth."""
    coverage = tf.constant([[[1.7, 0.3, 0.0], [1.0, 0.0, 0.0]]])
    found = log_coverage(coverage, tf.constant([[True, True, False]]))
    np.testing.assert_allclose(found, [[math.log(0.3), math.log(1e-6)]], rtol=1e-6)


def test_a_hypothesis_that_leaves_a_position_out_loses():
    """A END is likelier than B END, but never looks at the second position."""
    logits = by_prefix(2, 3, {END: 1}, {(): {A: 0.6, B: 0.4}})
    attention = [[0.5, 0.5], [0.9, 0.1], [0.5, 0.5]]  # at first, after A, after B
    model = Looking(logits, attention)
    plain = hypotheses(decode(model, sources(2, width=2), Beam(2), max_length=3))
    assert [h.ids for h in plain] == [(A, END), (B, END)]
    found = hypotheses(decode(model, sources(2, width=2), Beam(2, coverage_penalty=1.0), max_length=3))
    assert [h.ids for h in found] == [(B, END), (A, END)]
    # Of B END: 1.0 and 1.0. Of A END: 1.4 and 0.6.
    np.testing.assert_allclose([h.ranked for h in found], np.log([0.4, 0.6 * 0.6]), atol=1e-5)
    np.testing.assert_allclose([h.score for h in found], np.log([0.4, 0.6]), atol=1e-5)


@pytest.mark.parametrize("beta", [0.2, 3.0])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_wide_beam_finds_every_sequence_in_order(penalty, beta):
    logits, attention = looking(3, 3, 4)
    expected = every_sequence(logits[0], 4, penalty, bonus=penalty_of(attention, 3, 3, beta))
    strategy = Beam(121, penalty, coverage_penalty=beta)
    assert_same(hypotheses(decode(Looking(logits, attention), sources(3), strategy, max_length=4)), expected)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 3),
    letters=st.integers(1, 3),
    max_length=st.integers(1, 5),
    width=st.integers(1, 5),
    penalty=st.sampled_from(PENALTIES),
    beta=st.sampled_from([0.1, 0.5, 4.0]),
    stop=st.sampled_from(["exact", "early"]),
)
def test_a_narrow_beam_equals_a_beam_of_python_lists(seed, letters, max_length, width, penalty, beta, stop):
    """The stop rule knows nothing of the penalty and loses nothing; parents hand their coverage on."""
    logits, attention = looking(seed, letters, max_length)
    expected = [
        list_beam(
            logits[0],
            width,
            max_length,
            penalty,
            bonus=penalty_of(attention, letters, length, beta),
            early=stop == "early",
        )
        for length in (4, 2)
    ]
    assume(min(gap for _, gap in expected) > 1e-4)
    strategy = Beam(width, penalty, coverage_penalty=beta, stop=stop)
    found = decode(Looking(logits, attention), sources(4, 2), strategy, max_length=max_length)
    for source in range(2):
        assert_same(hypotheses(found, source), expected[source][0])


def test_padding_and_companions_do_not_matter():
    logits, attention = looking(5, 3, 5)
    model, strategy = Looking(logits, attention), Beam(4, 0.6, coverage_penalty=0.5)
    together = decode(model, sources(3, 1, 4, 2, 3), strategy, max_length=5)
    for row, length in enumerate((3, 1, 4, 2, 3)):
        for width in (POSITIONS, POSITIONS + 7):
            alone = decode(model, sources(length, width=width), strategy, max_length=5)
            for leaf, other in zip(alone, together, strict=True):
                np.testing.assert_allclose(leaf[0], other[row], atol=1e-5)


def test_penalties_of_each_source_are_beams_of_their_own():
    logits, attention = looking(6, 3, 3)
    model, penalties = Looking(logits, attention), [0.0, 0.3, 9.0]
    found = decode(
        model, sources(3, 3, 3), Beam(4, 0.6, coverage_penalty=tf.constant(penalties)), max_length=2
    )
    orders = set()
    for source, penalty in enumerate(penalties):
        alone = decode(model, sources(3), Beam(4, 0.6, coverage_penalty=penalty), max_length=2)
        assert hypotheses(alone) == hypotheses(found, source)
        orders.add(tuple(hypothesis.ids for hypothesis in hypotheses(alone)))
    assert len(orders) > 1


def test_eager_graph_and_xla_give_the_same():
    logits, attention = looking(8, 3, 5)
    strategy = Beam(4, 0.6, coverage_penalty=0.7)

    def search(source):
        return decode(Looking(logits, attention), source, strategy, max_length=5)

    expected = search(tf.constant(sources(3, 4)))
    for jit_compile in (False, True):
        found = tf.function(search, jit_compile=jit_compile)(tf.constant(sources(3, 4)))
        np.testing.assert_array_equal(found.token_ids, expected.token_ids)
        np.testing.assert_allclose(found.ranked_scores, expected.ranked_scores, atol=1e-5)


def test_attention_is_asked_for_only_where_it_counts():
    class Curious(Looking):
        def aligned_step(self, *args):
            raise AssertionError("nobody wants to know")

    model = Curious(*looking(9, 2, 3))
    for strategy in (Greedy(), Beam(2), Beam(2, coverage_penalty=0.0)):
        decode(model, sources(2), strategy, max_length=3)
    with pytest.raises(AssertionError, match="nobody"):
        decode(model, sources(2), Beam(2, coverage_penalty=0.1), max_length=3)


def test_a_bound_of_nothing_costs_nothing():
    found = decode(Looking(*looking(9, 2, 3)), sources(3), Beam(2, coverage_penalty=1.0), max_length=0)
    np.testing.assert_array_equal(found.ranked_scores, [[0, -1e9]])


@pytest.mark.parametrize("name", ALIGNING)
def test_ranked_scores_of_models_follow_from_their_alignment(name):
    """The attention of all steps is that of one teacher-forced pass; pads count for nothing."""
    case, width, length, beta = MODELS[name], 3, 4, 0.7
    model = case.make()
    found = decode(model, case.source, Beam(width, 0.6, coverage_penalty=beta), max_length=length)
    ids = tf.reshape(found.token_ids, [-1, length])
    source = np.repeat(case.source, width, axis=0)
    alignment = np.array(model.alignment(source, teacher_forced(ids)), "float64")
    coverage = np.where(ids.numpy()[:, :, None] == PAD, 0, alignment).sum(axis=1)
    logs = np.where(source == PAD, 0, np.log(np.clip(coverage, FLOOR, 1))).sum(axis=1)
    counts = (ids.numpy() != PAD).sum(axis=1)
    norms = np.array([norm(count, 0.6, "wu") for count in counts])
    expected = np.ravel(found.scores) / norms + beta * logs
    np.testing.assert_allclose(np.ravel(found.ranked_scores), expected, atol=1e-5)
    assert logs.min() < -0.1
    assert (np.diff(found.ranked_scores, axis=1) <= 0).all()


@pytest.mark.parametrize("name", ALIGNING)
def test_an_aligned_step_is_a_step(name):
    """The same logits and state to the last bit, and a row of the alignment, for all hypotheses."""
    case, length = MODELS[name], 4
    model = case.make()
    memory = model.encode(case.source)
    state = aligned_state = model.init_state(memory, 2, length)
    rows = [case.target_ids, np.roll(case.target_ids[:, 1:], 1, axis=0)]
    rows[1] = np.concatenate([case.target_ids[:, :1], rows[1]], axis=1)
    alignments = [model.alignment(case.source, ids) for ids in rows]
    for index in range(length):
        ids = tf.constant(np.stack([row[:, index] for row in rows], axis=1))
        logits, state = model.step(ids, tf.constant(index), state, memory)
        told, aligned_state, spread = model.aligned_step(ids, tf.constant(index), aligned_state, memory)
        np.testing.assert_array_equal(told, logits)
        tf.nest.map_structure(np.testing.assert_array_equal, aligned_state, state)
        for place, alignment in enumerate(alignments):
            np.testing.assert_allclose(spread[:, place], alignment[:, index], atol=1e-5)
    np.testing.assert_array_equal(model.source_mask(memory), case.source != PAD)


@pytest.mark.parametrize("name", ["rnn", "language-model-transformer"])
def test_a_model_without_attention_is_refused(name):
    case = MODELS[name]
    with pytest.raises(ValueError, match="has no attention"):
        decode(case.make(), case.source, Beam(2, coverage_penalty=0.1), max_length=3)


@pytest.mark.parametrize("wrong", [-0.1, math.nan, math.inf])
def test_a_coverage_penalty_that_is_none(wrong):
    with pytest.raises(ValueError, match="coverage_penalty must be finite, 0 or more"):
        Beam(2, coverage_penalty=wrong)
