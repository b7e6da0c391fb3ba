import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf
from equations import STEPS, recurrent, recurrent_stack

from zoo.layers import Recurrent, RecurrentStack

UNITS, WIDTH = 4, 3
random = np.random.default_rng(2)
INPUTS = random.normal(size=(3, 6, WIDTH)).astype("float32")
MASKS = {
    "full": np.ones((3, 6), bool),
    "right": np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0]], bool),
    "left": np.array([[1, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 1]], bool),
    "holes": np.array([[1, 0, 1, 0, 1, 1], [0, 1, 0, 0, 1, 0], [1, 0, 0, 0, 0, 1]], bool),
}
each_cell = pytest.mark.parametrize("cell", STEPS)
each_padding = pytest.mark.parametrize("padding", MASKS)


def with_random_weights(layer):
    layer.build((None, None, WIDTH))
    layer.set_weights([random.normal(size=w.shape) * 0.7 for w in layer.weights])
    return layer


def in_order_of_keras(weights):
    kernel, bias, recurrent_kernel, *recurrent_bias = weights
    return [kernel, recurrent_kernel, np.stack([bias, *recurrent_bias]) if recurrent_bias else bias]


@each_cell
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_equals_the_unpadded_run_of_the_equations(cell, direction):
    layer = with_random_weights(Recurrent(UNITS, cell=cell, direction=direction))
    for mask in MASKS.values():
        outputs, state = layer(INPUTS, mask)
        for row, seen in enumerate(mask):
            expected, last = recurrent(cell, INPUTS[row, seen], layer.get_weights(), direction == "backward")
            np.testing.assert_allclose(outputs[row][seen], expected, atol=1e-5)
            np.testing.assert_array_equal(outputs[row][~seen], 0)
            for leaf, other in zip(state, last, strict=True):
                np.testing.assert_allclose(leaf[row], other, atol=1e-5)


THEIRS = {"rnn": keras.layers.SimpleRNN, "gru": keras.layers.GRU, "lstm": keras.layers.LSTM}


@each_cell
def test_both_directions_equal_those_of_keras(cell):
    forward = with_random_weights(Recurrent(UNITS, cell=cell))
    backward = with_random_weights(Recurrent(UNITS, cell=cell, direction="backward"))
    theirs = keras.layers.Bidirectional(
        THEIRS[cell](UNITS, return_sequences=True, return_state=True), merge_mode=None
    )
    theirs.build((None, None, WIDTH))
    theirs.set_weights(in_order_of_keras(forward.get_weights()) + in_order_of_keras(backward.get_weights()))
    for mask in MASKS.values():
        to_right, to_left, *states = theirs(INPUTS, mask=mask)
        half = len(states) // 2
        for layer, outputs, state in (
            (forward, to_right, states[:half]),
            (backward, to_left, states[half:]),
        ):
            ours, our_state = layer(INPUTS, mask)
            np.testing.assert_allclose(ours[mask], np.asarray(outputs)[mask], atol=1e-5)
            for leaf, other in zip(our_state, state, strict=True):
                np.testing.assert_allclose(leaf, other, atol=1e-5)


@each_padding
def test_states_after_each_position(padding):
    """Padding carries the state through; where there are tokens, its hidden part is the output."""
    layer, mask = with_random_weights(Recurrent(UNITS)), MASKS[padding]
    states, (outputs, last) = layer.states(INPUTS, mask), layer(INPUTS, mask)
    np.testing.assert_array_equal(np.asarray(states.hidden)[mask], np.asarray(outputs)[mask])
    for leaf, final in zip(states, last, strict=True):
        np.testing.assert_array_equal(leaf[:, -1], final)
        before = np.concatenate([np.zeros((3, 1, UNITS)), leaf[:, :-1]], axis=1)
        np.testing.assert_array_equal(np.asarray(leaf)[~mask], before[~mask])


@each_cell
def test_a_row_without_tokens_has_zero_states(cell):
    outputs, state = with_random_weights(Recurrent(UNITS, cell=cell))(INPUTS, np.zeros((3, 6), bool))
    assert not np.any(outputs)
    assert not any(np.any(leaf) for leaf in state)


def test_a_mask_cannot_be_forgotten():
    for layer in (Recurrent(3), RecurrentStack(3)):
        with pytest.raises(TypeError, match="mask"):
            layer(INPUTS)


def test_outputs_carry_the_mask_of_the_inputs():
    embedded = keras.layers.Embedding(5, WIDTH, mask_zero=True)(np.array([[3, 4, 0]]))
    outputs, state = Recurrent(3)(embedded, mask=embedded._keras_mask)
    np.testing.assert_array_equal(outputs._keras_mask, [[True, True, False]])
    assert getattr(state.hidden, "_keras_mask", None) is None
    outputs, finals = RecurrentStack(3, depth=2)(embedded, mask=embedded._keras_mask)
    np.testing.assert_array_equal(outputs._keras_mask, [[True, True, False]])
    (final,) = finals
    assert getattr(final, "_keras_mask", None) is None


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_xla_compiles_and_differentiates_the_scan_over_any_length(cell):
    layer = with_random_weights(Recurrent(UNITS, cell=cell, direction="backward", loop="scan"))

    def gradients(inputs, mask):
        with tf.GradientTape() as tape:
            outputs, state = layer(inputs, mask, training=True)
            total = tf.reduce_sum(outputs**2) + tf.reduce_sum(state[-1])
        return tape.gradient(total, [weight.value for weight in layer.weights])

    any_length = [tf.TensorSpec((None, None, WIDTH)), tf.TensorSpec((None, None), tf.bool)]
    compiled = tf.function(gradients, jit_compile=True, input_signature=any_length)
    for length in (6, 4):
        question = (tf.constant(INPUTS[:, :length]), tf.constant(MASKS["holes"][:, :length]))
        for found, expected in zip(compiled(*question), gradients(*question), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-5)


def test_keras_compiles_what_was_asked_for_the_scan_alone():
    for loop, compiles in (("scan", True), ("auto", False), ("keras", False)):
        inputs, mask = keras.Input((None, WIDTH)), keras.Input((None,), dtype="bool")
        model = keras.Model([inputs, mask], RecurrentStack(UNITS, loop=loop)(inputs, mask)[0])
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            model.compile("sgd", "mse", jit_compile=True)
        assert model.jit_compile == compiles
        assert any("doesn't support `jit_compile=True`" in str(one.message) for one in warned) != compiles


def test_unknown_names():
    with pytest.raises(ValueError, match=r"direction must be one of forward, backward, got 'sideways'"):
        Recurrent(3, direction="sideways")
    with pytest.raises(ValueError, match=r"forward, backward, bidirectional, got 'sideways'"):
        RecurrentStack(3, direction="sideways")
    for layer in (Recurrent, RecurrentStack):
        with pytest.raises(ValueError, match=r"cell must be one of rnn, gru, lstm, got 'esn'"):
            layer(3, cell="esn")


STACKS = {
    "one layer": {"cell": "rnn"},
    "one layer, bidirectional": {"cell": "lstm", "direction": "bidirectional"},
    "residual has no effect on one layer": {"cell": "gru", "residual": True},
    "deep": {"cell": "rnn", "depth": 3, "direction": "backward"},
    "deep, bidirectional": {"cell": "gru", "depth": 2, "direction": "bidirectional"},
    "residual": {"cell": "lstm", "depth": 3, "residual": True},
    "layer norm": {"cell": "gru", "depth": 2, "layer_norm": True},
    "all": {
        "cell": "lstm",
        "depth": 3,
        "direction": "bidirectional",
        "residual": True,
        "layer_norm": True,
        "dropout": 0.5,
    },
}


@pytest.mark.parametrize("arguments", STACKS.values(), ids=STACKS.keys())
def test_stack_equals_the_equations(arguments):
    stack = with_random_weights(RecurrentStack(UNITS, **arguments))
    layers = [
        [(layer.get_weights(), layer.direction == "backward") for layer in directions]
        for directions in stack.layers
    ]
    norms = [norm.get_weights() for norm in stack.norms]
    for mask in MASKS.values():
        outputs, finals = stack(INPUTS, mask)
        for row, seen in enumerate(mask):
            expected, last = recurrent_stack(
                arguments["cell"], INPUTS[row, seen], layers, norms, arguments.get("residual", False)
            )
            np.testing.assert_allclose(outputs[row][seen], expected, atol=1e-5)
            np.testing.assert_array_equal(outputs[row][~seen], 0)
            for found, one in zip(finals, last, strict=True):
                np.testing.assert_allclose(found[row], one, atol=1e-5)
    assert stack.width == outputs.shape[-1]


def test_stack_equals_one_of_keras():
    stack = with_random_weights(RecurrentStack(UNITS, cell="gru", depth=2, direction="bidirectional"))
    theirs = []
    for pair in stack.layers:
        layer = keras.layers.Bidirectional(keras.layers.GRU(UNITS, return_sequences=True))
        layer.build((None, None, 2 * UNITS if theirs else WIDTH))
        layer.set_weights([w for one in pair for w in in_order_of_keras(one.get_weights())])
        theirs.append(layer)
    for mask in MASKS.values():
        expected = INPUTS
        for layer in theirs:
            expected = layer(expected, mask=mask)
        np.testing.assert_allclose(stack(INPUTS, mask)[0][mask], np.asarray(expected)[mask], atol=1e-5)


def test_dropout_is_between_layers_and_in_training_alone():
    mask = MASKS["right"]
    one = with_random_weights(RecurrentStack(UNITS, dropout=0.9))
    np.testing.assert_array_equal(one(INPUTS, mask, training=True)[0], one(INPUTS, mask)[0])
    two = with_random_weights(RecurrentStack(UNITS, depth=2, dropout=0.9))
    (trained, trained_finals), (outputs, finals) = two(INPUTS, mask, training=True), two(INPUTS, mask)
    assert np.abs(trained - outputs).max() > 0.01
    np.testing.assert_array_equal(trained_finals[0][:, :UNITS], finals[0][:, :UNITS])
