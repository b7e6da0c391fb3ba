"""A training that takes a second: dropout, a recurrence, and batches that are a pure function."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from zoo.training.fit import Fitted, fit
from zoo.training.resuming import Checkpoints
from zoo.training.settings import TrainingSettings

VOCABULARY = 11
TOKENS, FLOATS = tf.TensorSpec((None, None), tf.int32), tf.TensorSpec((None, None), tf.float32)


class Counting(NamedTuple):
    """Sequences that count upwards, of unequal lengths, shuffled by (seed, epoch)."""

    steps: int = 6
    rows: int = 8
    seed: int = 0

    def epoch(self, epoch: int, first_step: int = 0) -> tf.data.Dataset:
        batches = [self._batch(epoch, step) for step in range(first_step, self.steps)]
        spec = ({"target_ids": TOKENS}, TOKENS, FLOATS)
        data = tf.data.Dataset.from_generator(lambda: iter(batches), output_signature=spec)
        return data.apply(tf.data.experimental.assert_cardinality(len(batches)))

    def _batch(self, epoch: int, step: int):
        draw = np.random.default_rng([self.seed, epoch, step])
        length = int(draw.integers(2, 6))
        ids = (draw.integers(4, VOCABULARY, (self.rows, 1)) + np.arange(length + 1)) % (VOCABULARY - 4) + 4
        weights = np.arange(length) < draw.integers(1, length + 1, (self.rows, 1))
        return (
            {"target_ids": ids[:, :-1].astype("int32")},
            ids[:, 1:].astype("int32"),
            weights.astype("float32"),
        )


class TinyModel(keras.Model):
    """Logits from a recurrence with dropout before, in and behind it."""

    def __init__(self, dropout: float = 0.3) -> None:
        super().__init__()
        self.embedding = keras.layers.Embedding(VOCABULARY, 6)
        self.before = keras.layers.Dropout(dropout)
        self.recurrence = keras.layers.RNN(keras.layers.GRUCell(5, dropout=dropout), return_sequences=True)
        self.behind = keras.layers.Dropout(dropout)
        self.logits = keras.layers.Dense(VOCABULARY)

    def call(self, inputs, training=False):
        hidden = self.before(self.embedding(inputs["target_ids"]), training=training)
        hidden = self.recurrence(hidden, training=training)
        return self.logits(self.behind(hidden, training=training))


SETTINGS = TrainingSettings(epochs=3, batch_size=8, learning_rate=0.02, seed=5, average_last=2)


def train(
    settings: TrainingSettings = SETTINGS,
    *,
    folder: Path | None = None,
    callbacks: Sequence[keras.callbacks.Callback] = (),
    model: keras.Model | None = None,
    dropout: float = 0.3,
    training: Counting | None = None,
    steps: int | None = 2,
    minutes: float = 5.0,
) -> tuple[keras.Model, Fitted]:
    """Train; into a folder, and from there on, if one is given."""
    keras.utils.set_random_seed(settings.seed)
    model = model or TinyModel(dropout)
    checkpoints = Checkpoints(folder, what={"name": "tiny"}, steps=steps, minutes=minutes) if folder else None
    fitted = fit(
        model,
        training or Counting(),
        Counting(steps=2, seed=1).epoch(0),
        settings,
        callbacks=callbacks,
        checkpoints=checkpoints,
    )
    return model, fitted
