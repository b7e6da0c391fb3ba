"""Training with Keras' own `compile` and `fit`."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import keras
import tensorflow as tf

from zoo.training.losses import TokenCrossEntropy

__all__ = ["TrainingSettings", "compile_model", "fit"]


@dataclass(frozen=True)
class TrainingSettings:
    """How to train; sizes of the data and the model live elsewhere.

    Attributes:
        epochs: passes over the training data.
        batch_size: pairs in a batch.
        learning_rate: of Adam at its highest; it falls to zero along half a cosine.
        clip_norm: gradients with a greater global norm are scaled down to it (Pascanu et al. 2013).
        seed: of initial weights, dropout and order.
    """

    epochs: int = 1
    batch_size: int = 64
    learning_rate: float = 1e-3
    clip_norm: float = 1.0
    seed: int = 0


def compile_model(model: keras.Model, settings: TrainingSettings, *, steps: int) -> None:
    """Compile a model that gives logits: Adam, cross-entropy and accuracy over tokens that are not padding.

    Args:
        model: gives logits (B, T, V).
        settings: see `TrainingSettings`.
        steps: number of batches in the whole training, the length of the schedule.
    """
    model.compile(
        optimizer=keras.optimizers.Adam(
            keras.optimizers.schedules.CosineDecay(settings.learning_rate, max(1, steps)),
            global_clipnorm=settings.clip_norm,
        ),
        loss=TokenCrossEntropy(),
        weighted_metrics=[keras.metrics.SparseCategoricalAccuracy(name="token_accuracy")],
    )


def fit(
    model: keras.Model,
    training: tf.data.Dataset,
    validation: tf.data.Dataset,
    settings: TrainingSettings,
    *,
    callbacks: Sequence[keras.callbacks.Callback] = (),
) -> dict[str, list[float]]:
    """Compile and fit.

    Args:
        model: gives logits (B, T, V).
        training, validation: batches of inputs, labels and weights, of known cardinality.
        settings: see `TrainingSettings`.
        callbacks: handed to `fit`.

    Returns:
        What Keras records of each epoch, by name.
    """
    steps = int(training.cardinality())
    if steps < 0:
        raise ValueError(
            "The learning rate falls over the whole training, so the data must have a known cardinality. "
            "Give it one: data.apply(tf.data.experimental.assert_cardinality(number_of_batches))."
        )
    compile_model(model, settings, steps=steps * settings.epochs)
    history = model.fit(
        training,
        epochs=settings.epochs,
        validation_data=validation,
        callbacks=list(callbacks),
        shuffle=False,  # the pipeline shuffles
        verbose=1 if sys.stdout.isatty() else 2,  # a line an epoch is enough for a file
    )
    return history.history
