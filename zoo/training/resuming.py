"""Going on with a training that was interrupted, as if it had not been."""

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import keras

from zoo.training.checkpoint import Checkpoint, Position, read, write
from zoo.training.state import put_back, put_back_metrics, take

__all__ = ["Checkpoints"]


class Checkpoints(keras.callbacks.Callback):
    """Keeps a training in a file, every few minutes and at the end of each epoch, for `zoo.training.fit.fit`.

    With data that are a function of the position, and with TensorFlow's deterministic operations on a
    processor, a training that was killed anywhere ends bit for bit as one that was not.

    Args:
        folder: for the file; made if it is not there.
        what: says what is trained, in JSON's terms. Another training is not gone on with.
        minutes: most minutes between two checkpoints.
        steps: most batches between two checkpoints; None: only the minutes count.
    """

    def __init__(
        self, folder: Path, *, what: Mapping[str, Any], minutes: float = 5.0, steps: int | None = None
    ) -> None:
        super().__init__()
        self.file = folder / "checkpoint.npz"
        self.what = dict(what)
        self.minutes = minutes
        self.steps = steps
        self._callbacks: Sequence[keras.callbacks.Callback] = ()
        self._kept: Checkpoint | None = None
        self._epoch = 0
        self._started = self._written = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long the training took until now, interruptions not counted."""
        return time.monotonic() - self._started

    def restore(self, callbacks: Sequence[keras.callbacks.Callback]) -> Position:
        """Bring the model, which is built and compiled, and all callbacks to where the training stood.

        Returns:
            Where that was; the beginning, if nothing is kept.

        Raises:
            ValueError: what is kept is another training.
        """
        self._callbacks = callbacks
        self._started = self._written = time.monotonic()
        self._kept = read(self.file)
        if self._kept is None:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            return Position(0, 0)
        self._require_same(self._kept.facts["what"])
        put_back(self._kept.arrays, self.model, callbacks)
        self.model.history.epoch = self._kept.facts["epochs"]
        self.model.history.history = self._kept.facts["history"]
        self._started -= self._kept.facts["seconds"]
        return self._kept.position

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch
        if self._kept is not None and self._kept.position.step > 0:
            put_back_metrics(self._kept.arrays, self.model)
        self._kept = None

    def on_train_batch_end(self, batch, logs=None):
        step = batch + 1
        if step == self.params["steps"]:
            return  # the end of the epoch is near, and keeps more
        due = time.monotonic() - self._written >= 60 * self.minutes
        if due or (self.steps is not None and step % self.steps == 0):
            self._write(Position(self._epoch, step))

    def on_epoch_end(self, epoch, logs=None):
        done = self.params["epochs"] if self.model.stop_training else epoch + 1
        self._write(Position(done, 0))

    def _write(self, position: Position) -> None:
        history = self.model.history
        facts = {
            "what": self.what,
            "seconds": self.seconds,
            "epochs": history.epoch,
            "history": history.history,
        }
        state = take(self.model, self._callbacks)  # among workers, all have to read their variables
        if self.model.distribute_strategy.extended.should_checkpoint:
            write(Checkpoint(position, state, facts), self.file)
        self._written = time.monotonic()

    def _require_same(self, kept: Mapping[str, Any]) -> None:
        then, now = dict(_flat(kept)), dict(_flat(self.what))
        differ = [
            f"{name}: {then.get(name)!r}, now {now.get(name)!r}"
            for name in sorted({*then, *now})
            if then.get(name) != now.get(name)
        ]
        if differ:
            raise ValueError(
                f"{self.file.parent} keeps an unfinished training of another kind ({'; '.join(differ)}). "
                "Go on with what it was, or start afresh: zoo train ... --fresh"
            )


def _flat(facts: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """Facts with those inside them, named as in `settings.epochs`."""
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{within}{name}.")
        else:
            yield within + name, value
