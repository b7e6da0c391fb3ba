"""Words as they are written, to words as they are said."""

from collections.abc import Mapping

from zoo.data.corpora import cmudict as dictionary
from zoo.data.corpora import sigmorphon2020_g2p as corpus
from zoo.data.pairs import Pairs
from zoo.metrics import phoneme_error_rate, string_error_rate
from zoo.tasks.nearest import AgainstNearest, any_of
from zoo.tasks.task import Metric, Task
from zoo.tokenizers import Characters, Words

__all__ = ["cmudict", "g2p"]

EXAMPLES = 8

METRICS: Mapping[str, Metric] = {
    "word_error_rate": string_error_rate,
    "phoneme_error_rate": phoneme_error_rate,
}


def g2p(language: str) -> Task:
    """The phonemes of a word, in one of ten languages: SIGMORPHON 2020, task 1.

    `word_error_rate` is the shared task's: the share of words with any mistake.

    Args:
        language: one of `zoo.data.corpora.sigmorphon2020_g2p.LANGUAGES`.

    Raises:
        ValueError: there is no such language.
        OSError: the corpus could not be had; the message says what to do.
    """
    tag = corpus.LANGUAGES.get(language, language)
    return _task(
        f"g2p_{language}",
        f"Words to the phonemes of the IPA, {tag}.",
        tag,
        corpus.LICENCE,
        corpus.load(language)._asdict(),
        METRICS,
        "word_error_rate is the share of words with any mistake, as in the shared task.",
        f"SIGMORPHON 2020, task 1, {tag}",
    )


def cmudict(*, seed: int = 0) -> Task:
    """The phonemes of an English word; of those that the CMU dictionary lists for a word, any is right.

    Training shows a word once for each of its pronunciations, validation with the first that is listed. A
    test reference holds all; see `zoo.tasks.nearest`.

    Args:
        seed: of the words that are held out.

    Raises:
        FileNotFoundError: the dictionary is not there; the message says what to install.
    """
    data = dictionary.load(seed=seed)
    return _task(
        "cmudict",
        "English words to the phonemes of ARPAbet.",
        "en",
        dictionary.LICENCE,
        {
            "train": Pairs(*map(list, zip(*_each(data.train), strict=True))),
            "validation": Pairs(list(data.validation), [listed[0] for listed in data.validation.values()]),
            "test": Pairs(list(data.test), [any_of(listed) for listed in data.test.values()]),
        },
        {name: AgainstNearest(metric) for name, metric in METRICS.items()},
        "word_error_rate is the share of words that are said like none of their pronunciations, "
        "phoneme_error_rate the edits to the nearest of them per phoneme of it. In validation, only the "
        "first counts. Words are of the letters a to z; phonemes have no marks of stress.",
        "the CMU Pronouncing Dictionary",
    )


def _each(listed: dictionary.Listed) -> list[tuple[str, str]]:
    return [(word, phonemes) for word, pronunciations in listed.items() for phonemes in pronunciations]


def _task(
    name: str,
    description: str,
    language: str,
    licence: str,
    splits: Mapping[str, Pairs],
    metrics: Mapping[str, Metric],
    note: str,
    named: str,
) -> Task:
    return Task(
        name=name,
        description=description,
        languages=(language,),
        licence=licence,
        splits=splits,
        source=Characters.learn(splits["train"].sources),
        target=Words.learn(splits["train"].targets),
        metrics=metrics,
        examples=tuple(splits["validation"].sources[:EXAMPLES]),
        notes=(note,),
        data=named,
    )
