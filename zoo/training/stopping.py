"""What watches a figure while a model trains: Keras' own callbacks, whose memory outlasts a process."""

from collections.abc import Callable, Mapping, Sequence

import keras
import numpy as np

from zoo.metrics import signatures

__all__ = ["Decoded", "EarlyStopping", "Plateau"]


class Decoded(keras.callbacks.Callback):
    """Answers texts at the end of each epoch and judges the answers: `val_NAME` for each metric.

    It goes before the callbacks that watch these figures.

    Args:
        answer: what the model that trains answers to N texts: N texts.
        sources: N texts to ask.
        targets: what is right, N texts.
        metrics: from N answers and N targets to a number, by name.

    Raises:
        ValueError: there is nothing to ask, or not one target for each source.
    """

    def __init__(
        self,
        answer: Callable[[Sequence[str]], Sequence[str]],
        sources: Sequence[str],
        targets: Sequence[str],
        metrics: Mapping[str, Callable[[Sequence[str], Sequence[str]], float]],
    ) -> None:
        super().__init__()
        if not sources or len(sources) != len(targets):
            raise ValueError(
                f"What is decoded is judged by one target for each source, and there is one or more; got "
                f"{len(sources)} sources and {len(targets)} targets."
            )
        self.answer = answer
        self.sources = sources
        self.targets = targets
        self.metrics = metrics

    @property
    def signatures(self) -> dict[str, str]:
        """How those metrics come about that tell it, as sacrebleu writes it, by name."""
        return signatures(self.metrics)

    def on_epoch_end(self, epoch, logs=None):
        answers = self.answer(self.sources)
        for name, metric in self.metrics.items():
            logs[f"val_{name}"] = float(metric(answers, self.targets))


class EarlyStopping(keras.callbacks.EarlyStopping):
    """`keras.callbacks.EarlyStopping` for a training that may be interrupted: it remembers the best epoch.

    Args:
        monitor: name of the figure that is watched, such as `val_loss` or `val_exact_match`.
        mode: `max` or `min`: whether it is to grow or to fall.
        patience: epochs without a better one before the training ends.
        restore_best_weights: whether the weights are those of the best epoch at the end.
    """

    def __init__(self, monitor: str, *, mode: str, patience: int, restore_best_weights: bool = True) -> None:
        super().__init__(monitor, mode=mode, patience=patience, restore_best_weights=restore_best_weights)

    def memory(self) -> Mapping[str, np.ndarray]:
        """The best figure and its weights, and how long ago that was."""
        counts = {name: np.asarray(getattr(self, name)) for name in ("wait", "stopped_epoch", "best_epoch")}
        best = {} if self.best is None else {"best": np.asarray(self.best)}
        weights = {f"weight-{number:05}": value for number, value in enumerate(self.best_weights or [])}
        return {**counts, **best, **weights}

    def remember(self, memory: Mapping[str, np.ndarray]) -> None:
        """Take up what `memory` gave."""
        for name in ("wait", "stopped_epoch", "best_epoch"):
            setattr(self, name, int(memory[name]))
        self.best = float(memory["best"]) if "best" in memory else None
        weights = [memory[name] for name in sorted(memory) if name.startswith("weight-")]
        self.best_weights = weights or None


class Plateau(keras.callbacks.ReduceLROnPlateau):
    """`keras.callbacks.ReduceLROnPlateau` for a training that may be interrupted.

    The learning rate itself is kept with the optimizer, whose schedule is `constant` without warm-up.

    Args:
        monitor: name of the figure that is watched.
        mode: `max` or `min`: whether it is to grow or to fall.
        factor: of the learning rate, each time that the figure stands still.
        patience: epochs without a better one before that.
        min_lr: it does not fall below.
    """

    def __init__(
        self, monitor: str, *, mode: str, factor: float = 0.5, patience: int = 2, min_lr: float = 0.0
    ) -> None:
        super().__init__(monitor, mode=mode, factor=factor, patience=patience, min_lr=min_lr)

    def memory(self) -> Mapping[str, np.ndarray]:
        """The best figure, and how long ago that was."""
        best = {} if self.best is None else {"best": np.asarray(self.best)}
        return {"wait": np.asarray(self.wait), "cooldown": np.asarray(self.cooldown_counter), **best}

    def remember(self, memory: Mapping[str, np.ndarray]) -> None:
        """Take up what `memory` gave."""
        self.wait = int(memory["wait"])
        self.cooldown_counter = int(memory["cooldown"])
        self.best = float(memory["best"]) if "best" in memory else None
