"""Dates as people write them in many languages, each with its ISO form.

The texts are generated from the Unicode CLDR, through Babel: for every locale of `LOCALES` the four standard
lengths (short, medium, long, full) and those of `SKELETONS` that the locale itself defines. Formats of one
locale with the same pattern count once. The days run from `FIRST_DAY` to `LAST_DAY`, so a year of two digits
names one year. CLDR's case stays as it is; every kind of blank (no-break, narrow no-break) becomes the plain
one that people type.

A format one of whose texts means another day, in any other format or in itself, is removed before anything is
split. This is decided on the texts: every day of the span is written in every format. In what is left, a text
has one meaning.

Four splits, disjoint in their texts:

- `train`: training formats, training days.
- `validation`: training formats, days that occur nowhere else.
- `held_out_dates`: training formats, days that occur nowhere else.
- `held_out_formats`: formats that occur nowhere else, training days, so that only the format is new.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

import numpy as np
from babel import Locale
from babel.dates import format_date, parse_pattern

from zoo.data.pairs import Pairs

__all__ = [
    "FIRST_DAY",
    "LAST_DAY",
    "LOCALES",
    "SKELETONS",
    "Dates",
    "Format",
    "every_format",
    "load",
    "write",
]

LOCALES = (
    "cs",
    "de",
    "el",
    "en",
    "en_GB",
    "es",
    "fi",
    "fr",
    "it",
    "ja",
    "ko",
    "nl",
    "pl",
    "pt",
    "ru",
    "sv",
    "tr",
    "zh",
)
"""CLDR locales; `en` is American English."""

LENGTHS = ("short", "medium", "long", "full")
"""CLDR's standard lengths."""

SKELETONS = (
    *("yMd", "yMMdd", "yyMMMd", "yMMMd", "yMMMMd"),
    *("yMEd", "yMMMEd", "yMMMMEd", "yMEEEEd", "yMMMEEEEd", "yMMMMEEEEd"),
)
"""CLDR skeletons of year, month and day, without and with the day of the week."""

FIRST_DAY = date(1990, 1, 1)
LAST_DAY = date(2029, 12, 31)

VALIDATION_SIZE = 1_000
"""Pairs of `validation`."""

VALIDATION_SHARE = 0.02
HELD_OUT_SHARE = 0.10
"""Shares of the days that occur in `validation` and in `held_out_dates` alone."""

HELD_OUT_FORMATS = 12
"""Formats that occur in `held_out_formats` alone."""

_PLACE = re.compile(r"%\((\w+)\)s")
_BLANK = re.compile(r"\s")

_VALUES: dict[str, Callable[[date], int]] = {
    "d": lambda day: day.day,
    "M": lambda day: day.month,
    "L": lambda day: day.month,
    "y": lambda day: day.year,
    "E": lambda day: day.weekday(),
    "c": lambda day: day.weekday(),
}
"""What a field shows of a day, by the letter that CLDR gives it."""


class Format(NamedTuple):
    """One way of writing a date.

    Attributes:
        locale: of CLDR, such as `en_GB`.
        name: a standard length or a skeleton.
        pattern: what the name stands for in the locale, in CLDR's own letters.
    """

    locale: str
    name: str
    pattern: str


@dataclass(frozen=True)
class Dates:
    """The corpus, split.

    Attributes:
        train: pairs of a text and its ISO date.
        validation: training formats on days of their own.
        held_out_dates: training formats on days of their own.
        held_out_formats: held-out combinations on training days.
        training_formats: formats that `train`, `validation` and `held_out_dates` are written in.
        held_out_combinations: formats that `held_out_formats` is written in.
        removed: formats left out because one of their texts means two days.
        held_out_days: days that `held_out_dates` is drawn from, in the order of drawing.
    """

    train: Pairs
    validation: Pairs
    held_out_dates: Pairs
    held_out_formats: Pairs
    training_formats: tuple[Format, ...]
    held_out_combinations: tuple[Format, ...]
    removed: tuple[Format, ...]
    held_out_days: tuple[date, ...]


def load(*, seed: int = 0, train_size: int = 120_000, test_size: int = 2_000) -> Dates:
    """Generate the corpus. All that is drawn follows from the seed.

    Nothing but `train` depends on `train_size`, and a smaller `train` is the beginning of a larger one.

    Args:
        seed: of every choice.
        train_size: number of training pairs.
        test_size: number of pairs in `held_out_dates` and in `held_out_formats`.

    Raises:
        ValueError: fewer than one pair is asked for, or more than there are different texts.
    """
    for size in (train_size, test_size):
        if size < 1:
            raise ValueError(f"a split needs at least one pair, got a size of {size}; choose a positive size")
    random = np.random.default_rng(seed)
    days = _span()
    forms = every_format()
    hashes = _hashes(forms, days)
    kept, removed = _apart(forms, _ambiguous(forms, days, hashes))
    unshared = _unshared(kept, hashes[[forms.index(form) for form in kept]])
    training, held_out = _apart(kept, _held_out(kept, unshared, random))
    held_out_days, validation_days, training_days = _split(days, random)
    return Dates(
        validation=_draw(training, validation_days, VALIDATION_SIZE, random),
        held_out_dates=_draw(training, held_out_days, test_size, random),
        held_out_formats=_draw(held_out, training_days, test_size, random),
        train=_draw(training, training_days, train_size, random),
        training_formats=training,
        held_out_combinations=held_out,
        removed=removed,
        held_out_days=tuple(held_out_days),
    )


def every_format() -> tuple[Format, ...]:
    """All formats of all locales, ambiguous ones included; one for each pattern of a locale."""
    return tuple(form for locale in LOCALES for form in _formats_of(Locale.parse(locale)))


def write(form: Format, days: Sequence[date]) -> list[str]:
    """Days written in a format: what Babel writes but for the blanks, and much faster.

    A pattern is a row of fields (`d`, `MMMM`, ...). Babel writes each field once for each of its values: the
    days of the month, the months, the years or the days of the week. The rest is putting them together.
    """
    columns = [_column(form.locale, field, days) for field in _fields(form)]
    template = _BLANK.sub(" ", _PLACE.sub("%s", _template(form)))
    return list(map(template.__mod__, zip(*columns, strict=True)))


def _formats_of(locale: Locale) -> list[Format]:
    """Formats of one locale: for each pattern the first of its names, lengths before skeletons."""
    offered = locale.datetime_skeletons
    named = [(length, locale.date_formats[length].pattern) for length in LENGTHS]
    named += [(name, offered[name].pattern) for name in SKELETONS if name in offered]
    first = {pattern: name for name, pattern in reversed(named)}
    return [Format(str(locale), name, pattern) for name, pattern in named if first[pattern] == name]


def _template(form: Format) -> str:
    """A format in Babel's form: `"%(d)s. %(MMMM)s %(y)s"`, literal percent signs doubled."""
    return str(parse_pattern(form.pattern).format)


def _fields(form: Format) -> list[str]:
    """Fields of a format in their order, such as `["EEEE", "d", "MMMM", "y"]`."""
    return _PLACE.findall(_template(form))


def _column(locale: str, field: str, days: Sequence[date]) -> list[str]:
    """One field of every day."""
    values = [_VALUES[field[0]](day) for day in days]
    written = {
        value: format_date(day, field, locale) for value, day in dict(zip(values, days, strict=True)).items()
    }
    texts = {value: _BLANK.sub(" ", text) for value, text in written.items()}
    return [texts[value] for value in values]


def _span() -> list[date]:
    """Every day from the first to the last."""
    return [FIRST_DAY + timedelta(number) for number in range((LAST_DAY - FIRST_DAY).days + 1)]


def _apart(forms: Iterable[Format], chosen: set[Format]) -> tuple[tuple[Format, ...], tuple[Format, ...]]:
    """Formats that are not chosen, and those that are, each in the order given."""
    forms = tuple(forms)
    return tuple(form for form in forms if form not in chosen), tuple(
        form for form in forms if form in chosen
    )


def _hashes(forms: Iterable[Format], days: Sequence[date]) -> np.ndarray:
    """Hash of the text of every format (axis 0) on every day (axis 1): equal texts have equal hashes."""
    return np.stack([np.fromiter(map(hash, write(form, days)), np.int64, len(days)) for form in forms])


def _met(hashes: np.ndarray, axis: int) -> np.ndarray:
    """True where a hash stands that occurs at two places along the axis; the shape stays."""
    order = np.argsort(hashes, axis=None)
    ordered = hashes.ravel()[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
    places = np.unravel_index(order, hashes.shape)[axis]
    differ = np.minimum.reduceat(places, starts) != np.maximum.reduceat(places, starts)
    met = np.empty(hashes.size, dtype=bool)
    met[order] = np.repeat(differ, np.diff(starts, append=hashes.size))
    return met.reshape(hashes.shape)


def _ambiguous(forms: Sequence[Format], days: Sequence[date], hashes: np.ndarray) -> set[Format]:
    """Formats one of whose texts means two days, in one format or across two.

    Hashes say which texts to look at; the texts themselves decide.
    """
    suspects = [np.flatnonzero(row).tolist() for row in _met(hashes, axis=1)]
    written = [write(form, [days[day] for day in row]) for form, row in zip(forms, suspects, strict=True)]
    meanings: dict[str, int] = {}
    ambiguous = {
        text
        for texts, row in zip(written, suspects, strict=True)
        for text, day in zip(texts, row, strict=True)
        if meanings.setdefault(text, day) != day
    }
    return {form for form, texts in zip(forms, written, strict=True) if not ambiguous.isdisjoint(texts)}


def _unshared(forms: Sequence[Format], hashes: np.ndarray) -> set[Format]:
    """Formats none of whose texts can be written in another format."""
    shared = _met(hashes, axis=0)
    return {form for form, row in zip(forms, shared, strict=True) if not row.any()}


def _held_out(forms: Sequence[Format], unshared: set[Format], random: np.random.Generator) -> set[Format]:
    """Formats to hold out, drawn so that what is new about them is how their parts are put together.

    No other format writes any of their texts, there is at most one of a locale, and each of their fields
    (`dd`, `MMM`, `EEEE`, ...) occurs in another format of that locale, which stays in training.
    """
    chosen: dict[str, Format] = {}
    for form in (forms[place] for place in random.permutation(len(forms))):
        others = (other for other in forms if other.locale == form.locale and other != form)
        known = {field for other in others for field in _fields(other)}
        if form in unshared and form.locale not in chosen and known.issuperset(_fields(form)):
            chosen[form.locale] = form
    return set(list(chosen.values())[:HELD_OUT_FORMATS])


def _split(days: Sequence[date], random: np.random.Generator) -> tuple[Sequence[date], ...]:
    """Days held out, days of validation and days of training, in the order in which they are drawn."""
    drawn = [days[place] for place in random.permutation(len(days))]
    held_out = round(len(days) * HELD_OUT_SHARE)
    validation = held_out + round(len(days) * VALIDATION_SHARE)
    return drawn[:held_out], drawn[held_out:validation], drawn[validation:]


def _draw(forms: Sequence[Format], days: Sequence[date], size: int, random: np.random.Generator) -> Pairs:
    """Pairs with different texts, drawn evenly from all combinations of a format and a day."""
    drawn = random.permutation(len(forms) * len(days))
    answers: dict[str, str] = {}
    start = 0
    while len(answers) < size and start < len(drawn):
        answers.update(_pairs(forms, days, drawn[start : start + size]))
        start += size
    if len(answers) < size:
        raise ValueError(
            f"a split has {len(answers)} different texts, got a size of {size}; choose a smaller one"
        )
    texts = tuple(answers)[:size]
    return Pairs(texts, tuple(answers[text] for text in texts))


def _pairs(forms: Sequence[Format], days: Sequence[date], drawn: np.ndarray) -> list[tuple[str, str]]:
    """Texts and ISO dates of combinations, given as `number of format * len(days) + number of day`."""
    which_form, which_day = np.divmod(drawn, len(days))
    texts = np.empty(len(drawn), dtype=object)
    for number in np.unique(which_form):
        rows = np.flatnonzero(which_form == number)
        texts[rows] = write(forms[number], [days[day] for day in which_day[rows]])
    return list(zip(texts, (days[day].isoformat() for day in which_day), strict=True))
