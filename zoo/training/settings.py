"""How to train."""

from dataclasses import asdict, dataclass
from typing import Any

from zoo.training.sampling import ScheduledSampling
from zoo.training.schedules import SCHEDULES

__all__ = ["TrainingSettings", "Watch"]

PRECISIONS = ("float32", "mixed_bfloat16", "mixed_float16")

LATER = {"sampling": None, "beta_2": 0.999}
"""Settings that earlier trainings did not have, each with the value at which nothing changed for them."""


@dataclass(frozen=True)
class Watch:
    """A metric of the task that is watched while a model trains: validation texts are decoded each epoch.

    Attributes:
        metric: its name among the task's metrics.
        mode: `max` or `min`: whether it is to grow or to fall.
        patience: epochs without a better one before the training ends.
        texts: how many of the validation texts are decoded, from the first on.

    Raises:
        ValueError: a setting is out of its range.
    """

    metric: str
    mode: str = "max"
    patience: int = 5
    texts: int = 500

    def __post_init__(self) -> None:
        if self.mode not in ("max", "min"):
            raise ValueError(f"A metric is to grow (max) or to fall (min), got mode={self.mode!r}.")
        if self.patience < 1 or self.texts < 1:
            raise ValueError(
                f"patience and texts are whole numbers of 1 or more, got {self.patience} and {self.texts}."
            )


@dataclass(frozen=True)
class TrainingSettings:
    """How to train; sizes of the data and the model live elsewhere.

    Attributes:
        epochs: passes over the training data.
        batch_size: pairs in a batch; this or `batch_tokens`.
        batch_tokens: most tokens in a batch, padding counted; this or `batch_size`.
        learning_rate: of Adam; what it means the schedule says: its greatest value, or a factor.
        schedule: how it goes on from there: a name in `zoo.training.schedules.SCHEDULES`.
        warmup_steps: updates until the learning rate is at its greatest.
        label_smoothing: share of a label's probability that is spread over the vocabulary, see
            `zoo.training.losses.TokenCrossEntropy`.
        beta_2: of Adam, how much of the second moment stays at each update (Kingma & Ba 2015); Transformers
            are trained with 0.98 (Vaswani et al. 2017, section 5.3).
        clip_norm: gradients with a greater global norm are scaled down to it (Pascanu et al. 2013);
            None: they are taken as they are.
        seed: of initial weights, dropout and order.
        average_last: the trained weights are the mean of those at the end of so many last epochs (Vaswani et
            al. 2017, section 6.1); 1 takes the last ones as they are.
        accumulation: batches whose gradients make one update, that of one batch as large as all of them.
        precision: name of Keras' dtype policy: float32, mixed_bfloat16 or mixed_float16.
        watch: what ends the training early and chooses the best epoch, if anything. With `average_last`, the
            weights are the mean of the last epochs all the same.
        sampling: lets the model read some tokens of its own; None: teacher forcing, it reads what is right.

    Raises:
        ValueError: a setting is out of its range, or the batch is measured in none or both of its two ways.
    """

    epochs: int = 1
    batch_size: int | None = None
    batch_tokens: int | None = None
    learning_rate: float = 1e-3
    schedule: str = "cosine"
    warmup_steps: int = 0
    label_smoothing: float = 0.0
    beta_2: float = 0.999
    clip_norm: float | None = 1.0
    seed: int = 0
    average_last: int = 1
    accumulation: int = 1
    precision: str = "float32"
    watch: Watch | None = None
    sampling: ScheduledSampling | None = None

    def facts(self) -> dict[str, Any]:
        """All settings in JSON's terms, as a checkpoint and a record hold them.

        One of `LATER` with its value there is left out, so that a training that began before there was such a
        setting is the same training now, and can be gone on with.
        """
        return {
            name: value for name, value in asdict(self).items() if name not in LATER or value != LATER[name]
        }

    def __post_init__(self) -> None:
        if (self.batch_size is None) == (self.batch_tokens is None):
            raise ValueError(
                "A batch is measured in pairs or in tokens: give batch_size or batch_tokens, one of them. "
                f"Got batch_size={self.batch_size}, batch_tokens={self.batch_tokens}."
            )
        self._require_counts()
        self._require_names()
        if not self.learning_rate > 0:
            raise ValueError(f"learning_rate is above 0, got {self.learning_rate}.")
        if not 0 <= self.beta_2 < 1:
            raise ValueError(f"beta_2 is a share from 0 to below 1, got {self.beta_2}.")
        if self.clip_norm is not None and not 0 < self.clip_norm < float("inf"):
            raise ValueError(f"clip_norm is above 0 and finite, or None, got {self.clip_norm}.")
        if not 0 <= self.label_smoothing < 1:
            raise ValueError(f"label_smoothing is a share from 0 to below 1, got {self.label_smoothing}.")
        if self.average_last > self.epochs:
            raise ValueError(
                f"The last {self.average_last} of {self.epochs} epochs cannot be averaged: there are not so "
                "many. Lower average_last or raise epochs."
            )

    def _require_counts(self) -> None:
        for name in ("epochs", "batch_size", "batch_tokens", "average_last", "accumulation"):
            count = getattr(self, name)
            if count is not None and (count != int(count) or count < 1):
                raise ValueError(f"{name} is a whole number of 1 or more, got {count}.")
        if self.warmup_steps != int(self.warmup_steps) or self.warmup_steps < 0:
            raise ValueError(f"warmup_steps is a whole number of 0 or more, got {self.warmup_steps}.")

    def _require_names(self) -> None:
        if self.schedule not in SCHEDULES:
            raise ValueError(f"There is no schedule {self.schedule!r}. There are: {', '.join(SCHEDULES)}.")
        if self.precision not in PRECISIONS:
            raise ValueError(f"There is no precision {self.precision!r}. There are: {', '.join(PRECISIONS)}.")
