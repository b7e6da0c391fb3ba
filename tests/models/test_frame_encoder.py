"""Frames in place of token ids: padding, normalisation, and what is kept when it is saved."""

import keras
import numpy as np
import pytest

from zoo.layers import FrameStatistics, Pooling
from zoo.models import RecurrentFrameEncoder, SequenceClassifier

FRAMES = np.random.default_rng(0).normal(size=(3, 7, 4)).astype("float32")
FRAMES[1, 4:] = 0
FRAMES[2] = 0


@pytest.fixture
def encoder():
    keras.utils.set_random_seed(1)
    layer = RecurrentFrameEncoder(4, 5, cell="gru", depth=2, dropout=0.3)
    layer.normalization.set_statistics(FrameStatistics(np.full(4, 2.0), np.full(4, 0.5)))
    return layer


def test_frames_of_zeros_are_padding(encoder):
    encoded = encoder(FRAMES)
    assert encoded.values.shape == (3, 7, encoder.width) == (3, 7, 10)
    assert [leaf.shape[-1] for leaf in encoded.summary] == list(encoder.summary_width) == [10, 10]
    assert np.sum(encoded.mask, axis=1).tolist() == [7, 4, 0]


def test_padding_changes_nothing(encoder):
    alone, beside = encoder(FRAMES[1:2, :4]), encoder(FRAMES)
    np.testing.assert_allclose(alone.values[0], beside.values[1, :4], atol=1e-6)
    for one, other in zip(alone.summary, beside.summary, strict=True):
        np.testing.assert_allclose(one[0], other[1], atol=1e-6)


def test_frames_are_normalised(encoder):
    plain = RecurrentFrameEncoder(4, 5, cell="gru", depth=2, dropout=0.3)
    encoder.build()
    plain.build()
    plain.stack.set_weights(encoder.stack.get_weights())
    np.testing.assert_allclose(encoder(FRAMES[:1]).values, plain((FRAMES[:1] - 2.0) / 0.5).values, atol=1e-6)


def test_a_model_over_it_comes_back_from_a_file(encoder, tmp_path):
    model = SequenceClassifier(encoder, classes=2, pooling=Pooling("mean"))
    before = keras.ops.convert_to_numpy(model({"source": FRAMES}))
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(again({"source": FRAMES}), before, atol=1e-6)
    assert again.encoder.get_config() == {**encoder.get_config(), "name": again.encoder.name}


@pytest.mark.parametrize("sizes", [{"features": 0}, {"units": 0}, {"dropout": 1.5}, {"cell": "none"}])
def test_sizes_that_make_no_sense(sizes):
    with pytest.raises(ValueError, match="got"):
        RecurrentFrameEncoder(**{"features": 4, "units": 5, **sizes})
