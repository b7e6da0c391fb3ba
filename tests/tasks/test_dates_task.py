"""The dates task: its examples, its tokenizers, its baseline and what it says about itself."""

import re
from datetime import date

import numpy as np
import pytest

from zoo.data.corpora.dates import every_format
from zoo.tasks.dates import dates
from zoo.tokenizers.specials import UNKNOWN


@pytest.fixture(scope="module")
def task():
    return dates(train_size=20_000)


def test_splits(task):
    assert list(task.splits) == ["train", "validation", "held_out_dates", "held_out_formats"]
    assert len(task.splits["train"].sources) == 20_000
    assert task.name == "dates"
    assert {"de", "en", "en-GB", "ru", "zh"} <= set(task.languages)


def test_examples_are_varied_and_new(task):
    assert 6 <= len(set(task.examples)) == len(task.examples) <= 8
    assert not set(task.examples) & set(task.splits["train"].sources)
    answers = set(task.baselines["dateparser"](task.examples))
    assert answers.isdisjoint(task.splits["train"].targets)
    letters = "".join(task.examples)
    assert any("а" <= letter <= "я" for letter in letters) or any(
        "가" <= letter <= "힣" for letter in letters
    )
    assert any("a" <= letter <= "z" for letter in letters)


@pytest.mark.parametrize("split", ["train", "validation", "held_out_dates", "held_out_formats"])
def test_no_character_is_unknown(task, split):
    sources, targets = task.splits[split]
    for tokenizer, texts in ((task.source, sources), (task.target, targets)):
        assert not np.any(tokenizer.encode(list(texts)).flat_values.numpy() == UNKNOWN)


def test_targets_are_written_with_digits_and_hyphens(task):
    assert task.target.vocab_size == 4 + len("0123456789-")


def test_baseline_reads_dates_and_answers_nothing_to_nonsense(task):
    texts = ["15. Februar 2019", "15 февраля 2019 г.", "2019年2月15日", "Feb 15, 2019", "qwrtz", ""]
    assert task.baselines["dateparser"](texts) == ["2019-02-15"] * 4 + ["", ""]


def test_baseline_is_a_fair_one(task):
    sources, targets = (part[:150] for part in task.splits["validation"])
    answers = task.baselines["dateparser"](sources)
    assert task.metrics["exact_match"](answers, targets) > 0.9
    assert task.metrics["character_error_rate"](answers, targets) < 0.05
    assert all(answer == "" or date.fromisoformat(answer) for answer in answers)


def test_notes_tell_what_was_left_out(task):
    notes = "\n".join(task.notes)
    count, total, removed = re.search(r"Removed (\d+) of (\d+) formats, .*?: (.*)\.$", notes, re.M).groups()
    assert int(total) == len(every_format())
    assert int(count) == len(removed.split("; ")) > 5
    assert "CLDR" in notes
    assert "Babel" in notes
    assert "dateparser" in notes
    assert "en short (M/d/yy)" in removed
    assert "Held out 12 formats" in notes
