import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.training.losses import TokenCrossEntropy

RANDOM = np.random.default_rng(0)
LABELS = RANDOM.integers(0, 7, (3, 5))
LOGITS = RANDOM.normal(size=(3, 5, 7)).astype("float32")
WEIGHTS = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]], "float32")


def by_hand(labels, logits, weights):
    """The mean over tokens, and its gradient, in double precision."""
    logits = logits.astype("float64")
    shifted = logits - logits.max(-1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    losses = -np.take_along_axis(log_probs, labels[..., None], -1)[..., 0]
    gradient = (np.exp(log_probs) - np.eye(logits.shape[-1])[labels]) * weights[..., None] / weights.sum()
    return (losses * weights).sum() / weights.sum(), gradient


def loss_and_gradient(labels, logits, weights, *, jit):
    logits = tf.constant(logits)

    @tf.function(jit_compile=jit)
    def run(logits):
        with tf.GradientTape() as tape:
            tape.watch(logits)
            loss = TokenCrossEntropy()(labels, logits, sample_weight=weights)
        return loss, tape.gradient(loss, logits)

    return [result.numpy() for result in run(logits)]


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("scale", [1.0, 30.0, 1e4])
def test_loss_and_gradient_are_those_of_the_formula(jit, scale):
    loss, gradient = loss_and_gradient(LABELS, scale * LOGITS, WEIGHTS, jit=jit)
    expected, expected_gradient = by_hand(LABELS, scale * LOGITS, WEIGHTS)
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


def test_a_label_without_any_probability_has_a_finite_loss():
    logits = np.array([[[1000.0, 0.0]]], "float32")
    loss, gradient = loss_and_gradient(np.array([[1]]), logits, np.ones((1, 1), "float32"), jit=False)
    assert loss == 1000.0
    np.testing.assert_array_equal(gradient, [[[1.0, -1.0]]])


def test_what_padding_holds_changes_nothing():
    changed = np.where(WEIGHTS[..., None] > 0, LOGITS, np.float32(1e4))
    before, after = (loss_and_gradient(LABELS, logits, WEIGHTS, jit=False) for logits in (LOGITS, changed))
    np.testing.assert_array_equal(before[0], after[0])
    np.testing.assert_array_equal(before[1], after[1])


def test_it_comes_back_from_its_configuration():
    loss = TokenCrossEntropy(reduction="sum", name="other")
    again = keras.losses.deserialize(keras.losses.serialize(loss))
    assert isinstance(again, TokenCrossEntropy)
    assert again.get_config() == {"reduction": "sum", "name": "other"}
