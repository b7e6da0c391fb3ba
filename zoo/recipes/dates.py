"""Human-written dates to ISO dates: minutes on a laptop, and every part of the zoo at work."""

from zoo.decoders import Beam
from zoo.models import RecurrentSeq2Seq
from zoo.recipes.recipe import Recipe
from zoo.tasks.dates import dates as dates_task
from zoo.tasks.task import Task
from zoo.training.settings import TrainingSettings

__all__ = ["dates"]


def dates() -> Recipe:
    """RNNsearch on characters, trained in two to three minutes on two cores.

    One pass over many texts, rather than more passes over fewer: it answers formats that it never saw better.
    """
    return Recipe(
        name="dates",
        description="Dates as people write them in many languages, to ISO dates.",
        task=lambda: dates_task(train_size=260_000),
        model=_model,
        training=TrainingSettings(epochs=1, batch_size=64, learning_rate=3e-3),
        beam=Beam(width=4),
        max_source_length=64,
        max_length=12,
    )


def _model(task: Task) -> RecurrentSeq2Seq:
    return RecurrentSeq2Seq(
        task.source.vocab_size,
        task.target.vocab_size,
        embedding_dim=32,
        encoder_units=64,
        decoder_units=64,
        dropout=0.1,
    )
