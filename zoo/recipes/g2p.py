"""Words to phonemes: one recipe for ten languages with little data, and a larger one for English."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from zoo.decoders import Beam
from zoo.models import RecurrentSeq2Seq
from zoo.recipes.recipe import Recipe
from zoo.recipes.sizes import RECURRENT
from zoo.tasks.g2p import cmudict as cmudict_task
from zoo.tasks.g2p import g2p as g2p_task
from zoo.tasks.task import Task
from zoo.training.settings import TrainingSettings, Watch

__all__ = ["cmudict", "g2p"]


def g2p(language: str) -> Recipe:
    """RNNsearch on letters, minutes a language; no setting depends on the language.

    Args:
        language: one of `zoo.data.corpora.sigmorphon2020_g2p.LANGUAGES`.
    """
    return _recipe(
        f"g2p_{language}",
        f"Words to phonemes, {language} of SIGMORPHON 2020.",
        partial(g2p_task, language),
        partial(_model, size="tiny", dropout=0.4),
        TRAINING,
    )


def cmudict() -> Recipe:
    """RNNsearch on the letters of English words, an hour or two on two cores.

    On such words, Yao and Zweig (2015) report a word error rate of 28.6 % and a phoneme error rate of 7.6 %
    for LSTMs without attention, Toshniwal and Livescu (2016) 21.7 % and 5.0 % with attention.
    """
    return _recipe(
        "cmudict",
        "English words to phonemes, the CMU Pronouncing Dictionary.",
        cmudict_task,
        partial(_model, size="small", dropout=0.3),
        replace(TRAINING, epochs=20, batch_size=128, learning_rate=1e-3, schedule="cosine"),
    )


TRAINING = TrainingSettings(
    epochs=60,
    batch_size=64,
    learning_rate=2e-3,
    label_smoothing=0.1,
    seed=1,
    watch=Watch("word_error_rate", mode="min", patience=20),
)


def _recipe(
    name: str,
    description: str,
    task: Callable[[], Task],
    model: Callable[[Task], RecurrentSeq2Seq],
    training: TrainingSettings,
) -> Recipe:
    return Recipe(
        name=name,
        description=description,
        task=task,
        model=model,
        training=training,
        beam=Beam(width=5),
        max_source_length=40,
        max_length=40,
    )


def _model(task: Task, *, size: str, dropout: float) -> RecurrentSeq2Seq:
    return RecurrentSeq2Seq(
        task.source.vocab_size, task.target.vocab_size, **RECURRENT[size], dropout=dropout
    )
