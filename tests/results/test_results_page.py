"""The page of results is what the records say, and nothing else."""

import copy
from pathlib import Path

import pytest

from zoo.results import page, read_alignments, read_records
from zoo.results.alignments import FILE
from zoo.results.page import pictures
from zoo.results.published import PUBLISHED, published

DOCS = Path(__file__).parents[2] / "docs"

RECORD = {
    "recipe": "multi30k_bahdanau",
    "description": "Captions.",
    "status": "finished",
    "command": "zoo train multi30k_bahdanau",
    "epochs": 2,
    "hours": 1.25,
    "machine": {"processor": "A processor", "cores": 2, "accelerators": []},
    "versions": {"keras": "3"},
    "parameters": 1234567,
    "seed": 1,
    "settings": {"epochs": 2, "batch_tokens": 4096, "batch_size": None, "watch": {"metric": "bleu_moses"}},
    "pairs": {"train": 29000},
    "history": {"loss": [2.0, 1.0], "val_loss": [2.5, 1.5]},
    "task": "multi30k_en_de",
    "licence": "none",
    "notes": ["A note."],
    "beam": {"width": 5},
    "max_length": 64,
    "signatures": {"bleu_moses": "nrefs:1|case:lc"},
    "figures": {
        "test_2016_flickr": {"greedy": {"bleu_moses": 35.5}, "beam": {"bleu_moses": 36.512}},
        "test_2017_flickr": {"greedy": {"bleu_moses": 27.5}, "beam": {"bleu_moses": 28.5}},
    },
    "by_length": {
        "test_2016_flickr": {"buckets": [[1, 10, 700], [11, 30, 300]], "scores": {"bleu_moses": [38.0, 35.0]}}
    },
    "samples": [{"source": "a | b", "target": "c", "answer": "d"}],
}


def another(recipe, **changes):
    return {**copy.deepcopy(RECORD), "recipe": recipe, **changes}


def lines_of(text, beginning):
    return [line for line in text.splitlines() if line.startswith(beginning)]


def test_the_page_in_the_repository_is_made_of_its_records():
    """If this fails: `zoo results`."""
    records, alignments = read_records(DOCS / "results"), read_alignments(DOCS / "results")
    assert (DOCS / "results.md").read_text(encoding="utf-8") == page(records, alignments)
    files = {file.name for file in (DOCS / "results").iterdir()} - {FILE}
    assert files == {f"{record['recipe']}.json" for record in records} | set(pictures(records))


def test_a_figure_stands_beside_the_published_one_and_its_source():
    (row,) = lines_of(page([RECORD]), "| [multi30k_bahdanau]")
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    (other,) = published("multi30k_bahdanau", "test_2016_flickr", "bleu_moses")
    assert cells[1:5] == ["test_2016_flickr", "bleu_moses", "**36.51**", "38.00"]
    assert cells[6] == other.source
    assert "1707.04481" in other.source


def test_every_figure_and_fact_is_there():
    text = page([RECORD])
    for part in (
        "35.50", "36.51", "27.50", "28.50", "1.25 hours", "A processor, 2 cores, no accelerator", "1,234,567",
        "train 29,000", "4,096 tokens a batch", "watch (metric bleu_moses)", "`nrefs:1|case:lc`", "width 5",
        "`zoo train multi30k_bahdanau`", "A note.", "| 1–10 | 700 | 38.00 |", "| a \\| b | c | d |",
        "results/multi30k_bahdanau.svg", "finished, 2 of 2 epochs",
    ):  # fmt: skip
        assert part in text


def test_two_systems_of_a_task_are_compared_by_length():
    other = another("multi30k_sutskever")
    other["by_length"]["test_2016_flickr"]["scores"]["bleu_moses"] = [37.0, 21.0]
    text = page([RECORD, other])
    assert "## multi30k_en_de by length of the source" in text
    assert "| 11–30 | 300 | 35.00 | 21.00 |" in text
    drawn = pictures([RECORD, other])
    assert set(drawn) == {"multi30k_bahdanau.svg", "multi30k_sutskever.svg", "multi30k_en_de_by_length.svg"}
    assert "by length of the source\n" not in page([RECORD])


def test_other_buckets_are_not_compared():
    other = another("multi30k_sutskever")
    other["by_length"]["test_2016_flickr"]["buckets"] = [[1, 9, 600], [10, 30, 400]]
    assert "multi30k_en_de_by_length.svg" not in pictures([RECORD, other])


def test_languages_of_one_recipe_have_a_mean_beside_the_shared_tasks():
    def language(name, rate):
        figures = {"test": {"greedy": {"word_error_rate": 0.9}, "beam": {"word_error_rate": rate}}}
        by_length = {"test": {"buckets": [[1, 9, 450]], "scores": {"word_error_rate": [rate]}}}
        return another(f"g2p_{name}", task=f"g2p_{name}", figures=figures, by_length=by_length)

    ten = [language(f"{letter}xx", rate) for letter, rate in zip("abcdefghij", [0.1, 0.3] * 5, strict=True)]
    assert not lines_of(page(ten[1:]), "| g2p, mean"), "the mean of nine says nothing of ten"
    rows = lines_of(page(ten), "| g2p, mean of 10 languages")
    assert len(rows) == 3
    assert all("| **0.2000** |" in row for row in rows)
    assert ["0.1880" in row for row in rows] == [True, False, False]


def test_what_has_not_ended_shows_no_figure():
    unfinished = another("multi30k_transformer", status="unfinished", epochs=1, parameters=None)
    for name in ("figures", "by_length", "samples", "notes", "signatures", "beam"):
        del unfinished[name]
    text = page([unfinished])
    assert "**not finished**: no figures yet, 1 of 2 epochs" in text
    assert "41.02" not in text
    assert "not counted" in text


def test_one_epoch_makes_no_curve():
    assert pictures([another("dates", epochs=1)]) == {}
    assert "results/dates.svg" not in page([another("dates", epochs=1)])


def test_no_records_say_so():
    assert page([]).endswith("There is no record of a training yet.\n")
    assert pictures([]) == {}


@pytest.mark.parametrize("figure", PUBLISHED, ids=lambda figure: f"{figure.recipe}-{figure.value}")
def test_published_figures_have_a_source(figure):
    assert "20" in figure.source
    assert figure.system
    assert (0 < figure.value < 1) == figure.metric.endswith("_rate")
