"""What a recipe is: everything that makes one trained thing."""

from collections.abc import Callable
from dataclasses import dataclass

import keras

from zoo.decoders import Beam
from zoo.tasks.task import Task
from zoo.training.settings import TrainingSettings

__all__ = ["Recipe"]


@dataclass(frozen=True)
class Recipe:
    """A task, a model and their sizes.

    Attributes:
        name: of the recipe, and of the model that is served.
        description: one sentence, shown to people.
        task: makes the task: data, tokenizers, metrics.
        model: makes an untrained model for a task.
        training: how to train it.
        beam: the search behind an export's `beam` and `serving_default`.
        max_source_length: greatest number of source tokens, END counted.
        max_length: greatest number of target tokens, END counted.
    """

    name: str
    description: str
    task: Callable[[], Task]
    model: Callable[[Task], keras.Model]
    training: TrainingSettings
    beam: Beam
    max_source_length: int
    max_length: int
