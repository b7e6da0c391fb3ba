import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.data.batches import batches
from zoo.data.pairs import Pairs
from zoo.tokenizers import Characters
from zoo.training.fit import TrainingSettings, compile_model, fit

LETTERS = Characters("abcd")
TEXTS = ["".join(np.random.default_rng(i).choice(list("abcd"), 3)) for i in range(40)]


SETTINGS = TrainingSettings(epochs=4, batch_size=8, learning_rate=0.1, seed=3)


def data(seed):
    pairs = Pairs(TEXTS, TEXTS)
    return batches(pairs, LETTERS, LETTERS, batch_size=8, max_source_length=4, max_length=4, seed=seed)


class Bigrams(keras.Model):
    """Logits from the last token alone: the smallest model that `batches` can feed."""

    def __init__(self):
        super().__init__()
        self.embedding = keras.layers.Embedding(8, 8)
        self.dropout = keras.layers.Dropout(0.1)
        self.logits = keras.layers.Dense(8)

    def call(self, inputs, training=False):
        return self.logits(self.dropout(self.embedding(inputs["target_ids"]), training=training))


def train(settings, **kwargs):
    keras.utils.set_random_seed(settings.seed)
    model = Bigrams()
    fitted = fit(model, data(settings.seed), data(None).epoch(0), settings, **kwargs)
    return model, fitted.history


@pytest.fixture(scope="module")
def trained():
    epochs = []
    callback = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: epochs.append(epoch))
    model, history = train(SETTINGS, callbacks=[callback])
    assert epochs == [0, 1, 2, 3]
    return model, history


def test_the_loss_falls_and_is_recorded(trained):
    _, history = trained
    assert set(history) >= {"loss", "token_accuracy", "val_loss", "val_token_accuracy"}
    assert {len(values) for values in history.values()} == {4}
    assert history["loss"][-1] < 0.9 * history["loss"][0]
    assert history["val_loss"][-1] < history["val_loss"][0]


def test_the_same_seed_gives_the_same_weights(trained):
    model, history = trained
    again, same = train(SETTINGS)
    for name, values in history.items():
        assert same[name] == pytest.approx(values, abs=1e-6)
    for weight, other in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_allclose(weight, other, atol=1e-6)


def test_learning_rate_falls_to_zero_over_all_steps(trained):
    model, _ = trained
    schedule = model.optimizer._learning_rate
    assert int(model.optimizer.iterations) == 4 * 5
    assert float(schedule(0)) == pytest.approx(0.1)
    assert float(schedule(10)) == pytest.approx(0.05)
    assert float(schedule(20)) == pytest.approx(0, abs=1e-8)


class Constant(keras.Model):
    """Two logits that do not depend on the input, and nothing else."""

    def __init__(self):
        super().__init__()
        self.logits = self.add_weight(shape=(2,), initializer="zeros", name="logits")

    def call(self, inputs):
        return tf.zeros_like(inputs, tf.float32)[..., None] + self.logits


def test_padding_weighs_nothing_in_loss_gradient_and_accuracy():
    """Three tokens are 1 and one is 0; the 96 places of padding are 0 too, and must not be learned."""
    labels = np.zeros((2, 50), "int32")
    weights = np.zeros((2, 50), "float32")
    labels[0, :3], weights[0, :3], weights[1, 0] = 1, 1, 1
    model = Constant()
    compile_model(model, TrainingSettings(batch_size=2, learning_rate=0.1), steps=10**6)
    first = model.train_on_batch(labels, labels, weights, return_dict=True)
    assert first["loss"] == pytest.approx(np.log(2), abs=1e-6)
    assert first["token_accuracy"] == pytest.approx(0.25)  # of equal logits the first
    for _ in range(150):
        last = model.train_on_batch(labels, labels, weights, return_dict=True)
    assert float(tf.nn.softmax(model.logits)[1]) == pytest.approx(0.75, abs=0.02)
    assert last["loss"] == pytest.approx(-(0.75 * np.log(0.75) + 0.25 * np.log(0.25)), abs=1e-3)
    assert model.evaluate(labels, labels, sample_weight=weights, verbose=0)[1] == pytest.approx(0.75)


def test_great_gradients_are_clipped():
    model = Constant()
    compile_model(model, TrainingSettings(batch_size=2, clip_norm=0.5, beta_2=0.98), steps=10)
    assert model.optimizer.beta_2 == 0.98
    assert model.optimizer.clip_norm == model.optimizer.global_clipnorm == 0.5
