import keras
import numpy as np
import pytest
from equations import STEPS, sigmoid

from zoo.layers import GRUCell, LSTMCell, RNNCell, climb, make_cell

UNITS, WIDTH = 4, 3
random = np.random.default_rng(2)
each_kind = pytest.mark.parametrize("kind", STEPS)


def made(kind, units=UNITS, width=WIDTH):
    cell = make_cell(kind, units)
    cell.build_for(width)
    cell.set_weights([random.normal(size=w.shape) for w in cell.weights])
    return cell


def some_state(cell, *leading):
    return cell.State(*(random.normal(size=(*leading, UNITS)).astype("float32") for _ in cell.State._fields))


@each_kind
def test_a_step_equals_the_equations(kind):
    cell = made(kind)
    x, state = random.normal(size=(5, WIDTH)).astype("float32"), some_state(cell, 5)
    found = cell(cell.project(x), state)
    assert isinstance(found, cell.State)
    for row in range(5):
        expected = STEPS[kind](x[row], tuple(leaf[row] for leaf in state), *cell.get_weights())
        for leaf, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(leaf[row], other, atol=1e-6)


def test_by_hand():
    """One unit, all weights 1, all biases 0, x = 1, h = 0.5: every gate is sigmoid(1.5) = 0.817574."""
    x, half = np.ones((1, 1), "float32"), np.full((1, 1), 0.5, "float32")

    def after_one_step(kind):
        cell = made(kind, 1, 1)
        cell.set_weights([np.full(w.shape, float("kernel" in w.name)) for w in cell.weights])
        return cell(cell.project(x), cell.State(*(half for _ in cell.State._fields)))

    np.testing.assert_allclose(after_one_step("rnn").hidden, [[0.905148]], atol=1e-6)  # tanh(1.5)
    # g = tanh(1 + 0.817574 * 0.5) = 0.887236; h' = 0.817574 * 0.5 + 0.182426 * g
    np.testing.assert_allclose(after_one_step("gru").hidden, [[0.570642]], atol=1e-6)
    # c' = 0.817574 * 0.5 + 0.817574 * 0.905148; h' = 0.817574 * tanh(c')
    hidden, cell = after_one_step("lstm")
    np.testing.assert_allclose(cell, [[1.148813]], atol=1e-6)
    np.testing.assert_allclose(hidden, [[0.668253]], atol=1e-6)


THEIRS = {
    "rnn": keras.layers.SimpleRNNCell(UNITS),
    "gru": keras.layers.GRUCell(UNITS, reset_after=True),
    "lstm": keras.layers.LSTMCell(UNITS),
}


@each_kind
def test_a_step_equals_that_of_keras(kind):
    ours, theirs = made(kind), THEIRS[kind]
    theirs.build((None, WIDTH))
    kernel, bias, recurrent_kernel, *recurrent_bias = ours.get_weights()
    theirs.set_weights(
        [kernel, recurrent_kernel, np.stack([bias, *recurrent_bias]) if recurrent_bias else bias]
    )
    x, state = random.normal(size=(5, WIDTH)).astype("float32"), some_state(ours, 5)
    _, expected = theirs(x, list(state))
    for leaf, other in zip(ours(ours.project(x), state), expected, strict=True):
        np.testing.assert_allclose(leaf, other, atol=1e-5)


@each_kind
def test_any_leading_axes(kind):
    """K hypotheses of B sources are so many rows."""
    cell = made(kind)
    x, state = random.normal(size=(2, 3, WIDTH)).astype("float32"), some_state(cell, 2, 3)
    together = cell(cell.project(x), state)
    flat = cell(cell.project(x.reshape(6, -1)), cell.State(*(leaf.reshape(6, -1) for leaf in state)))
    for leaf, other in zip(together, flat, strict=True):
        np.testing.assert_allclose(np.reshape(leaf, (6, -1)), other, atol=1e-6)


@each_kind
def test_state_begins_with_zeros(kind):
    cell = make_cell(kind, 3, dtype="mixed_float16")
    state = cell.initial_state(2, 5)
    assert isinstance(state, cell.State)
    for leaf in state:
        assert leaf.shape == (2, 5, 3)
        assert leaf.dtype == "float16"
        assert not np.any(leaf)


@each_kind
def test_weights_are_made_with_the_first_projection(kind):
    cell = make_cell(kind, UNITS)
    x = random.normal(size=(3, WIDTH)).astype("float32")
    cell(cell.project(x), cell.initial_state(3))
    products = {"rnn": 1, "gru": 3, "lstm": 4}[kind] * UNITS
    biases = [(products,)] * (2 if kind == "gru" else 1)
    assert [w.shape for w in cell.weights] == [(WIDTH, products), biases[0], (UNITS, products), *biases[1:]]


def test_gates_of_an_lstm():
    cell = made("lstm")
    x, state = random.normal(size=(5, WIDTH)).astype("float32"), some_state(cell, 5)
    gates = cell.gates(cell.project(x), state.hidden)
    kernel, bias, recurrent_kernel = cell.get_weights()
    i, f, g, o = np.split(x @ kernel + bias + state.hidden @ recurrent_kernel, 4, axis=-1)
    expected = {"input": sigmoid(i), "forget": sigmoid(f), "candidate": np.tanh(g), "output": sigmoid(o)}
    for name, value in expected.items():
        np.testing.assert_allclose(getattr(gates, name), value, atol=1e-6)


def test_forget_gate_begins_open_and_all_other_biases_at_zero():
    for kind, expected in [("rnn", [0, 0]), ("gru", [0] * 6), ("lstm", [0, 0, 1, 1, 0, 0, 0, 0])]:
        cell = make_cell(kind, 2)
        cell.build_for(1)
        np.testing.assert_array_equal(cell.input_projection.bias, expected)


def test_recurrent_kernels_begin_orthogonal():
    """So a state neither grows nor fades by the product with it."""
    cell = RNNCell(6)
    cell.build_for(2)
    kernel = cell.recurrent_projection.kernel.numpy()
    np.testing.assert_allclose(kernel @ kernel.T, np.eye(6), atol=1e-5)


@each_kind
def test_climbing_hands_each_layer_the_state_below(kind):
    lower, upper = made(kind), made(kind, width=UNITS)
    x = random.normal(size=(2, WIDTH)).astype("float32")
    states = [some_state(lower, 2), some_state(upper, 2)]
    found = climb([lower, upper], lower.project(x), states)
    first = lower(lower.project(x), states[0])
    second = upper(upper.project(first.hidden), states[1])
    for state, expected in zip(found, (first, second), strict=True):
        for leaf, other in zip(state, expected, strict=True):
            np.testing.assert_array_equal(leaf, other)


def test_cells_by_name():
    assert [type(make_cell(kind, 2)) for kind in ("rnn", "gru", "lstm")] == [RNNCell, GRUCell, LSTMCell]
    with pytest.raises(ValueError, match=r"cell must be one of rnn, gru, lstm, got 'relu'"):
        make_cell("relu", 2)
