"""Short sentences from English to Chinese: alignments that cross."""

from zoo.decoders import Beam
from zoo.models import RecurrentSeq2Seq
from zoo.recipes.recipe import Recipe
from zoo.recipes.sizes import RECURRENT
from zoo.tasks.task import Task
from zoo.tasks.tatoeba import tatoeba_en_zh as tatoeba_task
from zoo.training.settings import TrainingSettings, Watch

__all__ = ["tatoeba_en_zh"]


def tatoeba_en_zh() -> Recipe:
    """RNNsearch from pieces of English words to Chinese characters."""
    return Recipe(
        name="tatoeba_en_zh",
        description="Short sentences from English to Chinese characters: LSTMs with additive attention.",
        task=tatoeba_task,
        model=_model,
        training=TrainingSettings(
            epochs=20,
            batch_tokens=4096,
            learning_rate=2e-3,
            label_smoothing=0.1,
            seed=1,
            watch=Watch("chrf"),
        ),
        beam=Beam(width=5, length_penalty=1.0, norm="power"),
        max_source_length=48,
        max_length=64,
    )


def _model(task: Task) -> RecurrentSeq2Seq:
    return RecurrentSeq2Seq(
        task.source.vocab_size,
        task.target.vocab_size,
        **RECURRENT["small"],
        dropout=0.4,
    )
