"""Keras' own LSTM and GRU compute what our scan does, weight for weight, whatever the padding."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import tree
from recurrent_loops import (
    INPUTS,
    LAYERS,
    MASKS,
    UNITS,
    WIDTH,
    assert_close,
    inputs_for,
    make,
    operations,
    prediction,
    training_step,
)

import zoo.layers.recurrent
from zoo.layers import Recurrent, RecurrentStack
from zoo.models import RecurrentSeq2Seq

each_layer = pytest.mark.parametrize("name", LAYERS)
each_cell = pytest.mark.parametrize("name", ["lstm, backward", "gru"])


@each_layer
def test_both_loops_give_the_same_outputs_states_and_gradients(name):
    ours, theirs = (training_step(make(name, loop)) for loop in ("scan", "keras"))
    assert operations(ours) != operations(theirs)
    for mask in MASKS.values():
        expected, found = ours(inputs_for(mask), mask), theirs(inputs_for(mask), mask)
        assert_close(found, expected, atol=1e-5, rtol=1e-5)


@each_cell
def test_eager_is_as_the_graph(name):
    layer, mask = make(name, "keras"), MASKS["holes"]
    eager = tree.flatten(layer(INPUTS, mask, training=True))
    assert_close(eager, training_step(layer)(INPUTS, mask)[0], atol=1e-6)


@each_cell
@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16", "float16"])
def test_other_precisions(name, policy):
    step = training_step(make(name, "keras", dtype=policy))
    exact = training_step(make(name, "scan"))
    for mask in MASKS.values():
        results, gradients = step(inputs_for(mask), mask)
        assert {leaf.dtype.name for leaf in results} == {policy.removeprefix("mixed_")}
        assert all(np.isfinite(tf.cast(leaf, tf.float32)).all() for leaf in gradients)
        assert_close(results, exact(inputs_for(mask), mask)[0], atol=0.1)


@each_cell
def test_padding_may_hold_anything(name):
    step, mask = training_step(make(name, "keras")), MASKS["holes"]
    garbage = np.where(mask[..., None], INPUTS, np.nan).astype("float32")
    results, gradients = step(garbage, mask)
    expected, expected_gradients = step(INPUTS, mask)
    assert_close((results, gradients), (expected, expected_gradients), atol=1e-6)
    assert not np.any(gradients[0][~mask])


def test_no_rows():
    results, gradients = training_step(make("lstm", "keras"))(INPUTS[:0], MASKS["full"][:0])
    assert [leaf.shape for leaf in results] == [(0, 6, UNITS), (0, UNITS), (0, UNITS)]
    assert not any(np.any(gradient) for gradient in gradients)


def test_training_under_either_loop_ends_in_the_same_weights():
    trained = []
    for loop in ("scan", "keras"):
        keras.utils.set_random_seed(7)
        inputs, mask = keras.Input((None, WIDTH)), keras.Input((None,), dtype="bool")
        stack = RecurrentStack(UNITS, cell="gru", direction="backward", loop=loop)
        outputs = keras.layers.Dense(1)(stack(inputs, mask)[0])
        model = keras.Model([inputs, mask], outputs)
        model.compile("adam", "mse")
        model.fit([INPUTS, MASKS["left"]], INPUTS[..., :1], epochs=3, verbose=0, shuffle=False)
        trained.append(model.get_weights())
    assert_close(*trained, atol=1e-5)


@each_cell
def test_what_predicts_is_the_scan(name):
    """So an export that is made on a GPU runs without one."""
    assert operations(prediction(make(name, "keras"))) == operations(prediction(make(name, "scan")))


def test_a_model_for_serving_is_the_same_with_a_gpu(monkeypatch):
    graphs = []
    for gpu in (False, True):
        monkeypatch.setattr(zoo.layers.recurrent, "gpu_is_visible", lambda gpu=gpu: gpu)
        model = RecurrentSeq2Seq(9, 9, embedding_dim=3, encoder_units=4, decoder_units=4)
        model({"source": np.ones((1, 2), int), "target_ids": np.ones((1, 2), int)})
        sources = tf.TensorSpec((None, None), tf.int32)
        graphs.append(operations(tf.function(model.encode, input_signature=[sources])))
    assert graphs[0] == graphs[1]


@each_cell
def test_weights_are_the_same_under_either_loop(name, tmp_path):
    """The same by name, drawn alike, and in files of the same content."""
    kind, arguments = LAYERS[name]
    layers = []
    for loop in ("scan", "keras"):
        keras.utils.set_random_seed(3)
        inputs, mask = keras.Input((None, WIDTH)), keras.Input((None,), dtype="bool")
        layer = kind(UNITS, **arguments, loop=loop, name="recurrent")
        outputs = keras.layers.Dense(2)(layer(inputs, mask)[0])
        keras.Model([inputs, mask], outputs).save(tmp_path / f"{loop}.weights.keras")
        layers.append(layer)
    scan, by_keras = layers
    assert [weight.path for weight in by_keras.variables] == [weight.path for weight in scan.variables]
    for weight, other in zip(scan.variables, by_keras.variables, strict=True):
        np.testing.assert_array_equal(weight, other)
    saved, other = (keras.saving.load_model(tmp_path / f"{loop}.weights.keras") for loop in ("scan", "keras"))
    assert saved.count_params() == other.count_params()
    saved.save_weights(tmp_path / "of_scan.weights.h5")
    other.load_weights(tmp_path / "of_scan.weights.h5")
    questions = [INPUTS, MASKS["holes"]]
    np.testing.assert_array_equal(saved.predict(questions, verbose=0), other.predict(questions, verbose=0))


def test_with_a_gpu_auto_is_keras_for_what_has_cudnn(monkeypatch):
    monkeypatch.setattr(zoo.layers.recurrent, "gpu_is_visible", lambda: True)
    for cell, gets_keras in (("lstm", True), ("gru", True), ("rnn", False)):
        layer = Recurrent(UNITS, cell=cell)
        layer.build((None, None, WIDTH))
        assert (layer.keras_loop is not None) == gets_keras
    scan = Recurrent(UNITS, loop="scan")
    scan.build((None, None, WIDTH))
    assert scan.keras_loop is None


def test_without_a_gpu_auto_is_the_scan(monkeypatch):
    monkeypatch.setattr(zoo.layers.recurrent, "gpu_is_visible", lambda: False)
    for cell in ("lstm", "gru", "rnn"):
        layer = Recurrent(UNITS, cell=cell)
        layer.build((None, None, WIDTH))
        assert layer.keras_loop is None


def test_unknown_loops():
    for layer in (Recurrent, RecurrentStack):
        with pytest.raises(ValueError, match="loop must be one of auto, scan, keras, got 'cudnn'"):
            layer(3, loop="cudnn")
        with pytest.raises(ValueError, match="'keras' runs gru and lstm, got the cell 'rnn'; 'auto' runs"):
            layer(3, cell="rnn", loop="keras")
