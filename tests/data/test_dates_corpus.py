"""The dates corpus against Babel, against renderings known by hand and against its own promises."""

import itertools
import os
import random
import re
import subprocess
import sys
import unicodedata
from datetime import date, datetime, timedelta

import pytest
from babel.dates import format_date, format_skeleton

from zoo.data.corpora import dates

SPLITS = ("train", "validation", "held_out_dates", "held_out_formats")

BY_HAND = [
    ("de", "long", "15. Februar 2019"),
    ("de", "short", "15.02.19"),
    ("de", "full", "Freitag, 15. Februar 2019"),
    ("en", "medium", "Feb 15, 2019"),
    ("en_GB", "full", "Friday, 15 February 2019"),
    ("es", "long", "15 de febrero de 2019"),
    ("fr", "full", "vendredi 15 février 2019"),
    ("pl", "long", "15 lutego 2019"),
    ("pt", "full", "sexta-feira, 15 de fevereiro de 2019"),
    ("ru", "long", "15 февраля 2019 г."),
    ("zh", "medium", "2019年2月15日"),
    ("zh", "full", "2019年2月15日星期五"),
    ("ja", "full", "2019年2月15日金曜日"),
    ("ko", "full", "2019년 2월 15일 금요일"),
    ("sv", "short", "2019-02-15"),
    ("tr", "full", "15 Şubat 2019 Cuma"),
]


@pytest.fixture(scope="module")
def data():
    return dates.load()


@pytest.fixture(scope="module")
def every_day():
    span = (dates.LAST_DAY - dates.FIRST_DAY).days + 1
    return [dates.FIRST_DAY + timedelta(number) for number in range(span)]


@pytest.mark.parametrize(("locale", "name", "text"), BY_HAND)
def test_known_dates(locale, name, text):
    form = next(form for form in dates.every_format() if (form.locale, form.name) == (locale, name))
    assert dates.write(form, [date(2019, 2, 15)]) == [text]


def test_writes_what_babel_writes(every_day):
    draw = random.Random(7)
    for form in dates.every_format():
        days = draw.sample(every_day, 8)
        for day, text in zip(days, dates.write(form, days), strict=True):
            if form.name in ("short", "medium", "long", "full"):
                expected = format_date(day, form.name, form.locale)
            else:
                moment = datetime(day.year, day.month, day.day)
                expected = format_skeleton(form.name, moment, fuzzy=False, locale=form.locale)
            assert text == re.sub(r"\s", " ", expected)


def test_a_pattern_of_a_locale_counts_once():
    forms = dates.every_format()
    assert len({(form.locale, form.pattern) for form in forms}) == len(forms) > 100
    assert {form.locale for form in forms} == set(dates.LOCALES)
    assert len(dates.LOCALES) >= 10


def test_every_format_is_in_one_place(data):
    parts = (data.training_formats, data.held_out_combinations, data.removed)
    assert sorted(itertools.chain(*parts)) == sorted(dates.every_format())


def test_sizes_and_no_text_twice(data):
    assert [len(getattr(data, name).sources) for name in SPLITS] == [120_000, 1_000, 2_000, 2_000]
    for name in SPLITS:
        sources, targets = getattr(data, name)
        assert len(set(sources)) == len(sources) == len(targets)


def test_no_text_is_in_two_splits(data):
    for one, other in itertools.combinations(SPLITS, 2):
        assert set(getattr(data, one).sources).isdisjoint(getattr(data, other).sources)


def test_held_out_days_occur_nowhere_else(data):
    held_out = {day.isoformat() for day in data.held_out_days}
    assert set(data.held_out_dates.targets) <= held_out
    assert len(held_out) == 1461
    for name in ("train", "validation", "held_out_formats"):
        assert held_out.isdisjoint(getattr(data, name).targets)
    assert set(data.validation.targets).isdisjoint(data.train.targets)
    assert set(data.held_out_formats.targets) <= set(data.train.targets)


def test_one_meaning_and_no_training_format_writes_a_held_out_text(data, every_day):
    held_out = {text for form in data.held_out_combinations for text in dates.write(form, every_day)}
    meanings = {}
    for form in data.training_formats:
        texts = dates.write(form, every_day)
        assert held_out.isdisjoint(texts), form
        for text, day in zip(texts, every_day, strict=True):
            assert meanings.setdefault(text, day) == day, (form, text)
    for form in data.held_out_combinations:
        for text, day in zip(dates.write(form, every_day), every_day, strict=True):
            assert meanings.setdefault(text, day) == day, (form, text)
    assert held_out.issuperset(data.held_out_formats.sources)
    for name in SPLITS:
        sources, targets = getattr(data, name)
        days = map(date.fromisoformat, targets)
        assert all(meanings[text] == day for text, day in zip(sources, days, strict=True))


def test_every_removed_format_has_a_text_of_two_meanings(data, every_day):
    meanings = {}
    for form in data.removed:
        for text, day in zip(dates.write(form, every_day), every_day, strict=True):
            meanings.setdefault(text, set()).add(day)
    for form in data.removed:
        assert any(len(meanings[text]) > 1 for text in dates.write(form, every_day)), form


def test_american_and_spanish_short_dates_are_removed(data):
    short = {form.locale: form for form in data.removed if form.name == "short"}
    assert dates.write(short["en"], [date(2019, 2, 3)]) == ["2/3/19"]
    assert dates.write(short["es"], [date(2019, 3, 2)]) == ["2/3/19"]


def test_held_out_formats_are_made_of_known_parts(data):
    def fields(form):
        return {run.group() for run in re.finditer(r"([A-Za-z])\1*", re.sub(r"'[^']*'", "", form.pattern))}

    assert len(data.held_out_combinations) == dates.HELD_OUT_FORMATS
    assert len({form.locale for form in data.held_out_combinations}) == dates.HELD_OUT_FORMATS
    for form in data.held_out_combinations:
        training = [other for other in data.training_formats if other.locale == form.locale]
        assert fields(form) <= set().union(*map(fields, training)), form
    assert {form.locale for form in data.training_formats} == set(dates.LOCALES)
    with_weekday = [form for form in data.held_out_combinations if {"E", "EEEE"} & fields(form)]
    assert 3 <= len(with_weekday) <= 9


def test_texts_have_plain_blanks_and_are_composed(data):
    for name in SPLITS:
        for text in getattr(data, name).sources:
            assert text == text.strip()
            assert {character for character in text if character.isspace()} <= {" "}
            assert unicodedata.is_normalized("NFC", text)


def test_another_process_draws_the_same_and_a_smaller_train_is_the_beginning(data):
    program = (
        "from zoo.data.corpora import dates; data = dates.load(train_size=50); "
        "print(data.train, data.validation, data.held_out_dates, data.held_out_formats, "
        "data.held_out_combinations, data.held_out_days, sep='\\n')"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, encoding="utf-8", check=True
    )
    train = type(data.train)(data.train.sources[:50], data.train.targets[:50])
    same = (data.validation, data.held_out_dates, data.held_out_formats, data.held_out_combinations)
    assert done.stdout.splitlines() == [str(part) for part in (train, *same, data.held_out_days)]


def test_another_seed_draws_something_else(data):
    other = dates.load(seed=1, train_size=50, test_size=20)
    assert len(other.train.sources) == 50
    assert len(other.held_out_dates.sources) == len(other.held_out_formats.sources) == 20
    assert other.removed == data.removed
    assert set(other.held_out_combinations) != set(data.held_out_combinations)
    assert set(other.held_out_days) != set(data.held_out_days)


@pytest.mark.parametrize("sizes", [{"train_size": 0}, {"test_size": -1}])
def test_a_split_without_pairs_is_refused(sizes):
    with pytest.raises(ValueError, match="at least one pair"):
        dates.load(**sizes)


def test_more_pairs_than_texts_are_refused(data):
    with pytest.raises(ValueError, match="choose a smaller one"):
        dates.load(test_size=10**9)
