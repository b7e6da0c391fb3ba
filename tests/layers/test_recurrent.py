import keras
import numpy as np
import pytest
from equations import additive_alignment, lstm, lstm_step

from zoo.layers import LSTM, AttentiveLSTM, AttentiveState, LSTMCell, LSTMState

UNITS, DEPTH = 4, 3
random = np.random.default_rng(2)
INPUTS = random.normal(size=(3, 6, DEPTH)).astype("float32")
MASKS = {
    "full": np.ones((3, 6), bool),
    "right": np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0]], bool),
    "left": np.array([[1, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 1]], bool),
    "holes": np.array([[1, 0, 1, 0, 1, 1], [0, 1, 0, 0, 1, 0], [1, 0, 0, 0, 0, 1]], bool),
}


def with_random_weights(layer):
    layer.set_weights([(random.normal(size=w.shape) * 0.7).astype("float32") for w in layer.weights])
    return layer


def built_lstm(direction):
    layer = LSTM(UNITS, direction=direction)
    layer.build((None, None, DEPTH))
    return with_random_weights(layer)


def test_cell_equals_the_equations():
    cell = LSTMCell(UNITS)
    cell.build((None, DEPTH))
    with_random_weights(cell)
    x, hidden, kept = INPUTS[:, 0], *random.normal(size=(2, 3, UNITS)).astype("float32")
    state = cell(cell.project(x), LSTMState(hidden, kept))

    expected = lstm_step(x, hidden, kept, *cell.get_weights())
    np.testing.assert_allclose(state.hidden, expected[0], atol=1e-6)
    np.testing.assert_allclose(state.cell, expected[1], atol=1e-6)


def test_cell_makes_its_weights_with_the_first_projection():
    cell = LSTMCell(UNITS)
    state = cell(cell.project(INPUTS[:, 0]), LSTMState(np.zeros((3, UNITS)), np.zeros((3, UNITS))))
    assert [w.shape for w in cell.weights] == [(DEPTH, 4 * UNITS), (UNITS, 4 * UNITS), (4 * UNITS,)]
    assert state.hidden.shape == (3, UNITS)


def test_forget_gate_begins_open():
    cell = LSTMCell(2)
    cell.build((None, 1))
    np.testing.assert_array_equal(cell.bias, [0, 0, 1, 1, 0, 0, 0, 0])


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("padding", MASKS)
def test_lstm_equals_the_unpadded_run(direction, padding):
    layer, mask = built_lstm(direction), MASKS[padding]
    outputs, state = layer(INPUTS, mask)
    for row, seen in enumerate(mask):
        expected, hidden, cell = lstm(INPUTS[row, seen], *layer.get_weights(), direction == "backward")
        np.testing.assert_allclose(outputs[row][seen], expected, atol=1e-5)
        np.testing.assert_allclose(state.hidden[row], hidden, atol=1e-5)
        np.testing.assert_allclose(state.cell[row], cell, atol=1e-5)
        np.testing.assert_array_equal(outputs[row][~seen], 0)


@pytest.mark.parametrize("padding", MASKS)
def test_both_directions_equal_those_of_keras(padding):
    forward, backward, mask = built_lstm("forward"), built_lstm("backward"), MASKS[padding]
    theirs = keras.layers.Bidirectional(
        keras.layers.LSTM(UNITS, return_sequences=True, return_state=True), merge_mode=None
    )
    theirs.build((None, None, DEPTH))
    theirs.set_weights(forward.get_weights() + backward.get_weights())

    to_right, to_left, *states = theirs(INPUTS, mask=mask)
    for layer, outputs, state in ((forward, to_right, states[:2]), (backward, to_left, states[2:])):
        ours, our_state = layer(INPUTS, mask)
        np.testing.assert_allclose(ours[mask], np.asarray(outputs)[mask], atol=1e-5)
        np.testing.assert_allclose(our_state.hidden, state[0], atol=1e-5)
        np.testing.assert_allclose(our_state.cell, state[1], atol=1e-5)


def test_a_row_without_tokens_has_zero_states():
    outputs, state = built_lstm("forward")(INPUTS, np.zeros((3, 6), bool))
    assert not np.any(outputs)
    assert not np.any(state.hidden)
    assert not np.any(state.cell)


def test_a_mask_cannot_be_forgotten():
    with pytest.raises(TypeError, match="mask"):
        LSTM(3)(INPUTS)


def test_outputs_carry_the_mask_of_the_inputs():
    embedding = keras.layers.Embedding(5, DEPTH, mask_zero=True)
    embedded = embedding(np.array([[3, 4, 0]]))
    outputs, state = LSTM(3)(embedded, mask=embedded._keras_mask)
    np.testing.assert_array_equal(outputs._keras_mask, [[True, True, False]])
    assert getattr(state.hidden, "_keras_mask", None) is None


def test_unknown_direction():
    with pytest.raises(ValueError, match=r"forward, backward, got 'sideways'"):
        LSTM(3, direction="sideways")


@pytest.fixture(scope="module")
def decoder():
    layer = AttentiveLSTM(UNITS, 5)
    layer.build((None, None, DEPTH), None, (None, None, 5), (None, None, 2))
    return with_random_weights(layer)


def test_attentive_lstm_equals_the_equations(decoder):
    values = random.normal(size=(2, 4, 2)).astype("float32")
    mask = np.array([[1, 1, 1, 1], [1, 1, 0, 0]], bool)
    inputs = INPUTS[:2, :3]
    start = AttentiveState(*(random.normal(size=(2, 1, n)).astype("float32") for n in (UNITS, UNITS, 2)))
    keys = decoder.attention.project_keys(values)
    states = decoder(inputs, start, keys, values, mask)
    alignment = decoder.alignment(states, start, keys, mask)

    attention, cell = decoder.attention, decoder.cell
    both = np.concatenate([cell.kernel.numpy(), decoder.context_projection.kernel.numpy()])  # W on [y; c]
    for b in range(2):
        hidden, kept = start.hidden[b, 0], start.cell[b, 0]
        for t in range(3):
            weights = np.zeros(4)
            weights[mask[b]] = additive_alignment(
                hidden,
                values[b, mask[b]],
                attention.query_projection.kernel.numpy(),
                attention.key_projection.kernel.numpy(),
                attention.score_vector.numpy()[:, 0],
            )
            context = weights @ values[b]
            x = np.concatenate([inputs[b, t], context])
            hidden, kept = lstm_step(x, hidden, kept, both, cell.recurrent_kernel.numpy(), cell.bias.numpy())
            np.testing.assert_allclose(alignment[b, t], weights, atol=1e-5)
            np.testing.assert_allclose(states.context[b, t], context, atol=1e-5)
            np.testing.assert_allclose(states.hidden[b, t], hidden, atol=1e-5)
            np.testing.assert_allclose(states.cell[b, t], kept, atol=1e-5)


def test_hypotheses_are_queries_to_one_memory(decoder):
    """A step of 3 hypotheses equals 3 steps of 1."""
    values = random.normal(size=(2, 4, 2)).astype("float32")
    mask = np.array([[1, 1, 1, 1], [1, 1, 0, 0]], bool)
    keys = decoder.attention.project_keys(values)
    projected = random.normal(size=(2, 3, 4 * UNITS)).astype("float32")
    state = AttentiveState(*(random.normal(size=(2, 3, n)).astype("float32") for n in (UNITS, UNITS, 2)))
    together = decoder.step(projected, state, keys, values, mask)
    for k in range(3):
        one = AttentiveState(*(leaf[:, k : k + 1] for leaf in state))
        alone = decoder.step(projected[:, k : k + 1], one, keys, values, mask)
        for leaf, other in zip(together, alone, strict=True):
            np.testing.assert_allclose(leaf[:, k], other[:, 0], atol=1e-6)
