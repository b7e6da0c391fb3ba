import keras
import numpy as np
import pytest
import tensorflow as tf
from contracts.model_cases import MODELS
from scripted import Scripted, random_logits

from zoo.decoders import Beam, Greedy, MinimumLength, Sample, Temperature, TracedModel, decode, grow


@pytest.mark.parametrize("name", ["lstm-bahdanau", "transformer-rotary", "language-model-transformer"])
@pytest.mark.parametrize("strategy", [Greedy(), Sample(5)], ids=["greedy", "sample"])
def test_what_grows_is_in_the_end_what_is_decoded(name, strategy):
    """Also of models that write their caches in place."""
    case = MODELS[name]
    model, transforms = case.make(), [MinimumLength(3)]
    expected = decode(model, case.source, strategy, max_length=6, transforms=transforms).token_ids.numpy()
    steps = [ids.numpy() for ids in grow(model, case.source, strategy, max_length=6, transforms=transforms)]
    np.testing.assert_array_equal(steps[-1], expected)
    for length, ids in enumerate(steps, start=1):
        np.testing.assert_array_equal(ids[:, :, :length], expected[:, :, :length])
        assert not ids[:, :, length:].any()


def test_a_beam_may_be_watched_too():
    keras.utils.set_random_seed(0)
    case = MODELS["transformer-rotary"]
    steps = list(grow(case.make(), case.source, Beam(3), max_length=4))
    assert 1 <= len(steps) <= 4
    assert all(ids.shape == (len(case.source), 3, 4) for ids in steps)


def test_nothing_grows_within_a_bound_of_nothing():
    case = MODELS["lstm-bahdanau"]
    assert list(grow(case.make(), case.source, Greedy(), max_length=0)) == []
    with pytest.raises(ValueError, match="0 or more, got -1"):
        list(grow(case.make(), case.source, Greedy(), max_length=-1))


@pytest.mark.parametrize("strategy", [Greedy(), Sample(5), Beam(2)], ids=["greedy", "sample", "beam"])
def test_each_source_has_a_bound_of_its_own(strategy):
    model, sources = Scripted(random_logits(3, 3, 5, tables=3)), np.arange(3)[:, None]
    how = {"max_length": 5, "max_lengths": tf.constant([0, 1, 3]), "transforms": [MinimumLength(5)]}
    steps = [ids.numpy() for ids in grow(model, sources, strategy, **how)]
    assert len(steps) == 3
    assert not steps[-1][:, :, 3:].any()
    if strategy.width == 1:
        expected = decode(model, sources, strategy, **how)
        np.testing.assert_array_equal(steps[-1], expected.token_ids)


class Watched(Scripted):
    """Counts how often its members are traced, and how often they run as they are."""

    def __init__(self, logits):
        super().__init__(logits)
        self.traces = self.runs = 0

    def _count(self):
        self.traces += not tf.executing_eagerly()
        self.runs += tf.executing_eagerly()

    def encode(self, source):
        self._count()
        return super().encode(source) | {"positions": source}

    def step(self, *args):
        self._count()
        return super().step(*args)


def answers(model, watched):
    """Of sources of several lengths, by seeds and transforms of their own."""
    for turn, positions in enumerate((2, 2, 5, 3, 9)):
        source = tf.zeros([1, positions], tf.int32)
        transforms = [MinimumLength(tf.constant([2 + turn % 2])), Temperature(1.0 + turn)]
        how = {"max_length": 5, "transforms": transforms}
        expected = decode(model, source, Sample(turn), **how).token_ids.numpy()
        *_, found = grow(watched, source, Sample(turn), **how)
        np.testing.assert_array_equal(found, expected)
        yield turn


def test_a_model_as_it_is_is_not_traced():
    model = Watched(random_logits(4, 3, 5))
    list(answers(model, model))
    assert model.traces == 0


def test_a_traced_model_is_traced_once_and_once_more_for_other_lengths():
    logits = random_logits(4, 3, 5)
    model = Watched(logits)
    traced, traces = TracedModel(model), []
    for _ in answers(Scripted(logits), traced):
        traces.append(model.traces)
    assert traces == [2, 2, 4, 4, 4]
    assert model.runs == 0


@pytest.mark.parametrize("name", ["lstm-bahdanau", "transformer-rotary", "language-model-transformer"])
def test_a_traced_model_says_what_the_model_says(name):
    """By one strategy after another, of sources of any length and number, and of two that grow in turn."""
    case = MODELS[name]
    model = case.make()
    traced = TracedModel(model)
    shorter, padded = case.source[:1, :2], np.pad(case.source, [[0, 0], [0, 3]])
    for source, strategy, length in (
        (case.source, Greedy(), 6),
        (padded, Sample(2), 6),
        (padded, Beam(3), 4),
        (shorter, Greedy(), 4),
    ):
        expected = [ids.numpy() for ids in grow(model, source, strategy, max_length=length)]
        found = [ids.numpy() for ids in grow(traced, source, strategy, max_length=length)]
        np.testing.assert_array_equal(found, expected)
    one, other = (grow(traced, case.source[[row]], Sample(row), max_length=6) for row in (0, 1))
    together = [[ids.numpy() for ids in pair] for pair in zip(one, other, strict=False)]
    for row in (0, 1):
        alone = [ids.numpy() for ids in grow(model, case.source[[row]], Sample(row), max_length=6)]
        np.testing.assert_array_equal([pair[row] for pair in together], alone[: len(together)])


def test_a_traced_model_may_say_where_it_looks():
    case = MODELS["lstm-bahdanau"]
    model = case.make()
    strategy = Beam(3, coverage_penalty=0.5)
    expected = [ids.numpy() for ids in grow(model, case.source, strategy, max_length=4)]
    found = [ids.numpy() for ids in grow(TracedModel(model), case.source, strategy, max_length=4)]
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="has no attention"):
        list(grow(TracedModel(MODELS["rnn"].make()), case.source, strategy, max_length=4))
