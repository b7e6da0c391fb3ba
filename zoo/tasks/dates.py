"""Dates as people write them, to ISO dates."""

from collections.abc import Sequence

import babel
import dateparser
from babel.core import get_cldr_version
from dateparser.date import DateDataParser

from zoo.data.corpora import dates as corpus
from zoo.metrics import character_error_rate, exact_match
from zoo.tasks.task import Task
from zoo.tokenizers.characters import Characters

__all__ = ["dates"]

EXAMPLE_LOCALES = ("de", "en", "es", "fr", "ja", "ko", "pl", "ru")


def dates(*, seed: int = 0, train_size: int = 120_000) -> Task:
    """`15. Februar 2019`, `Feb 15, 2019`, `2019年2月15日` to `2019-02-15`, in many languages.

    Tests: `held_out_dates` asks for days, `held_out_formats` for formats that training never shows.

    Args:
        seed: of every choice that the corpus makes.
        train_size: number of training pairs.

    Raises:
        ValueError: the corpus does not hold as many different texts.
    """
    data = corpus.load(seed=seed, train_size=train_size)
    return Task(
        name="dates",
        description="Dates as people write them in many languages, to ISO dates.",
        languages=tuple(locale.replace("_", "-") for locale in corpus.LOCALES),
        licence="generated from the Unicode CLDR, which is under the Unicode License v3",
        splits={
            "train": data.train,
            "validation": data.validation,
            "held_out_dates": data.held_out_dates,
            "held_out_formats": data.held_out_formats,
        },
        source=Characters.learn(data.train.sources),
        target=Characters.learn(data.train.targets),
        metrics={"exact_match": exact_match, "character_error_rate": character_error_rate},
        examples=_examples(data),
        baselines={"dateparser": _dateparser},
        notes=_notes(data),
        data=f"dates generated from the Unicode CLDR {get_cldr_version()}, {len(corpus.LOCALES)} locales",
    )


def _dateparser(sources: Sequence[str]) -> list[str]:
    """What the rules of the package dateparser find, as an ISO date; empty where they find nothing.

    They are told the languages, that only whole dates count, and that the day comes before the month where
    numbers allow both readings, as in most of the formats. Of the settings tried, none did better on
    `validation`.
    """
    languages = sorted({locale.split("_")[0] for locale in corpus.LOCALES})
    parser = DateDataParser(languages=languages, settings={"DATE_ORDER": "DMY", "STRICT_PARSING": True})
    found = (parser.get_date_data(source).date_obj for source in sources)
    return [moment.date().isoformat() if moment else "" for moment in found]


def _examples(data: corpus.Dates) -> tuple[str, ...]:
    """One date that training never shows in each of some languages, written in formats of all kinds."""
    examples = []
    for number, locale in enumerate(EXAMPLE_LOCALES):
        forms = [form for form in data.training_formats if form.locale == locale]
        day = data.held_out_days[number]
        examples += corpus.write(forms[number % len(forms)], [day])
    return tuple(examples)


def _notes(data: corpus.Dates) -> tuple[str, ...]:
    """Where the texts come from, what was left out, what was held out and what the baseline is."""
    removed, held_out = data.removed, data.held_out_combinations
    return (
        f"Texts are generated from CLDR {get_cldr_version()} through Babel {babel.__version__}: "
        f"{len(corpus.LOCALES)} locales, {corpus.FIRST_DAY} to {corpus.LAST_DAY}.",
        f"Removed {len(removed)} of {len(corpus.every_format())} formats, in which one text means two dates: "
        f"{_named(removed)}.",
        f"Held out {len(held_out)} formats: {_named(held_out)}.",
        f"The baseline is dateparser {dateparser.__version__}, told the languages and that days come first.",
    )


def _named(forms: Sequence[corpus.Format]) -> str:
    """Formats in words that tell them apart."""
    return "; ".join(f"{form.locale} {form.name} ({form.pattern})" for form in forms)
