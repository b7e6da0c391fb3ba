import dataclasses

import keras
import numpy as np
import pytest
from tiny_training import SETTINGS, train

from zoo.metrics import Bleu
from zoo.training.stopping import Decoded, EarlyStopping, Plateau

LONG = dataclasses.replace(SETTINGS, epochs=9, average_last=1)


class Answers:
    """Answers that are right in some epochs, which it counts by itself."""

    def __init__(self, right: str):
        self.right = iter(right)
        self.asked = []

    def __call__(self, sources):
        self.asked.append(list(sources))
        return ["right" if next(self.right) == "r" else "wrong" for _ in sources]


def share_right(answers, targets):
    return np.mean([answer == target for answer, target in zip(answers, targets, strict=True)])


def decoded(right):
    return Decoded(Answers(right), ["one", "two"], ["right", "right"], {"share": share_right})


class Epochs(keras.callbacks.Callback):
    """The weights at the end of each epoch."""

    def __init__(self):
        super().__init__()
        self.weights = []

    def on_epoch_end(self, epoch, logs=None):
        self.weights.append(self.model.get_weights())


def test_answers_are_judged_in_every_epoch():
    asking = decoded("wwwrrr")
    _, fitted = train(callbacks=[asking])
    assert fitted.history["val_share"] == [0.0, 0.5, 1.0]
    assert asking.answer.asked == [["one", "two"]] * 3


def test_training_ends_when_answers_get_no_better_and_keeps_the_best():
    epochs = Epochs()
    stopping = EarlyStopping("val_share", mode="max", patience=2)
    model, fitted = train(LONG, callbacks=[decoded("wwrrwrwwrr"), stopping, epochs])
    assert fitted.history["val_share"] == [0.0, 1.0, 0.5, 0.0]
    for found, best in zip(model.get_weights(), epochs.weights[1], strict=True):
        np.testing.assert_array_equal(found, best)


def test_a_training_that_ended_early_is_not_gone_on_with(tmp_path):
    stopping = EarlyStopping("val_share", mode="max", patience=2)
    model, fitted = train(LONG, folder=tmp_path, callbacks=[decoded("wwrrwrwwrr"), stopping])
    again = EarlyStopping("val_share", mode="max", patience=2)
    other, same = train(LONG, folder=tmp_path, callbacks=[decoded(""), again])
    assert same.history == fitted.history
    assert (again.best, again.best_epoch, again.wait) == (1.0, 1, 2)
    for found, expected in zip(other.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_the_learning_rate_falls_where_a_figure_stands_still():
    settings = dataclasses.replace(LONG, epochs=4, schedule="constant", learning_rate=0.5)
    model, _ = train(settings, callbacks=[decoded("wwrrwwww"), Plateau("val_share", mode="max", patience=1)])
    # The second epoch is the best; the third and the fourth each halve it.
    assert float(model.optimizer.learning_rate) == pytest.approx(0.125)


def test_it_says_how_its_figures_come_about():
    asking = Decoded(list, ["a"], ["a"], {"bleu": Bleu("13a", lower_case=True), "share": share_right})
    (name, signature), *others = asking.signatures.items()
    assert not others
    assert name == "bleu"
    assert signature.startswith("nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:")


def test_there_is_one_target_for_each_source():
    with pytest.raises(ValueError, match="got 2 sources and 1 targets"):
        Decoded(list, ["a", "b"], ["a"], {})
    with pytest.raises(ValueError, match="got 0 sources and 0 targets"):
        Decoded(list, [], [], {})
