"""A recipe whose training is interrupted, watched, or kept in other numbers."""

import dataclasses
import json

import keras
import numpy as np
import pytest
from test_runs import RECIPE, shouting

from zoo import runs
from zoo.decoders import Greedy
from zoo.models import RecurrentSeq2Seq
from zoo.training.settings import TrainingSettings, Watch


class Interrupt(keras.callbacks.Callback):
    """Behind the first batch of the second epoch."""

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if self.epoch == 1:
            raise KeyboardInterrupt


def recipe(**settings):
    return dataclasses.replace(RECIPE, training=dataclasses.replace(RECIPE.training, **settings))


@pytest.fixture
def interrupted(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        runs.train(RECIPE, shouting(), tmp_path / "shouting", callbacks=[Interrupt()])
    return tmp_path / "shouting"


def test_the_same_call_goes_on(interrupted, tmp_path, capsys):
    assert [path.name for path in interrupted.parent.iterdir()] == ["shouting.training"]
    capsys.readouterr()
    resumed = runs.train(RECIPE, shouting(), interrupted)
    shown = capsys.readouterr().out
    assert "epoch 2/2" in shown
    assert "epoch 1/2" not in shown
    undisturbed = runs.train(RECIPE, shouting(), tmp_path / "undisturbed" / "shouting")
    for name, values in undisturbed.record["history"].items():
        assert resumed.record["history"][name] == pytest.approx(values, abs=1e-5), name
    assert json.loads((interrupted / "run.json").read_text()) == resumed.record
    assert sorted(path.name for path in interrupted.parent.iterdir()) == ["shouting", "undisturbed"]


def test_a_run_that_cannot_be_saved_leaves_nothing_of_it_and_keeps_the_training(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(keras.Model, "save", full)
        with pytest.raises(OSError, match="No space"):
            runs.train(RECIPE, shouting(), tmp_path / "shouting")
    assert [path.name for path in tmp_path.iterdir()] == ["shouting.training"]
    never = keras.callbacks.LambdaCallback(on_epoch_begin=pytest.fail)
    run = runs.train(RECIPE, shouting(), tmp_path / "shouting", callbacks=[never])
    assert len(run.record["history"]["loss"]) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["shouting"]


def test_a_changed_recipe_does_not_go_on(interrupted):
    with pytest.raises(ValueError, match=r"settings\.learning_rate: 0\.01, now 0\.02\).*--fresh"):
        runs.train(recipe(learning_rate=0.02), shouting(), interrupted)
    runs.forget(interrupted)
    runs.forget(interrupted)
    assert len(runs.train(recipe(learning_rate=0.02), shouting(), interrupted).record["history"]["loss"]) == 2


def test_neither_do_a_changed_model_and_other_bounds(interrupted):
    def wetter(task):
        return RecurrentSeq2Seq(**RECIPE.facts(RECIPE.model(task))["model"] | {"dropout": 0.5})

    changed = dataclasses.replace(RECIPE, model=wetter, max_length=9)
    with pytest.raises(ValueError, match=r"\(max_length: 5, now 9; model\.dropout: 0\.0, now 0\.5\)"):
        runs.train(changed, shouting(), interrupted)


def test_a_metric_of_real_answers_is_watched(tmp_path):
    watch = Watch("exact_match", patience=1, texts=9)
    run = runs.train(recipe(epochs=3, watch=watch), shouting(), tmp_path / "shouting")
    figures = run.record["history"]["val_exact_match"]
    asked = shouting().splits["validation"].sources[:9]
    answers = [answer.decode() for answer in run.predictor.answer(asked, Greedy()).text[:, 0].numpy()]
    right = np.mean([answer == word.upper() for answer, word in zip(answers, asked, strict=True)])
    assert right == pytest.approx(max(figures))
    assert run.record["settings"]["watch"]["metric"] == "exact_match"


def test_what_is_not_measured_cannot_be_watched(tmp_path):
    with pytest.raises(ValueError, match=r"no metric 'bleu' to watch. There are: exact_match\."):
        runs.train(recipe(watch=Watch("bleu")), shouting(), tmp_path / "shouting")


def test_half_precision_is_kept_with_the_layers(tmp_path):
    before = keras.config.dtype_policy()
    run = runs.train(recipe(precision="mixed_bfloat16"), shouting(), tmp_path / "shouting")
    assert keras.config.dtype_policy() == before
    assert run.record["history"]["loss"][1] < run.record["history"]["loss"][0]
    model = runs.load(RECIPE, tmp_path / "shouting").predictor.model
    policies = {
        layer.dtype_policy.name for layer in model._flatten_layers(include_self=False) if layer.weights
    }
    assert policies == {"mixed_bfloat16"}
    assert {variable.dtype for variable in model.trainable_variables} == {"float32"}


def test_settings_of_a_recipe_are_those_of_its_record(tmp_path):
    run = runs.train(recipe(schedule="noam", warmup_steps=3, learning_rate=1.0), shouting(), tmp_path / "s")
    assert (
        TrainingSettings(**run.record["settings"])
        == recipe(schedule="noam", warmup_steps=3, learning_rate=1.0).training
    )
