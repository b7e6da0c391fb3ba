import keras
import numpy as np
import pytest
from contracts.model_cases import MODELS

from zoo.decoders import Beam, Greedy, MinimumLength, Sample, decode, grow


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
