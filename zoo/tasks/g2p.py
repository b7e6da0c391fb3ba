"""Words as they are written, to words as they are said."""

from zoo.data.corpora import sigmorphon2020_g2p as corpus
from zoo.metrics import phoneme_error_rate, string_error_rate
from zoo.tasks.task import Task
from zoo.tokenizers import Characters, Words

__all__ = ["g2p"]

EXAMPLES = 8


def g2p(language: str) -> Task:
    """The phonemes of a word, in one of ten languages: SIGMORPHON 2020, task 1.

    `word_error_rate` is the shared task's: the share of words with any mistake.

    Args:
        language: one of `zoo.data.corpora.sigmorphon2020_g2p.LANGUAGES`.

    Raises:
        ValueError: there is no such language.
        OSError: the corpus could not be had; the message says what to do.
    """
    data = corpus.load(language)
    return Task(
        name=f"g2p_{language}",
        description=f"Words to the phonemes of the IPA, {corpus.LANGUAGES[language]}.",
        languages=(corpus.LANGUAGES[language],),
        licence=corpus.LICENCE,
        splits=data._asdict(),
        source=Characters.learn(data.train.sources),
        target=Words.learn(data.train.targets),
        metrics={"word_error_rate": string_error_rate, "phoneme_error_rate": phoneme_error_rate},
        examples=tuple(data.validation.sources[:EXAMPLES]),
        notes=("word_error_rate is the share of words with any mistake, as in the shared task.",),
    )
