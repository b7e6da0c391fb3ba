"""How the learning rate goes over the updates of a training.

Each counts updates t = 1, 2, ..., so that the first already moves the weights. (Keras hands a schedule the
number of updates that are done, t - 1.) A learning rate that falls when a figure stands still, rather than by
the clock, is `zoo.training.stopping.Plateau`, together with `constant` without warm-up.
"""

import math
from collections.abc import Callable, Mapping

import keras
from keras import ops
from keras.optimizers.schedules import LearningRateSchedule

__all__ = ["SCHEDULES", "Constant", "Cosine", "InverseSquareRoot", "Noam", "PerUpdate", "learning_rate"]


@keras.saving.register_keras_serializable("zoo")
class Noam(LearningRateSchedule):
    """Linear warm-up, then as one over the square root of t (Vaswani et al. 2017, equation 3)::

        rate(t) = factor * min(t ** -0.5, t * warmup_steps ** -1.5)

    The paper's factor is `width ** -0.5`, its warm-up 4,000. The greatest rate, at the end of the warm-up, is
    `factor * warmup_steps ** -0.5`.

    Args:
        factor: greater than 0.
        warmup_steps: updates in which the rate rises, at least 1.
    """

    def __init__(self, factor: float, *, warmup_steps: int) -> None:
        self.factor = factor
        self.warmup_steps = _at_least_one(warmup_steps, "noam")

    def __call__(self, step):
        update = _update(step)
        return self.factor * ops.minimum(update**-0.5, update * self.warmup_steps**-1.5)

    def get_config(self):
        return {"factor": self.factor, "warmup_steps": self.warmup_steps}


@keras.saving.register_keras_serializable("zoo")
class InverseSquareRoot(LearningRateSchedule):
    """`Noam` by its greatest rate, as fairseq has it (Ott et al. 2019)::

        rate(t) = peak * min(t / warmup_steps, sqrt(warmup_steps / t))

    Args:
        peak: the greatest rate, at the end of the warm-up.
        warmup_steps: updates in which the rate rises, at least 1.
    """

    def __init__(self, peak: float, *, warmup_steps: int) -> None:
        self.peak = peak
        self.warmup_steps = _at_least_one(warmup_steps, "inverse_sqrt")

    def __call__(self, step):
        update = _update(step)
        return self.peak * ops.minimum(update / self.warmup_steps, (self.warmup_steps / update) ** 0.5)

    def get_config(self):
        return {"peak": self.peak, "warmup_steps": self.warmup_steps}


@keras.saving.register_keras_serializable("zoo")
class Cosine(LearningRateSchedule):
    """Linear warm-up, then half a cosine down to zero (Loshchilov & Hutter 2017, equation 5)::

        rate(t) = peak * t / warmup_steps                                          t <= warmup_steps
        rate(t) = peak * (1 + cos(pi * (t - 1 - warmup_steps) / (steps - warmup_steps))) / 2    after

    Without warm-up it is `keras.optimizers.schedules.CosineDecay`.

    Args:
        peak: the greatest rate.
        steps: updates of the whole training; more than those of the warm-up.
        warmup_steps: updates in which the rate rises.
    """

    def __init__(self, peak: float, *, steps: int, warmup_steps: int = 0) -> None:
        if steps <= warmup_steps:
            raise ValueError(
                f"The cosine falls after the warm-up: {warmup_steps} warmup_steps leave nothing of a "
                f"training of {steps} updates. Lower warmup_steps or train longer."
            )
        self.peak = peak
        self.steps = steps
        self.warmup_steps = warmup_steps

    def __call__(self, step):
        done = ops.cast(step, "float32")
        share = ops.clip((done - self.warmup_steps) / (self.steps - self.warmup_steps), 0.0, 1.0)
        falling = self.peak * (1.0 + ops.cos(math.pi * share)) / 2
        rising = self.peak * (done + 1.0) / max(1, self.warmup_steps)
        return ops.where(done < self.warmup_steps, rising, falling)

    def get_config(self):
        return {"peak": self.peak, "steps": self.steps, "warmup_steps": self.warmup_steps}


@keras.saving.register_keras_serializable("zoo")
class Constant(LearningRateSchedule):
    """Linear warm-up, then the same rate: `rate(t) = peak * min(1, t / warmup_steps)`.

    Args:
        peak: the greatest rate.
        warmup_steps: updates in which the rate rises.
    """

    def __init__(self, peak: float, *, warmup_steps: int = 0) -> None:
        self.peak = peak
        self.warmup_steps = warmup_steps

    def __call__(self, step):
        return self.peak * ops.minimum(1.0, _update(step) / max(1, self.warmup_steps))

    def get_config(self):
        return {"peak": self.peak, "warmup_steps": self.warmup_steps}


@keras.saving.register_keras_serializable("zoo")
class PerUpdate(LearningRateSchedule):
    """A schedule in updates, where several batches make one: Keras counts batches.

    Args:
        of_updates: the schedule.
        batches: how many make an update.
    """

    def __init__(self, of_updates: LearningRateSchedule, *, batches: int) -> None:
        self.of_updates = of_updates
        self.batches = batches

    def __call__(self, step):
        return self.of_updates(step // self.batches)

    def get_config(self):
        of_updates = keras.saving.serialize_keras_object(self.of_updates)
        return {"of_updates": of_updates, "batches": self.batches}

    @classmethod
    def from_config(cls, config):
        return cls(keras.saving.deserialize_keras_object(config["of_updates"]), batches=config["batches"])


SCHEDULES: Mapping[str, Callable[[float, int, int], LearningRateSchedule]] = {
    "noam": lambda rate, warmup, steps: Noam(rate, warmup_steps=warmup),
    "inverse_sqrt": lambda rate, warmup, steps: InverseSquareRoot(rate, warmup_steps=warmup),
    "cosine": lambda rate, warmup, steps: Cosine(rate, steps=steps, warmup_steps=warmup),
    "constant": lambda rate, warmup, steps: Constant(rate, warmup_steps=warmup),
}
"""Schedules by name, from a learning rate, the updates of the warm-up and those of the whole training."""


def learning_rate(
    name: str, rate: float, *, warmup_steps: int, steps: int, accumulation: int = 1
) -> LearningRateSchedule | float:
    """What an optimizer of Keras takes as its learning rate.

    Args:
        name: a key of `SCHEDULES`.
        rate: the factor of `noam`, the greatest rate of the others.
        warmup_steps: updates of the warm-up.
        steps: updates of the whole training.
        accumulation: batches that make an update.

    Returns:
        A schedule; a number where it never changes by itself, which `Plateau` can then lower.

    Raises:
        ValueError: there is no schedule of that name, or it cannot have that warm-up.
    """
    if name not in SCHEDULES:
        raise ValueError(f"There is no schedule {name!r}. There are: {', '.join(SCHEDULES)}.")
    if name == "constant" and warmup_steps == 0:
        return rate
    of_updates = SCHEDULES[name](rate, warmup_steps, steps)
    return of_updates if accumulation == 1 else PerUpdate(of_updates, batches=accumulation)


def _update(step):
    """The number of the update, from 1, of the number of those that are done."""
    return ops.cast(step, "float32") + 1.0


def _at_least_one(warmup_steps: int, name: str) -> int:
    if warmup_steps < 1:
        raise ValueError(f"{name} needs a warm-up: warmup_steps of 1 or more, got {warmup_steps}.")
    return warmup_steps
