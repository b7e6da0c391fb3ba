"""Training with Keras' own `compile` and `fit`."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import keras
import tensorflow as tf

from zoo.training.adam import Adam
from zoo.training.averaging import AverageLast
from zoo.training.checkpoint import Position
from zoo.training.distribution import even_rows, placement
from zoo.training.epochs import Epochs, SharedEpochs, share_weights
from zoo.training.losses import TokenCrossEntropy
from zoo.training.resuming import Checkpoints
from zoo.training.sampling import sampled
from zoo.training.schedules import learning_rate
from zoo.training.settings import TrainingSettings
from zoo.training.tokens import TokenAccuracy, Tokens

__all__ = ["Fitted", "TrainingSettings", "compile_model", "fit"]


class Fitted(NamedTuple):
    """What a training says of itself."""

    history: dict[str, list[float]]
    """What Keras records of each epoch, by name."""
    seconds: float
    """How long it took, interruptions not counted."""


def compile_model(model: keras.Model, settings: TrainingSettings, *, steps: int) -> None:
    """Compile a model that gives logits: Adam, cross-entropy and accuracy over tokens that are not padding.

    Where several batches make an update, or several devices share a batch, the loss is a sum, and the weights
    of the tokens are those of `zoo.training.epochs.share_weights`.

    Args:
        model: gives logits (B, T, V).
        settings: see `TrainingSettings`.
        steps: number of batches in the whole training, the length of the schedule.
    """
    shared = _shares_updates(model.distribute_strategy.num_replicas_in_sync, settings)
    with model.distribute_strategy.scope():
        rate = learning_rate(
            settings.schedule,
            settings.learning_rate,
            warmup_steps=settings.warmup_steps,
            steps=max(1, steps // settings.accumulation),
            accumulation=settings.accumulation,
        )
        model.compile(
            optimizer=Adam(
                rate,
                clip_norm=settings.clip_norm,
                accumulation=settings.accumulation,
                beta_2=settings.beta_2,
            ),
            loss=TokenCrossEntropy(
                label_smoothing=settings.label_smoothing,
                reduction="sum" if shared else "mean_with_sample_weight",
            ),
            weighted_metrics=[TokenAccuracy(), Tokens()],
        )


def fit(
    model: keras.Model,
    training: Epochs,
    validation: tf.data.Dataset,
    settings: TrainingSettings,
    *,
    callbacks: Sequence[keras.callbacks.Callback] = (),
    checkpoints: Checkpoints | None = None,
) -> Fitted:
    """Compile and fit; go on where an earlier call was interrupted, if it kept checkpoints.

    A model that was made within the scope of a strategy of `tf.distribute` trains on its devices; each of
    its workers calls this function, with the same arguments.

    Keras' `fit` is called once for each epoch, since each has its own order of batches. Callbacks see one
    training: it begins and ends once, and batches count from the beginning of the epoch.

    Args:
        model: gives logits (B, T, V).
        training: see `zoo.training.epochs.Epochs`.
        validation: batches of inputs, labels and weights.
        settings: see `TrainingSettings`.
        callbacks: called in their order; then the history is written, and then the checkpoint.
        checkpoints: where the training is kept; None: it is not.
    """
    training, validation = _shared(training, validation, settings, model.distribute_strategy)
    steps = training.steps
    place = placement(model.distribute_strategy)
    if settings.sampling is not None:
        model = sampled(model, settings.sampling, seed=settings.seed)
    model = place.trainee(model)
    compile_model(model, settings, steps=steps * settings.epochs)
    _build(model, place.share(validation.take(1)))
    history = keras.callbacks.History()
    averages = [AverageLast(settings.average_last)] if settings.average_last > 1 else []
    listed = [*callbacks, history, *averages, *([checkpoints] if checkpoints else [])]
    whole = _WholeTraining(listed, model=model, epochs=settings.epochs, steps=steps)
    started = time.monotonic()
    whole.begin()
    position = checkpoints.restore(listed) if checkpoints else Position(0, 0)
    for epoch in range(position.epoch, settings.epochs):
        whole.first_step = position.step if epoch == position.epoch else 0
        model.fit(
            place.share(training.epoch(epoch, whole.first_step)),
            steps_per_epoch=place.steps(steps - whole.first_step),
            initial_epoch=epoch,
            epochs=epoch + 1,
            validation_data=place.share(validation),
            validation_steps=place.steps(int(validation.cardinality())),
            callbacks=whole,
            shuffle=False,  # the pipeline shuffles
        )
        if model.stop_training:
            break
    whole.end()
    return Fitted(history.history, checkpoints.seconds if checkpoints else time.monotonic() - started)


class _WholeTraining(keras.callbacks.CallbackList):
    """Callbacks that see one training where there are many calls of `fit`, and whole epochs."""

    first_step = 0

    def begin(self) -> None:
        super().on_train_begin()

    def end(self) -> None:
        super().on_train_end()

    def on_train_begin(self, logs=None):
        """An epoch begins, not the training."""

    def on_train_end(self, logs=None):
        """An epoch ends, not the training."""

    def on_train_batch_begin(self, batch, logs=None):
        super().on_train_batch_begin(self.first_step + batch, logs)

    def on_train_batch_end(self, batch, logs=None):
        super().on_train_batch_end(self.first_step + batch, logs)


def _build(model: keras.Model, batches: tf.data.Dataset) -> None:
    """Make all variables, of model, metrics and optimizer, so that they can be given their values."""
    model.evaluate(batches, steps=1, verbose=0)
    with model.distribute_strategy.scope():
        model.optimizer.build(model.trainable_variables)


def _shared(
    training: Epochs,
    validation: tf.data.Dataset,
    settings: TrainingSettings,
    strategy: tf.distribute.Strategy,
) -> tuple[Epochs, tf.data.Dataset]:
    """The data as the loss of `compile_model` wants them."""
    devices = strategy.num_replicas_in_sync
    if _shares_updates(devices, settings):
        training = SharedEpochs(training, settings.accumulation, devices)
        validation = even_rows(share_weights(validation, group=1), devices)
    if training.steps < 1:
        raise ValueError(
            "There is no update in an epoch of the training data. An update takes "
            f"{settings.accumulation} batches: lower accumulation or make the batches smaller."
        )
    return training, validation


def _shares_updates(devices: int, settings: TrainingSettings) -> bool:
    """Whether several batches make an update, or several devices."""
    if settings.accumulation > 1 and devices > 1:
        raise ValueError(
            f"Keras cannot accumulate gradients over {devices} devices. Set accumulation to 1 and make the "
            f"batches {settings.accumulation} times as large, or train on one device."
        )
    return settings.accumulation > 1 or devices > 1
