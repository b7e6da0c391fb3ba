import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.training.losses import TokenCrossEntropy

RANDOM = np.random.default_rng(0)
LABELS = RANDOM.integers(0, 7, (3, 5))
LOGITS = RANDOM.normal(size=(3, 5, 7)).astype("float32")
WEIGHTS = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]], "float32")


def by_hand(labels, logits, weights, smoothing=0.0):
    """The mean over tokens, and its gradient, in double precision, the distributions written out."""
    logits = logits.astype("float64")
    shifted = logits - logits.max(-1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    size = logits.shape[-1]
    expected = (1 - smoothing) * np.eye(size)[labels] + smoothing / size
    losses = -(expected * log_probs).sum(-1)
    gradient = (np.exp(log_probs) - expected) * weights[..., None] / weights.sum()
    return (losses * weights).sum() / weights.sum(), gradient


def loss_and_gradient(labels, logits, weights, *, jit, smoothing=0.0):
    logits = tf.constant(logits)

    @tf.function(jit_compile=jit)
    def run(logits):
        with tf.GradientTape() as tape:
            tape.watch(logits)
            loss = TokenCrossEntropy(label_smoothing=smoothing)(labels, logits, sample_weight=weights)
        return loss, tape.gradient(loss, logits)

    return [result.numpy() for result in run(logits)]


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("scale", [1.0, 30.0, 1e4])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_loss_and_gradient_are_those_of_the_formula(jit, scale, smoothing):
    loss, gradient = loss_and_gradient(LABELS, scale * LOGITS, WEIGHTS, jit=jit, smoothing=smoothing)
    expected, expected_gradient = by_hand(LABELS, scale * LOGITS, WEIGHTS, smoothing)
    assert loss == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(gradient, expected_gradient, atol=1e-6)


def test_it_is_the_loss_of_keras():
    keras_loss = keras.losses.SparseCategoricalCrossentropy(
        from_logits=True, reduction="mean_with_sample_weight"
    )
    expected = float(keras_loss(LABELS, LOGITS, sample_weight=WEIGHTS))
    assert float(TokenCrossEntropy()(LABELS, LOGITS, sample_weight=WEIGHTS)) == pytest.approx(
        expected, abs=1e-6
    )


def test_a_smoothed_label_by_hand():
    """V = 4, e = 0.2: the label has 0.85, all others 0.05. The logits are those of 1/2, 1/4, 1/8, 1/8."""
    logits = np.log([[[4.0, 2.0, 1.0, 1.0]]]).astype("float32")
    loss, gradient = loss_and_gradient(
        np.array([[1]]), logits, np.ones((1, 1), "float32"), jit=False, smoothing=0.2
    )
    assert loss == pytest.approx(np.log(2) * (0.05 * 1 + 0.85 * 2 + 0.05 * 3 + 0.05 * 3), rel=1e-6)
    np.testing.assert_allclose(gradient, [[[0.45, -0.6, 0.075, 0.075]]], atol=1e-6)


def test_smoothing_is_that_of_keras_over_one_hot_vectors():
    smooth = keras.losses.CategoricalCrossentropy(
        from_logits=True, label_smoothing=0.3, reduction="mean_with_sample_weight"
    )
    expected = float(smooth(np.eye(7)[LABELS], LOGITS, sample_weight=WEIGHTS))
    found = TokenCrossEntropy(label_smoothing=0.3)(LABELS, LOGITS, sample_weight=WEIGHTS)
    assert float(found) == pytest.approx(expected, abs=1e-6)


def test_smoothing_is_a_share():
    with pytest.raises(ValueError, match="from 0 to below 1, got 1"):
        TokenCrossEntropy(label_smoothing=1.0)


def test_a_label_without_any_probability_has_a_finite_loss():
    logits = np.array([[[1000.0, 0.0]]], "float32")
    loss, gradient = loss_and_gradient(np.array([[1]]), logits, np.ones((1, 1), "float32"), jit=False)
    assert loss == 1000.0
    np.testing.assert_array_equal(gradient, [[[1.0, -1.0]]])


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_what_padding_holds_changes_nothing(smoothing):
    changed = np.where(WEIGHTS[..., None] > 0, LOGITS, np.float32(1e4))
    before, after = (
        loss_and_gradient(LABELS, logits, WEIGHTS, jit=False, smoothing=smoothing)
        for logits in (LOGITS, changed)
    )
    np.testing.assert_array_equal(before[0], after[0])
    np.testing.assert_array_equal(before[1], after[1])


def test_it_comes_back_from_its_configuration():
    loss = TokenCrossEntropy(label_smoothing=0.25, reduction="sum", name="other")
    again = keras.losses.deserialize(keras.losses.serialize(loss))
    assert isinstance(again, TokenCrossEntropy)
    assert again.get_config() == {"label_smoothing": 0.25, "reduction": "sum", "name": "other"}
