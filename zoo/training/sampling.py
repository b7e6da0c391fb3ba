"""Scheduled sampling: a model that is taught with some tokens of its own in the place of the right ones."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import keras
import tensorflow as tf
from keras import ops

from zoo.tokenizers.specials import PAD, START

__all__ = ["GROWTHS", "PICKS", "READINGS", "SampledModel", "ScheduledSampling", "sampled"]

Mixing = Callable[[Any, keras.Model, Any, Any, Callable], Any]


@dataclass(frozen=True)
class ScheduledSampling:
    """How many tokens of its own a model reads while it learns (Bengio et al. 2015).

    Under teacher forcing a model only ever sees right tokens before the one that it is to say; when it
    decodes, it sees its own. Here each token of the past but START is replaced by the model's own prediction
    of it with a probability that grows with the count t of updates::

        constant          rate
        linear            rate * min(1, t / steps)
        exponential       rate * (1 - k ** t),  k = exp(-1 / steps)
        inverse_sigmoid   rate * (1 - k / (k + exp(t / k))),  k = steps

    The labels stay what they are, and no gradient goes through the choice.

    Attributes:
        rate: the greatest probability; 0 is teacher forcing.
        growth: a name above.
        steps: its constant, in updates; `constant` does not look at it.
        reading: where predictions come from. `two_passes`: from one pass over the right tokens, as Mihaylova
            and Martins (2019) do for Transformers; it takes a call of the model, and works for all.
            `one_by_one`: from the tokens that were read so far, its own ones among them, as Bengio et al. do;
            it takes `encode`, `init_state` and `step`, and a step for each token.
        longest: most tokens of a target that is read `one_by_one`: the caches of a Transformer have so many
            places.
        pick: `best`, the likeliest token, or `drawn` from the distribution. PAD and START are no predictions.

    Raises:
        ValueError: a setting is out of its range.
    """

    rate: float
    growth: str = "linear"
    steps: int = 1000
    reading: str = "two_passes"
    longest: int = 128
    pick: str = "best"

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise ValueError(f"rate is a probability from 0 to 1, got {self.rate}.")
        for name in ("steps", "longest"):
            count = getattr(self, name)
            if count != int(count) or count < 1:
                raise ValueError(f"{name} is a whole number of 1 or more, got {count}.")
        tables: dict[str, Collection[str]] = {"growth": GROWTHS, "reading": READINGS, "pick": PICKS}
        for name, table in tables.items():
            if getattr(self, name) not in table:
                raise ValueError(f"{name} must be one of {', '.join(table)}, got {getattr(self, name)!r}.")

    def probability(self, update: Any) -> Any:
        """Of the model's own token at an update, () float32; updates count from 0."""
        return self.rate * GROWTHS[self.growth](ops.cast(update, "float32"), float(self.steps))


def sampled(model: keras.Model, how: ScheduledSampling, *, seed: int) -> "SampledModel":
    """The model as one that `fit` trains with scheduled sampling; both have the same variables.

    Args:
        model: see `ScheduledSampling.reading` for what it has to offer.
        how: see `ScheduledSampling`.
        seed: of what is drawn.

    Raises:
        ValueError: it is to train among several workers.
    """
    strategy = model.distribute_strategy
    if isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
        raise ValueError(
            "Scheduled sampling works in one process, on one device or several. Among workers, train with "
            "teacher forcing: leave `sampling` out of the settings."
        )
    with strategy.scope():
        return SampledModel(model, how, seed=seed)


class SampledModel(keras.Model):
    """A model whose step of training replaces some of its `target_ids`; in all else it is the model within.

    What is drawn has a seed generator of its own, which checkpoints keep: a rate of 0 trains bit for bit as
    the model without this one, and a training that is gone on with draws on.

    Args:
        model: what trains.
        how: see `ScheduledSampling`.
        seed: of what is drawn.
    """

    def __init__(self, model: keras.Model, how: ScheduledSampling, *, seed: int) -> None:
        super().__init__(dtype=model.dtype_policy)  # by which `compile` knows whether to scale the loss
        self.model = model
        self.how = how
        self.draws = keras.random.SeedGenerator(seed)

    def call(self, inputs, training=False):
        return self.model(inputs, training=training)

    def train_step(self, data):
        inputs, labels, weights = data
        mixed = {**inputs, "target_ids": self.mixed(inputs, self.optimizer.iterations)}
        return super().train_step((mixed, labels, weights))

    def mixed(self, inputs, update):
        """The `target_ids` (B, T) that an update reads, in part predictions of the model."""
        target_ids = inputs["target_ids"]
        chance, place = ops.unstack(keras.random.uniform((2, *ops.shape(target_ids)), seed=self.draws))
        replaced = (chance < self.how.probability(update)) & (target_ids != PAD)
        replaced &= ops.arange(ops.shape(target_ids)[1]) > 0
        # Keras' recurrent cells draw masks of dropout outside of training too, and then do not use them.
        seeds = [state for state in self.model.variables if not _is_among(state, self.model.weights)]
        before = [tf.identity(state.value) for state in seeds]
        read = READINGS[self.how.reading](
            self.how, self.model, inputs, replaced, _picker(self.how.pick, place)
        )
        for state, value in zip(seeds, before, strict=True):
            state.assign(value)
        return read


def _is_among(variable: keras.Variable, others: Sequence[keras.Variable]) -> bool:
    return any(variable is other for other in others)


def _picker(name: str, place):
    """A function from logits (B, T, V), or (B, 1, V) of one time step, to ids (B, T) or (B, 1)."""

    def pick(logits, time=slice(None)):
        ids = ops.arange(logits.shape[-1])
        never = (ids == PAD) | (ids == START)
        allowed = ops.where(never, -float("inf"), ops.cast(logits, "float32"))
        return ops.cast(PICKS[name](allowed, place[:, time]), "int32")

    return pick


def _drawn(logits, place):
    """The id at a place from 0 to 1 of the distribution, where all ids lie side by side."""
    below = ops.cumsum(ops.softmax(logits), axis=-1) <= place[..., None]
    last_possible = ops.shape(logits)[-1] - 1 - ops.argmax(ops.flip(logits, -1) > -float("inf"), axis=-1)
    return ops.minimum(ops.sum(ops.cast(below, "int32"), axis=-1), ops.cast(last_possible, "int32"))


def _two_passes(how, model, inputs, replaced, pick):
    target_ids = inputs["target_ids"]
    own = pick(model(inputs, training=False))
    before = ops.concatenate([target_ids[:, :1], ops.cast(own, target_ids.dtype)[:, :-1]], axis=1)
    return ops.where(replaced, before, target_ids)


def _one_by_one(how, model, inputs, replaced, pick):
    right = inputs["target_ids"]
    length = tf.shape(right)[1]
    memory = model.encode(inputs["source"])
    read = tf.TensorArray(right.dtype, length, element_shape=right.shape[:1])

    def step(time, own, state, read):
        now = tf.where(replaced[:, time], own, right[:, time])
        logits, state = model.step(now[:, None], time, state, memory)
        own = tf.cast(pick(logits, slice(time, time + 1))[:, 0], right.dtype)
        return time + 1, own, state, read.write(time, now)

    fits = tf.debugging.assert_less_equal(
        length, how.longest, f"A target has more tokens than ScheduledSampling(longest={how.longest})."
    )
    with tf.control_dependencies([fits] if fits is not None else []):
        state = model.init_state(memory, 1, how.longest)
    begin = (tf.constant(0), right[:, 0], state, read)
    *_, read = tf.while_loop(lambda time, *_: time < length, step, begin)
    return tf.ensure_shape(tf.transpose(read.stack()), right.shape)


GROWTHS: dict[str, Callable[[Any, float], Any]] = {
    "constant": lambda update, steps: ops.ones_like(update),
    "linear": lambda update, steps: ops.minimum(1.0, update / steps),
    "exponential": lambda update, steps: 1.0 - ops.exp(-update / steps),
    "inverse_sigmoid": lambda update, steps: 1.0 - 1.0 / (1.0 + ops.exp(update / steps) / steps),
}
"""From the count of updates and a constant to a share of the rate."""

READINGS: dict[str, Mixing] = {"two_passes": _two_passes, "one_by_one": _one_by_one}

PICKS: dict[str, Callable[[Any, Any], Any]] = {
    "best": lambda logits, place: ops.argmax(logits, axis=-1),
    "drawn": _drawn,
}
