"""The audit of masks where a model makes layers as it goes, or changes ids before they are read."""

import keras
import numpy as np
import pytest
from keras import layers, ops
from leaky_models import FLOATS, IDS, embedding, functional

from zoo.masking import check_masking

PADDING, CONTENT, ROWS = "padding ignored", "padding content ignored", "rows independent"
GRADIENTS = "gradients at padding zero"
ALL = (PADDING, CONTENT, GRADIENTS)
pytestmark = pytest.mark.filterwarnings("ignore:Layer .* does not support masking")


def leaks(report):
    return {name: leak.layer for name, leak in report.leaks.items()}


def everywhere(layer):
    return dict.fromkeys(ALL, layer)


def tokens_alone(x, ids):
    return x * ops.cast(ids != 0, x.dtype)[:, :, None]


class Neighbours(keras.Model):
    """The sum over each token and its neighbours, by `pad`, which is an object made in each call."""

    def __init__(self, masked):
        super().__init__(name="neighbours")
        self.masked = masked
        self.embedding = embedding()
        self.answer = layers.Dense(3, name="answer")

    def call(self, ids):
        x = self.embedding(ids)
        if self.masked:
            x = tokens_alone(x, ids)
        wide = ops.pad(ops.pad(x, ((0, 0), (1, 0), (0, 0))), ((0, 0), (0, 1), (0, 0)))
        x = wide[:, :-2] + wide[:, 1:-1] + wide[:, 2:]
        return self.answer(ops.sum(tokens_alone(x, ids), axis=1))


class Differences(keras.Model):
    """From each token to the next, by `diff`, which is made in each call too."""

    def __init__(self, masked):
        super().__init__(name="differences")
        self.masked = masked
        self.embedding = embedding()
        self.answer = layers.Dense(3, name="answer")

    def call(self, ids):
        x = ops.square(ops.diff(self.embedding(ids), axis=1))
        return self.answer(ops.sum(tokens_alone(x, ids[:, 1:]) if self.masked else x, axis=1))


class LayersOnTheFly(keras.Model):
    """Layers without weights that are made in each call, two of one kind."""

    def __init__(self, masked):
        super().__init__(name="fly")
        self.masked = masked
        self.embedding = embedding()
        self.mean = layers.GlobalAveragePooling1D(name="mean")

    def call(self, ids):
        x = layers.Activation("tanh")(layers.Activation("relu")(self.embedding(ids)))
        return self.mean(x if self.masked else x + 0.0)


class StepByStep(keras.Model):
    """A loop that makes a layer at each of its steps, and may go on where there is nothing."""

    def __init__(self, masked):
        super().__init__(name="steps")
        self.masked = masked
        self.embedding = embedding(mask=False)
        self.cell = layers.SimpleRNNCell(6, name="cell")

    def call(self, ids):
        x = self.embedding(ids)
        state = ops.zeros_like(x[:, 0])
        for t in range(ids.shape[1]):
            moved, _ = self.cell(x[:, t], [state])
            moved = layers.Activation("tanh")(moved)
            state = ops.where((ids[:, t] != 0)[:, None], moved, state) if self.masked else moved
        return state


MADE_IN_THE_CALL = {
    "pad": (Neighbours, "neighbours"),
    "diff": (Differences, "differences"),
    "layers": (LayersOnTheFly, "mean"),
    "layers in a loop": (StepByStep, "steps"),
}


@pytest.mark.parametrize("name", MADE_IN_THE_CALL)
def test_what_is_made_during_a_call_is_the_same_in_every_run(name):
    """Keras numbers it anew in each of them."""
    make, blamed = MADE_IN_THE_CALL[name]
    report = check_masking(make(True), IDS)
    assert report.ok, str(report)
    assert all(report[check].passed for check in (*ALL, ROWS)), str(report)
    found = leaks(check_masking(make(False), IDS))
    assert set(found) == set(ALL)
    assert {layer.split("/")[0] for layer in found.values()} <= {blamed, "cell", "activation"}


def test_an_operation_made_during_a_call_has_its_plain_name():
    class Shifted(keras.Model):
        def __init__(self):
            super().__init__(name="shifted")
            self.embedding = embedding()
            self.lstm = layers.LSTM(4, name="lstm")

        def call(self, ids):
            return self.lstm(ops.pad(self.embedding(ids), ((0, 0), (1, 0), (0, 0))))

    report = check_masking(Shifted(), IDS)
    assert leaks(report) == everywhere("lstm")
    assert "no mask: pad dropped the one that it was given" in report[CONTENT].leak.detail


class Renumbered(layers.Layer):
    """Other ids for tokens, and another one for padding."""

    def call(self, ids):
        return 11 - ids


class Marked(layers.Layer):
    """A token more, before all others."""

    def call(self, ids):
        return ops.pad(ids, ((0, 0), (1, 0)), constant_values=1)


class AsFloats(layers.Layer):
    """The ids as floats, as some models take them."""

    def call(self, ids):
        return ops.cast(ids, "float32")


def reader(masked, padding=0):
    """From ids to the mean of their embeddings; over tokens, if `masked`."""

    class Reader(keras.Model):
        def __init__(self):
            super().__init__(name="reader")
            self.embedding = layers.Embedding(12, 6, name="embedding")
            self.mean = layers.GlobalAveragePooling1D(name="mean")

        def call(self, ids):
            return self.mean(self.embedding(ids), mask=ops.not_equal(ids, padding) if masked else None)

    return Reader()


class Nested(keras.Model):
    """A model that changes ids in a layer, or in its own code, before another one reads them."""

    def __init__(self, before, inner):
        super().__init__(name="nested")
        self.before = before
        self.inner = inner
        self.answer = layers.Dense(3, name="answer")

    def call(self, ids):
        return self.answer(self.inner(self.before(ids)))


def sequence_of_models(masked):
    first = keras.Sequential([Renumbered()], name="first")
    return keras.Sequential([first, keras.Sequential([reader(masked, 11)], name="second")], name="both")


def functional_model(masked):
    ids = keras.Input((None,), dtype="int32")
    return keras.Model(ids, reader(masked, 11)(Renumbered()(ids)), name="functional")


CHANGED = {
    "other ids, in a layer": lambda masked: Nested(Renumbered(), reader(masked, 11)),
    "other ids, in its own code": lambda masked: Nested(lambda ids: 11 - ids, reader(masked, 11)),
    "one more": lambda masked: Nested(Marked(), reader(masked)),
    "floats": lambda masked: Nested(AsFloats(), reader(masked)),
    "a sequence of models": sequence_of_models,
    "a functional model": functional_model,
}


@pytest.mark.parametrize("name", CHANGED)
def test_ids_that_are_changed_before_they_are_read(name):
    report = check_masking(CHANGED[name](True), IDS)
    assert report.ok, str(report)
    assert all(report[check].passed for check in (*ALL, ROWS)), str(report)
    report = check_masking(CHANGED[name](False), IDS)
    assert set(leaks(report)) == set(ALL), str(report)
    assert {layer.rsplit("/", 1)[-1] for layer in leaks(report).values()} == {"mean"}


@pytest.mark.parametrize("masked", [True, False])
def test_floats_with_one_more_before_all_others(masked):
    class Summary(keras.Model):
        def __init__(self):
            super().__init__(name="summary")
            self.inner = layers.Dense(4, name="inner")
            self.mean = layers.GlobalAveragePooling1D(name="mean")

        def call(self, inputs):
            x = ops.pad(inputs["features"], ((0, 0), (1, 0), (0, 0)))
            mask = ops.pad(inputs["present"], ((0, 0), (1, 0)), constant_values=True)
            return self.mean(self.inner(x), mask=mask if masked else None)

    report = check_masking(Summary(), {"features": FLOATS + 3.0, "present": IDS > 0})
    assert leaks(report) == ({} if masked else everywhere("mean"))
    assert report[CONTENT].passed == masked


def test_what_nothing_can_be_put_into_is_not_checked():
    """Two inputs in one row: no layer has the padding of one of them to itself."""

    class Joined(keras.Model):
        def __init__(self):
            super().__init__(name="joined")
            self.embedding = embedding()
            self.lstm = layers.LSTM(4, name="lstm")

        def call(self, inputs):
            return self.lstm(self.embedding(ops.concatenate([inputs["a"], inputs["b"] % 9], axis=1) * 1 % 9))

    other = np.array([[5, 5, 0], [3, 3, 3], [4, 0, 0]])
    report = check_masking(Joined(), {"a": IDS, "b": other})
    assert report.ok
    assert "no layer reads" in report[CONTENT].not_checked


def test_the_audit_leaves_the_making_of_layers_as_it_was():
    before = keras.Operation.__init__
    check_masking(functional(lambda x: layers.Dense(3)(x)), IDS)
    assert keras.Operation.__init__ is before
