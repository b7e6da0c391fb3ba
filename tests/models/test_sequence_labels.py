"""Taggers, classifiers and regressors: what is read off the encoder, and where."""

import keras
import numpy as np
import pytest

from zoo.layers import AttentionPooling, Pooling
from zoo.models import (
    ClassToken,
    RecurrentEncoder,
    Seq2Seq,
    SequenceClassifier,
    SequenceRegressor,
    SequenceTagger,
    TokenRegressor,
    TransformerEncoder,
    WindowedEncoder,
)
from zoo.models.attentive import BahdanauDecoder

SOURCE = np.array([[4, 5, 6, 2], [6, 2, 0, 0], [2, 0, 0, 0]])
START = 1


@pytest.fixture(scope="module")
def encoder():
    keras.utils.set_random_seed(0)
    return RecurrentEncoder(8, 5, embedding_dim=3)


@pytest.mark.parametrize("kind", [SequenceTagger, TokenRegressor])
def test_a_position_has_the_readout_of_its_vector(encoder, kind):
    model = kind(encoder, classes=3) if kind is SequenceTagger else kind(encoder)
    kernel, bias = model.readout.get_weights()
    expected = encoder(SOURCE).values.numpy() @ kernel + bias
    found = model({"source": SOURCE}).numpy()
    assert found.shape == (3, 4, 3 if kind is SequenceTagger else 1)
    np.testing.assert_allclose(found[SOURCE != 0], expected[SOURCE != 0], atol=1e-6)
    assert (found[SOURCE == 0] == 0).all()


@pytest.mark.parametrize("pooling", [*map(Pooling, ("mean", "max", "first", "last")), AttentionPooling(4)])
def test_a_whole_has_the_readout_of_the_pooled_vector(encoder, pooling):
    for model in (
        SequenceClassifier(encoder, classes=3, pooling=pooling),
        SequenceRegressor(encoder, pooling=pooling),
    ):
        kernel, bias = model.readout.get_weights()
        encoded = encoder(SOURCE)
        expected = pooling(encoded.values, encoded.mask).numpy() @ kernel + bias
        np.testing.assert_allclose(model({"source": SOURCE}), expected, atol=1e-6)


def test_a_class_token_stands_before_all_others():
    keras.utils.set_random_seed(0)
    inner = TransformerEncoder(8, 4, depth=1, heads=2, units=8)
    encoder = ClassToken(inner)
    encoder.build()
    found = encoder(SOURCE)
    marked = np.pad(SOURCE, [(0, 0), (1, 0)], constant_values=START)
    np.testing.assert_allclose(found.values, inner(marked).values, atol=1e-6)
    np.testing.assert_array_equal(found.mask, marked != 0)
    assert (encoder.width, encoder.summary_width, encoder.vocab_size) == (4, 4, 8)
    changed = encoder(np.where(SOURCE == 6, 7, SOURCE)).values.numpy()[:, 0]
    moved = np.abs(changed - found.values.numpy()[:, 0]).max(axis=1)
    assert (moved[:2] > 1e-4).all()
    assert moved[2] == 0


def test_weights_of_the_fit_weigh_each_position():
    """The loss of a position of weight zero is not counted, that of one with weight two counts twice."""
    model = TokenRegressor(WindowedEncoder(8, 4, embedding_dim=3))
    numbers = model({"source": SOURCE}).numpy()
    labels = np.random.default_rng(0).normal(size=(3, 4, 1))
    weights = np.array([[2, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0.0]])
    model.compile(loss=keras.losses.MeanSquaredError(reduction="mean_with_sample_weight"))
    expected = ((numbers - labels)[..., 0] ** 2 * weights).sum() / weights.sum()
    found = model.evaluate({"source": SOURCE}, labels, sample_weight=weights, verbose=0)
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("labels", [np.array([1.0, 2.0, 5.0]), np.array([[1.0], [2.0], [5.0]])])
def test_weights_of_the_fit_weigh_each_source(encoder, labels):
    model = SequenceRegressor(encoder, pooling=Pooling("mean"))
    numbers, weights = model({"source": SOURCE}).numpy()[:, 0], np.array([1.0, 0.0, 3.0])
    model.compile(loss=keras.losses.MeanSquaredError(reduction="mean_with_sample_weight"))
    expected = ((numbers - labels.ravel()) ** 2 * weights).sum() / 4
    found = model.evaluate({"source": SOURCE}, labels, sample_weight=weights, verbose=0)
    assert found == pytest.approx(expected, rel=1e-5)


def test_the_new_encoders_fit_under_a_decoder_too():
    for encoder in (
        WindowedEncoder(8, 4, embedding_dim=3),
        ClassToken(RecurrentEncoder(8, 4, embedding_dim=3)),
    ):
        model = Seq2Seq(encoder, BahdanauDecoder(6, 5, embedding_dim=3))
        logits = model({"source": SOURCE, "target_ids": np.array([[1, 4], [1, 5], [1, 3]])})
        assert logits.shape == (3, 2, 6)
        assert np.isfinite(logits).all()


def test_numbers_that_no_model_can_have(encoder):
    mean = Pooling("mean")
    for make in (
        lambda: SequenceTagger(encoder, classes=0),
        lambda: SequenceClassifier(encoder, classes=0, pooling=mean),
    ):
        with pytest.raises(ValueError, match="classes must be a whole number, 1 or more, got 0"):
            make()
    for make in (
        lambda: SequenceTagger(encoder, classes=3, dropout=1.0),
        lambda: TokenRegressor(encoder, dropout=1.0),
        lambda: SequenceClassifier(encoder, classes=3, pooling=mean, dropout=1.0),
        lambda: SequenceRegressor(encoder, pooling=mean, dropout=1.0),
    ):
        with pytest.raises(ValueError, match=r"dropout must be a rate from 0 to below 1, got 1\.0"):
            make()
