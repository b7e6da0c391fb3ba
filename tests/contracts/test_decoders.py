"""What `decode` promises whatever the strategy, on models whose probabilities are known."""

import numpy as np
import pytest
import tensorflow as tf
from decoder_cases import STRATEGIES
from scripted import END, FIRST, PAD, START, Scripted, hypotheses, logits_of, random_logits, score_of

from zoo.decoders import Beam, Greedy, OnlyEnd, decode, score

TABLES, LETTERS, LENGTH = 4, 3, 5
LOGITS = random_logits(11, LETTERS, LENGTH, TABLES)
LOGITS[1, :, END] -= 30.0  # never ends
LOGITS[2, :, END] += 2.0  # ends soon
LOGITS[:, :, [PAD, START]] += 1.0  # what must not be generated is likely
SOURCES = np.arange(TABLES)[:, None]

each_strategy = pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES.keys())


def search(strategy, sources=SOURCES, max_length=LENGTH, **kwargs):
    return decode(Scripted(LOGITS), sources, strategy, max_length=max_length, **kwargs)


def assert_equal_rows(found, rows, expected, other_rows):
    for leaf, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(leaf.numpy()[rows], other.numpy()[other_rows], atol=1e-5)


@each_strategy
def test_form_of_the_answer(strategy):
    found = search(strategy)
    width = strategy.width
    assert found.token_ids.shape == (TABLES, width, LENGTH)
    assert found.scores.shape == found.ranked_scores.shape == found.lengths.shape == (TABLES, width)
    assert [leaf.dtype for leaf in found] == [tf.int32, tf.float32, tf.float32, tf.int32]
    assert (np.diff(found.ranked_scores, axis=1) <= 0).all()


@each_strategy
def test_rescoring_gives_the_same_scores(strategy):
    """By the table itself, and by a teacher-forced pass; also of hypotheses that were cut at the bound."""
    cut = 0
    for max_length in (2, LENGTH):
        found = search(strategy, max_length=max_length)
        for source in range(TABLES):
            for hypothesis in hypotheses(found, source):
                assert hypothesis.score == pytest.approx(score_of(LOGITS[source], hypothesis.ids), abs=1e-5)
                cut += END not in hypothesis.ids
        rows = tf.reshape(found.token_ids, [-1, max_length])
        scored = score(Scripted(LOGITS), np.repeat(SOURCES, strategy.width, axis=0), rows)
        exists = found.scores.numpy() > -1e9
        again = tf.reshape(scored.scores, found.scores.shape).numpy()
        np.testing.assert_allclose(again[exists], found.scores.numpy()[exists], atol=1e-5)
    assert cut > 0


@each_strategy
def test_nothing_follows_the_end(strategy):
    found = search(strategy)
    for ids, length in zip(found.token_ids.numpy().reshape(-1, LENGTH), np.ravel(found.lengths), strict=True):
        assert (ids[:length] >= FIRST).all()  # no PAD, no START, no END
        assert (ids[length + 1 :] == PAD).all()
        if length < LENGTH:
            assert ids[length] in (END, PAD)
    assert (np.ravel(found.lengths) == LENGTH).any()
    assert (np.ravel(found.lengths) < LENGTH - 1).any()


@each_strategy
def test_hypotheses_are_distinct_and_never_invented(strategy):
    for max_length in (1, LENGTH):
        found = search(strategy, max_length=max_length)
        for source in range(TABLES):
            here = hypotheses(found, source)
            assert len({hypothesis.ids for hypothesis in here}) == len(here)
            assert len(here) == min(strategy.width, LETTERS + 1 if max_length == 1 else strategy.width)


@each_strategy
def test_each_source_as_if_it_were_alone(strategy):
    """Alone, twice, in another order, beside one that never ends: an answer does not change."""
    found = search(strategy)
    for source in range(TABLES):
        assert_equal_rows(search(strategy, SOURCES[[source]]), [0], found, [source])
    order = [3, 1, 1, 0, 2, 3]
    assert_equal_rows(search(strategy, SOURCES[order]), slice(None), found, order)


@each_strategy
def test_eager_graph_and_xla_give_the_same(strategy):
    found = search(strategy)
    for jit_compile in (False, True):
        traced = tf.function(lambda sources: search(strategy, sources), jit_compile=jit_compile)
        other = traced(tf.constant(SOURCES))
        np.testing.assert_array_equal(other.token_ids, found.token_ids)
        assert_equal_rows(other, slice(None), found, slice(None))


@each_strategy
def test_one_trace_serves_every_batch(strategy):
    traced = tf.function(
        lambda sources: search(strategy, sources), input_signature=[tf.TensorSpec([None, None], tf.int32)]
    )
    found = search(strategy)
    for batch in (0, 1, 3):
        part = traced(SOURCES[:batch].astype("int32"))
        assert part.token_ids.shape == (batch, strategy.width, LENGTH)
        assert_equal_rows(part, slice(None), found, slice(0, batch))


@each_strategy
def test_no_sources(strategy):
    for max_length in (0, LENGTH):
        found = search(strategy, SOURCES[:0], max_length)
        assert [leaf.shape[:2] for leaf in found] == [(0, strategy.width)] * 4


@each_strategy
def test_no_tokens_allowed(strategy):
    found = search(strategy, max_length=0)
    assert found.token_ids.shape == (TABLES, strategy.width, 0)
    np.testing.assert_array_equal(found.lengths, np.zeros((TABLES, strategy.width)))
    for scores in (found.scores, found.ranked_scores):
        np.testing.assert_array_equal(scores, [[0.0] + [-1e9] * (strategy.width - 1)] * TABLES)


@each_strategy
def test_one_token_allowed(strategy):
    """The likeliest of END and the letters, cut as it stands."""
    found = search(strategy, max_length=1)
    for source in range(TABLES):
        tokens = sorted((END, *range(FIRST, FIRST + LETTERS)), key=lambda t: -score_of(LOGITS[source], [t]))
        expected = [(token,) for token in tokens[: strategy.width]]
        assert [hypothesis.ids for hypothesis in hypotheses(found, source)] == expected
        np.testing.assert_array_equal(
            found.lengths[source], np.any(found.token_ids[source] >= FIRST, axis=-1)
        )


@each_strategy
def test_nothing_can_be_reached(strategy):
    """The model wants nothing but padding: all places come back empty, and finite."""
    found = decode(Scripted(logits_of({PAD: 1.0, FIRST: 0.0})), SOURCES[:1], strategy, max_length=3)
    np.testing.assert_array_equal(found.token_ids, np.zeros((1, strategy.width, 3)))
    np.testing.assert_array_equal(found.lengths, np.zeros((1, strategy.width)))
    np.testing.assert_array_equal(found.scores, np.full((1, strategy.width), -1e9))
    np.testing.assert_array_equal(found.ranked_scores, np.full((1, strategy.width), -1e9))


@each_strategy
def test_a_token_of_no_probability_forced_upon_the_model(strategy):
    """A transform may insist on what the model holds for impossible: the score is finite."""

    def insist(following, token_ids, index):
        ids = tf.range(following.searched.shape[2])
        return following.steer(tf.where(ids == FIRST, tf.zeros_like(following.searched), -np.inf))

    logits = logits_of({END: 1.0, FIRST: 0.0})
    found = decode(Scripted(logits), SOURCES[:1], strategy, max_length=2, transforms=[insist])
    np.testing.assert_array_equal(found.token_ids[0, 0], [FIRST, FIRST])
    assert float(found.scores[0, 0]) == -1e9
    assert float(found.ranked_scores[0, 0]) == 0


@each_strategy
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_logits_in_half_precision(strategy, dtype):
    """Probabilities far apart, logits as large as the type allows: the same tokens, scores in float32."""
    rows = np.random.default_rng(0).permuted(np.tile([-9.0, -4.0, 0.0, 6.0, 13.0, 21.0], (1, 40, 1)), axis=-1)
    rows[0, 5, FIRST] = 60_000.0
    full, half = (
        decode(Scripted(tf.cast(rows, kind)), SOURCES[:1], strategy, max_length=4)
        for kind in ("float32", dtype)
    )
    np.testing.assert_array_equal(half.token_ids, full.token_ids)
    assert half.scores.dtype == tf.float32
    assert np.isfinite(half.scores).all()
    np.testing.assert_allclose(half.scores, full.scores, rtol=1e-2)


@each_strategy
def test_transforms_do_not_enter_the_scores(strategy):
    halved = search(
        strategy, transforms=[lambda following, token_ids, index: following.steer(following.searched / 2)]
    )
    for source in range(TABLES):
        for hypothesis in hypotheses(halved, source):
            assert hypothesis.score == pytest.approx(score_of(LOGITS[source], hypothesis.ids), abs=1e-5)
    blank = tf.constant([False, True, False, True])
    steered = search(strategy, transforms=[OnlyEnd(blank)])
    assert [hypotheses(steered, source)[0].ids for source in (1, 3)] == [(END,), (END,)]
    assert_equal_rows(steered, [0, 2], search(strategy), [0, 2])


@pytest.mark.parametrize("norm", ["wu", "power"])
@pytest.mark.parametrize("penalty", [-1.0, 0.0, 0.6, 1.0, 2.0])
def test_a_beam_of_one_is_greedy(penalty, norm):
    logits = random_logits(12, LETTERS, LENGTH, 30)
    sources = np.arange(30)[:, None]
    one = decode(Scripted(logits), sources, Beam(1, penalty, norm), max_length=LENGTH)
    greedy = decode(Scripted(logits), sources, Greedy(), max_length=LENGTH)
    np.testing.assert_array_equal(one.token_ids, greedy.token_ids)
    np.testing.assert_array_equal(one.lengths, greedy.lengths)
    np.testing.assert_allclose(one.scores, greedy.scores, atol=1e-6)


@each_strategy
def test_ranked_scores_equal_scores_where_nothing_is_divided(strategy):
    found = search(strategy)
    if getattr(strategy, "length_penalty", 0.0) == 0.0:
        np.testing.assert_allclose(found.ranked_scores, found.scores, atol=1e-6)
    else:
        assert np.abs(found.ranked_scores - found.scores).max() > 0.1


@each_strategy
def test_memory_is_handed_on_as_it_was_made(strategy):
    """It is never tiled and never moved: at every step the very same tensors."""
    seen = []

    class Spy(Scripted):
        def step(self, token_ids, index, state, memory):
            seen.append(memory["source"])
            assert token_ids.shape == (TABLES, strategy.width)
            return super().step(token_ids, index, state, memory)

    decode(Spy(LOGITS), SOURCES, strategy, max_length=LENGTH)
    assert len(seen) == LENGTH
    assert all(memory is seen[0] for memory in seen)
