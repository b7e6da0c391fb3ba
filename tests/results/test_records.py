"""Records of a run that was trained here, in seconds."""

import dataclasses
import json
import shutil

import keras
import pytest

from zoo import recipes, runs
from zoo.data.pairs import Pairs
from zoo.decoders import Beam
from zoo.metrics import ChrF, exact_match
from zoo.models import RecurrentSeq2Seq
from zoo.recipes import Recipe
from zoo.results import page, read_records, record, write_page, write_record
from zoo.results.published import PUBLISHED
from zoo.tasks.task import Task
from zoo.tokenizers import Characters
from zoo.training.settings import TrainingSettings, Watch

LETTERS = [a * n for a in "abc" for n in range(1, 12)] * 3
PAIRS = Pairs(LETTERS, [text.upper() for text in LETTERS])


def shouting() -> Task:
    return Task(
        name="shouting",
        description="Small letters to capitals.",
        languages=("en",),
        licence="CC0-1.0",
        splits={"train": PAIRS, "validation": PAIRS, "words": PAIRS},
        source=Characters("abc"),
        target=Characters("ABC"),
        metrics={"exact_match": exact_match, "chrf": ChrF()},
        examples=("cab",),
        notes=("Only three letters | one bar.",),
    )


RECIPE = Recipe(
    name="shouting",
    description="Small letters to capitals.",
    task=shouting,
    model=lambda task: RecurrentSeq2Seq(
        task.source.vocab_size, task.target.vocab_size, embedding_dim=8, encoder_units=8, decoder_units=16
    ),
    training=TrainingSettings(epochs=2, batch_size=9, learning_rate=1e-2, seed=1, watch=Watch("exact_match")),
    beam=Beam(width=2),
    max_source_length=16,
    max_length=16,
)


class Stop(keras.callbacks.Callback):
    """Interrupts the second epoch."""

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 1:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs") / "shouting"


@pytest.fixture(scope="module")
def unfinished(folder):
    with pytest.raises(KeyboardInterrupt):
        runs.train(RECIPE, shouting(), folder, callbacks=[Stop()])
    return record(RECIPE, folder)


@pytest.fixture(scope="module")
def found(unfinished, folder):
    runs.train(RECIPE, shouting(), folder)
    return record(RECIPE, folder)


def test_a_training_that_has_not_ended_is_marked_and_has_its_curve(unfinished):
    assert unfinished["status"] == "unfinished"
    assert unfinished["epochs"] == len(unfinished["history"]["loss"]) == 1
    assert "figures" not in unfinished
    assert "**not finished**" in page([unfinished])
    assert "1 of 2 epochs" in page([unfinished])


def test_a_record_says_how_it_was_made(found):
    assert found["status"] == "finished"
    assert found["command"] == "zoo train shouting"
    assert found["seed"] == 1
    assert found["settings"]["batch_size"] == 9
    assert found["model"]["decoder_units"] == 16
    assert "decoder_units 16" in page([found])
    assert set(found["versions"]) == {"tensorflow", "keras", "python"}
    assert found["machine"]["cores"] >= 1
    assert found["machine"]["processor"]
    assert found["parameters"] > 1000
    assert found["hours"] > 0
    assert found["pairs"] == {"train": 99, "validation": 99, "words": 99}
    assert found["epochs"] == len(found["history"]["val_exact_match"]) == 2
    assert found["beam"]["width"] == 2
    assert found["signatures"] == {"chrf": ChrF().signature}


def test_its_figures_are_those_of_the_evaluation(found, folder):
    evaluation = runs.evaluate(runs.load(RECIPE, folder), shouting())
    for system in ("greedy", "beam"):
        for metric, value in evaluation.figures["words"][system].items():
            assert found["figures"]["words"][system][metric] == pytest.approx(value, rel=1e-5)
    assert [sample["answer"] for sample in found["samples"]] == evaluation.answers["words"]["beam"][:4]


def test_scores_by_length_make_up_the_whole(found):
    """Exact match is a mean over pairs, so the buckets' means weigh up to it; END is no source token here."""
    by_length = found["by_length"]["words"]
    pairs = [bucket[2] for bucket in by_length["buckets"]]
    assert sum(pairs) == 99
    assert by_length["buckets"][0][0] == 1
    assert by_length["buckets"][-1][1] == 11
    right = sum(n * score for n, score in zip(pairs, by_length["scores"]["exact_match"], strict=True))
    assert right / 99 == pytest.approx(found["figures"]["words"]["beam"]["exact_match"], abs=1e-4)


def test_fewer_epochs_than_the_recipe_are_a_short_run(found, folder):
    longer = dataclasses.replace(RECIPE, training=dataclasses.replace(RECIPE.training, epochs=50))
    short = record(longer, folder)
    assert short["status"] == "short"
    assert "**short run**" in page([short])
    assert "(short run)" in page([short])


def test_of_a_run_from_before_machines_were_told_the_machine_is_not_guessed(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "run")
    old = json.loads((folder / "run.json").read_text())
    del old["machine"]
    (tmp_path / "run" / "run.json").write_text(json.dumps(old))
    without = record(RECIPE, tmp_path / "run")
    assert without["machine"] is None
    assert "| machine | not recorded |" in page([without])


def test_nothing_trained_says_what_to_do(tmp_path):
    with pytest.raises(FileNotFoundError, match="Train it first: zoo train shouting"):
        record(RECIPE, tmp_path / "nothing")


def test_what_is_written_is_read_and_makes_the_page(found, folder, tmp_path):
    file = write_record(RECIPE, folder, tmp_path / "results")
    assert file == tmp_path / "results" / "shouting.json"
    assert file.stat().st_size < 20_000
    (again,) = read_records(tmp_path / "results")
    assert again == found
    made = write_page(tmp_path / "results")
    assert made == tmp_path / "results.md"
    assert made.read_text() == page([found])
    first = (tmp_path / "results" / "shouting.svg").read_bytes()
    write_page(tmp_path / "results")
    assert (tmp_path / "results" / "shouting.svg").read_bytes() == first, (
        "pictures do not change by themselves"
    )


def test_recipes_of_published_figures_exist_or_are_a_family():
    known = {*recipes.RECIPES, "g2p", "cmudict", "alignments"}
    assert {figure.recipe for figure in PUBLISHED} <= known
