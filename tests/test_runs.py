"""A recipe from training to export, at the size of a test."""

import dataclasses
import json

import numpy as np
import pytest
import tensorflow as tf

from zoo import recipes, runs
from zoo.data.pairs import Pairs
from zoo.decoders import Beam, Greedy
from zoo.metrics import exact_match
from zoo.models import RecurrentSeq2Seq
from zoo.recipes import Recipe
from zoo.tasks.task import Task
from zoo.tokenizers import Characters
from zoo.training.fit import TrainingSettings

WORDS = [a + b + c for a in "abc" for b in "abc" for c in "abc"]
CAPITALS = Pairs(WORDS, [word.upper() for word in WORDS])


def shouting() -> Task:
    return Task(
        name="shouting",
        description="Small letters to capitals.",
        languages=("en",),
        licence="CC0-1.0",
        splits={"train": CAPITALS, "validation": CAPITALS, "words": CAPITALS, "one": Pairs(["abc"], ["ABC"])},
        source=Characters("abc"),
        target=Characters("ABC"),
        metrics={"exact_match": exact_match},
        examples=("cab", "abba"),
        baselines={"upper": lambda sources: [source.upper() for source in sources]},
        notes=("Only three letters.",),
        data="all words of three letters",
    )


RECIPE = Recipe(
    name="shouting",
    description="Small letters to capitals.",
    task=shouting,
    model=lambda task: RecurrentSeq2Seq(
        task.source.vocab_size,
        task.target.vocab_size,
        embedding_dim=8,
        encoder_units=8,
        decoder_units=16,
    ),
    training=TrainingSettings(epochs=2, batch_size=9, learning_rate=1e-2, seed=1),
    beam=Beam(width=2),
    max_source_length=8,
    max_length=5,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs") / "shouting"


@pytest.fixture(scope="module")
def run(folder):
    return runs.train(RECIPE, shouting(), folder)


def test_training_is_recorded(run, folder):
    assert run.record["pairs"] == 27
    assert run.record["settings"]["batch_size"] == 9
    assert len(run.record["history"]["loss"]) == 2
    assert run.record["history"]["loss"][1] < run.record["history"]["loss"][0]
    assert json.loads((folder / "run.json").read_text()) == run.record
    assert [path.name for path in folder.parent.iterdir()] == ["shouting"], "nothing is left beside it"


def test_what_was_trained_can_be_loaded(run, folder):
    loaded = runs.load(RECIPE, folder)
    before = run.predictor.answer(["cab", ""], Beam(3))
    after = loaded.predictor.answer(["cab", ""], Beam(3))
    assert before.text.numpy().tolist() == after.text.numpy().tolist()
    np.testing.assert_allclose(before.score, after.score, atol=1e-6)
    assert loaded.record == run.record


def test_a_new_training_replaces_the_old(run, folder):
    marker = folder / "marker"
    marker.touch()
    runs.train(RECIPE, shouting(), folder)
    assert not marker.exists()
    assert (folder / "model.keras").is_file()


def test_what_is_no_run_is_not_replaced(tmp_path):
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(FileExistsError, match="is not replaced"):
        runs.train(RECIPE, shouting(), tmp_path)
    assert (tmp_path / "thesis.txt").exists()


def test_tests_that_may_have_been_trained_on_are_refused(run):
    other = dataclasses.replace(shouting(), splits={**shouting().splits, "words": Pairs(["a"], ["A"])})
    with pytest.raises(ValueError, match="Train again: zoo train shouting"):
        runs.evaluate(run, other)


def test_nothing_trained_says_what_to_do(tmp_path):
    with pytest.raises(FileNotFoundError, match="Train it first: zoo train shouting"):
        runs.load(RECIPE, tmp_path / "nothing")


def test_evaluation_judges_every_test_split_and_system(run):
    evaluation = runs.evaluate(run, shouting())
    assert evaluation.sizes == {"words": 27, "one": 1}
    assert evaluation.figures["words"]["upper"] == {"exact_match": 1.0}
    answers = run.predictor.answer(WORDS, Greedy()).text[:, 0].numpy()
    right = np.mean([answer.decode() == word.upper() for answer, word in zip(answers, WORDS, strict=True)])
    assert evaluation.figures["words"]["greedy"]["exact_match"] == pytest.approx(right)
    assert evaluation.flat()["one.upper.exact_match"] == 1.0
    assert set(evaluation.figures["one"]) == {"greedy", "beam", "upper"}


def test_alignment_has_a_row_for_each_token(run):
    (source, target, weights), (empty_source, empty_target, _) = runs.align(run, ["cab", ""])
    assert source == ["c", "a", "b", "</s>"]
    assert weights.shape == (len(target), len(source))
    rows = [token != "" for token in target]
    np.testing.assert_allclose(weights.sum(axis=1), rows, atol=1e-5)
    assert [token for token in empty_source + empty_target if token] == ["</s>", "</s>"]


def test_an_export_carries_the_card_and_the_search_of_the_recipe(run, tmp_path):
    path = runs.export(run, shouting(), tmp_path, figures={"words.beam.exact_match": 0.5})
    assert path == tmp_path / "shouting" / "1"
    card = json.loads((path / "assets.extra" / "zoo.json").read_text())["card"]
    assert card["metrics"] == {"words.beam.exact_match": 0.5}
    assert card["notes"] == ["Only three letters."]
    assert card["data"] == "all words of three letters"
    model = tf.saved_model.load(str(path))
    answers = model.signatures["beam"](text=tf.constant(["cab"]))
    assert answers["text"].shape == (1, 2)
    assert answers["text"].numpy().tolist() == run.predictor.answer(["cab"], Beam(2)).text.numpy().tolist()


def test_recipes_are_found_by_name():
    assert recipes.find("dates").name == "dates"
    with pytest.raises(ValueError, match=r"There is no recipe .nope.\. There are: cmudict, dates"):
        recipes.find("nope")
