"""The windowed baseline, and the limit that no training lifts."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from equations import window_approach

from zoo.models import RecurrentEncoder, SequenceTagger, WindowedEncoder

SOURCE = np.array(
    [[4, 5, 6, 7, 8, 9, 2], [6, 5, 2, 0, 0, 0, 0], [2, 0, 0, 0, 0, 0, 0], [0, 0, 4, 5, 2, 0, 0]]
)


def encoder(window, depth=2):
    keras.utils.set_random_seed(4)
    encoder = WindowedEncoder(10, 6, embedding_dim=3, window=window, depth=depth)
    encoder.build()
    random = np.random.default_rng(4)
    encoder.set_weights([random.normal(size=weight.shape) for weight in encoder.weights])
    return encoder


@pytest.mark.parametrize("window", [1, 3, 7, 15])
def test_equals_the_equations(window):
    """On left padding, too: what is no token is no neighbour."""
    layer = encoder(window)
    table, *weights = layer.get_weights()
    found = layer(SOURCE)
    for row, source in enumerate(SOURCE):
        expected = window_approach(table[source[source != 0]], window, [weights[:2], weights[2:]])
        np.testing.assert_allclose(found.values.numpy()[row, source != 0], expected, atol=1e-5)
        np.testing.assert_allclose(found.summary[row], expected.mean(axis=0), atol=1e-5)
    np.testing.assert_array_equal(found.mask, SOURCE != 0)
    assert (found.values.numpy()[SOURCE == 0] == 0).all()


@pytest.mark.parametrize("window", [1, 3, 5])
def test_what_is_outside_the_window_cannot_change_anything(window):
    """Every position is changed in turn; exactly those answers move whose window it is in."""
    layer, source = encoder(window), SOURCE[:1]
    whole = layer(source).values.numpy()[0]
    for changed in range(7):
        other = source.copy()
        other[0, changed] = 3
        moved = np.abs(layer(other).values.numpy()[0] - whole).max(axis=1)
        inside = np.abs(np.arange(7) - changed) <= window // 2
        assert (moved[inside] > 1e-4).all()
        assert (moved[~inside] == 0).all()


def test_the_gradient_ends_at_the_window():
    layer, embedded = encoder(3, depth=3), tf.constant(np.ones((1, 7, 3), "float32"))
    with tf.GradientTape() as tape:
        tape.watch(embedded)
        windows = layer.windows(embedded)
        total = tf.reduce_sum(windows[0, 3])
    np.testing.assert_array_equal(tape.gradient(total, embedded)[0, :, 0], [0, 0, 1, 1, 1, 0, 0])


def accuracy_after_training(encoder):
    """Every token is to be labelled with the first one of its text, 4 or 5; the others are noise."""
    keras.utils.set_random_seed(0)
    random = np.random.default_rng(0)
    source = random.integers(6, 10, (256, 8))
    source[:, 0] = random.integers(4, 6, 256)
    labels = np.repeat(source[:, :1] - 4, 8, axis=1)
    weights = np.ones((256, 8)) * (np.arange(8) >= 4)
    model = SequenceTagger(encoder, classes=2)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="mean_with_sample_weight")
    model.compile(keras.optimizers.Adam(0.02), loss)
    model.fit({"source": source[:192]}, labels[:192], sample_weight=weights[:192], epochs=12, verbose=0)
    right = np.argmax(model({"source": source[192:]}), axis=-1) == labels[192:]
    return right[:, 4:].mean()


def test_its_limit_is_what_recurrence_lifts():
    """Where the answer is beyond the window the baseline can but guess; a recurrent encoder knows."""
    assert accuracy_after_training(WindowedEncoder(10, 16, embedding_dim=8, window=7)) < 0.7
    assert accuracy_after_training(RecurrentEncoder(10, 16, embedding_dim=8, cell="gru")) > 0.99


@pytest.mark.parametrize("window", [0, 2, -1])
def test_a_window_has_a_middle(window):
    with pytest.raises(ValueError, match=f"1, 3, 5 or so on; got window={window}"):
        WindowedEncoder(10, 6, embedding_dim=3, window=window)


@pytest.mark.parametrize("name", ["vocab_size", "units", "embedding_dim", "depth"])
def test_sizes_that_no_network_can_have(name):
    with pytest.raises(ValueError, match=f"{name} must be a whole number, 1 or more, got 0"):
        WindowedEncoder(**{"vocab_size": 10, "units": 6, "embedding_dim": 3, name: 0})
