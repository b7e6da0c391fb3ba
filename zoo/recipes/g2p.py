"""Words to phonemes in ten languages: one recipe for all."""

from functools import partial

from zoo.decoders import Beam
from zoo.models import RecurrentSeq2Seq
from zoo.recipes.recipe import Recipe
from zoo.tasks.g2p import g2p as g2p_task
from zoo.tasks.task import Task
from zoo.training.settings import TrainingSettings, Watch

__all__ = ["g2p"]


def g2p(language: str) -> Recipe:
    """RNNsearch on letters, minutes a language; no setting depends on the language.

    Args:
        language: one of `zoo.data.corpora.sigmorphon2020_g2p.LANGUAGES`.
    """
    return Recipe(
        name=f"g2p_{language}",
        description=f"Words to phonemes, {language} of SIGMORPHON 2020.",
        task=partial(g2p_task, language),
        model=_model,
        training=TrainingSettings(
            epochs=60,
            batch_size=64,
            learning_rate=2e-3,
            label_smoothing=0.1,
            seed=1,
            watch=Watch("word_error_rate", mode="min", patience=20),
        ),
        beam=Beam(width=5),
        max_source_length=40,
        max_length=40,
    )


def _model(task: Task) -> RecurrentSeq2Seq:
    return RecurrentSeq2Seq(
        task.source.vocab_size,
        task.target.vocab_size,
        embedding_dim=96,
        encoder_units=128,
        decoder_units=256,
        dropout=0.4,
    )
