"""What a recipe is: everything that makes one trained thing."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import keras

from zoo.decoders import Beam
from zoo.tasks.task import Task
from zoo.training.settings import TrainingSettings

__all__ = ["OwnFiles", "Recipe"]


class OwnFiles(NamedTuple):
    """Where pairs of one's own are, what they are cut into, and how large the model is; see `own`."""

    files: Sequence[Path]
    level: str
    size: str = "tiny"


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
        files: those of pairs of one's own; None: the data are a public corpus.
    """

    name: str
    description: str
    task: Callable[[], Task]
    model: Callable[[Task], keras.Model]
    training: TrainingSettings
    beam: Beam
    max_source_length: int
    max_length: int
    files: OwnFiles | None = None

    @property
    def command(self) -> str:
        """What trains it on the command line."""
        words = ["zoo", "train", self.name]
        if self.files is not None:
            for file in self.files.files:
                words += ["--data", str(file)]
            words += ["--level", self.files.level, "--size", self.files.size]
        return shlex.join(words)

    def facts(self, model: keras.Model) -> dict[str, Any]:
        """What tells a training of it from any other on the same pairs, in JSON's terms.

        Args:
            model: that is trained; told by its numbers and names, not by those of models that it is made of.
        """
        sizes = {
            name: value
            for name, value in model.get_config().items()
            if isinstance(value, str | int | float) and name not in ("name", "trainable")
        }
        return {
            "recipe": self.name,
            "settings": self.training.facts(),
            "model": sizes,
            "max_source_length": self.max_source_length,
            "max_length": self.max_length,
        }
