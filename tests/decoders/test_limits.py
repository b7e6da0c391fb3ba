"""Searches at their limits, on models with states and caches; the truth is enumeration of all prefixes."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
from compared import assert_same_but_for_rounding
from contracts.model_cases import MODELS
from scripted import END, FIRST, every_sequence, hypotheses, list_beam, nodes

from zoo.decoders import Beam, Greedy, MinimumLength, Sample, decode, score

LENGTH = 3
CACHED = ("gru-bahdanau", "transformer-rotary")
PENALTIES = (-1.0, 0.0, 0.6, 1.0, 2.0)
STRATEGIES = [Greedy(), Sample(3), Beam(3, 0.6)]

each_cached = pytest.mark.parametrize("name", CACHED)
each_strategy = pytest.mark.parametrize("strategy", STRATEGIES, ids=["greedy", "sample", "beam"])


class Known:
    """A model, its sources, and the logits after every prefix of less than `LENGTH` tokens: (B, nodes, V)."""

    def __init__(self, name):
        self.case = MODELS[name]
        self.model = self.case.make()
        self.letters = range(FIRST, self.model.vocab_size)
        prefixes = [p for n in range(LENGTH) for p in itertools.product(self.letters, repeat=n)]
        ids = np.array([[1, *prefix, *[0] * (LENGTH - len(prefix))] for prefix in prefixes])
        last = [len(prefix) for prefix in prefixes]
        self.tables = np.stack(
            [
                self.model({"source": np.repeat(row[None], len(ids), axis=0), "target_ids": ids}).numpy()[
                    np.arange(len(ids)), last
                ]
                for row in self.case.source
            ]
        )
        assert self.tables.shape[1] == nodes(len(self.letters), LENGTH)


@pytest.fixture(scope="module", params=CACHED)
def known(request):
    return Known(request.param)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_beam_as_wide_as_all_sequences_finds_them_all(known, penalty):
    """1 + 5 + 25 that end and 125 that are cut: 156, in order; the places beyond are empty."""
    width = 160
    found = decode(known.model, known.case.source, Beam(width, penalty), max_length=LENGTH)
    for source, table in enumerate(known.tables):
        expected = every_sequence(table, LENGTH, penalty)
        assert len(expected) == 156
        assert_same_but_for_rounding(hypotheses(found, source), expected, atol=2e-5)
        np.testing.assert_array_equal(found.scores[source, 156:], [-1e9] * (width - 156))


@pytest.mark.parametrize("width", [9, 64])
def test_widths_beyond_the_vocabulary(known, width):
    """Of 8 ids; hypothesis by hypothesis as plain lists, in every mode of running."""

    def run(source):
        return decode(known.model, source, Beam(width, 0.6), max_length=LENGTH)

    source = tf.constant(known.case.source)
    found = run(source)
    for row, table in enumerate(known.tables):
        expected, gap = list_beam(table, width, LENGTH, 0.6)
        if gap > 2e-5:
            assert [h.ids for h in hypotheses(found, row)] == [h.ids for h in expected]
        np.testing.assert_allclose(
            [h.ranked for h in hypotheses(found, row)], [h.ranked for h in expected], atol=2e-5
        )
        assert len({h.ids for h in hypotheses(found, row)}) == width
    for jit_compile in (False, width == 64):
        traced = tf.function(run, jit_compile=jit_compile)(source)
        np.testing.assert_allclose(traced.ranked_scores, found.ranked_scores, atol=2e-5)


@pytest.mark.parametrize("stop", ["exact", "early"])
def test_places_beyond_a_width_change_nothing(known, stop):
    """Of a beam of 64, a source of width k finds what a beam of k finds, whatever its companions ask for."""
    widths = [1, 2, 9, 64]
    alone = {
        width: decode(known.model, known.case.source, Beam(width, 0.6, stop=stop), max_length=LENGTH)
        for width in widths
    }
    for turn in range(len(widths)):
        own = np.roll(widths, turn)
        strategy = Beam(64, 0.6, widths=tf.constant(own, tf.int32), stop=stop)
        together = decode(known.model, known.case.source, strategy, max_length=LENGTH)
        for source, width in enumerate(own.tolist()):
            found, expected = hypotheses(together, source), hypotheses(alone[width], source)
            assert len(found) == len(expected) == width
            assert [h.ids for h in found] == [h.ids for h in expected]
            for field in ("score", "ranked"):
                np.testing.assert_allclose(
                    [getattr(h, field) for h in found], [getattr(h, field) for h in expected], atol=1e-5
                )
            np.testing.assert_array_equal(together.scores[source, width:], [-1e9] * (64 - width))


def test_rescoring_of_truncated_hypotheses(known):
    for max_length in (1, 2):
        found = decode(known.model, known.case.source, Beam(6), max_length=max_length)
        ids = tf.reshape(found.token_ids, [-1, max_length])
        cut = ~np.any(ids.numpy() == END, axis=1) & np.all(ids.numpy() != 0, axis=1)
        assert cut.sum() > 4
        again = score(known.model, np.repeat(known.case.source, 6, axis=0), ids).scores.numpy()
        np.testing.assert_allclose(again[cut], np.ravel(found.scores)[cut], atol=1e-5)


@each_cached
@each_strategy
def test_least_and_greatest_length_are_equal(name, strategy):
    """Each source says just as many tokens as it must and may, 0 and 1 among them."""
    case, bounds = MODELS[name], tf.constant([0, 1, 2, 3])
    found = decode(
        case.make(),
        case.source,
        strategy,
        max_length=LENGTH,
        max_lengths=bounds,
        transforms=[MinimumLength(bounds)],
    )
    for source, bound in enumerate(bounds.numpy()):
        for hypothesis in hypotheses(found, source):
            assert len(hypothesis.ids) == bound
            assert END not in hypothesis.ids


@each_cached
@each_strategy
def test_a_least_length_above_the_greatest_is_the_greatest(name, strategy):
    case = MODELS[name]
    model = case.make()
    found, equal = (
        decode(model, case.source, strategy, max_length=2, transforms=[MinimumLength(least)])
        for least in (9, 2)
    )
    np.testing.assert_array_equal(found.token_ids, equal.token_ids)


@pytest.mark.parametrize("name", ["rnn", *CACHED, "ensemble", "language-model-rotary"])
def test_a_source_of_one_position(name):
    """END alone, the empty text: the same answer as beside longer ones, and in a graph of unknown shapes."""
    case = MODELS[name]
    model = case.make()
    one = np.full((1, 1), END, "int32")
    padded = np.array([[END, 0, 0, 0, 0]], "int32")

    def run(source):
        return decode(model, source, Beam(3, 0.6), max_length=LENGTH)

    traced = tf.function(run, input_signature=[tf.TensorSpec([None, None], tf.int32)])
    for found in (run(padded), traced(one), traced(np.concatenate([padded, case.source]))):
        np.testing.assert_array_equal(found.token_ids[0], run(one).token_ids[0])
        np.testing.assert_allclose(found.scores[0], run(one).scores[0], atol=1e-5)


@pytest.mark.parametrize("name", ["rnn", *CACHED, "ensemble", "language-model-rotary"])
@pytest.mark.parametrize("batch", [0, 2])
def test_a_source_of_no_position_is_refused(name, batch):
    model, source = MODELS[name].make(), np.zeros((batch, 0), "int32")
    with pytest.raises(ValueError, match=r"one position or more, got shape \(\d, 0\). Close each source"):
        decode(model, source, Greedy(), max_length=LENGTH)


@each_cached
@each_strategy
def test_no_sources(name, strategy):
    model = MODELS[name].make()
    for positions, max_length in itertools.product((1, 5), (0, 1, LENGTH)):
        found = decode(model, np.zeros((0, positions), "int32"), strategy, max_length=max_length)
        assert found.token_ids.shape == (0, strategy.width, max_length)
        assert found.scores.shape == found.ranked_scores.shape == (0, strategy.width)


@each_cached
def test_half_precision_says_the_same_where_probabilities_lie_apart(name):
    """The dtype ladder through a search: the hypotheses of full precision, scores nearby and in float32."""
    case, separated = MODELS[name], 0
    full = decode(case.make(), case.source, Beam(4), max_length=2)
    for policy in ("mixed_bfloat16", "mixed_float16"):
        half = decode(case.make(dtype=policy), case.source, Beam(4), max_length=2)
        assert half.scores.dtype == tf.float32
        assert np.isfinite(half.scores).all()
        for source in range(len(case.source)):
            ranked = full.ranked_scores.numpy()[source]
            np.testing.assert_allclose(half.scores[source], full.scores[source], atol=0.3)
            if ranked[0] - ranked[1] > 2 * np.abs(half.scores[source] - full.scores[source]).max():
                np.testing.assert_array_equal(half.token_ids[source, 0], full.token_ids[source, 0])
                separated += 1
    assert separated > 0
