import keras
import numpy as np
import pytest
import tensorflow as tf
from equations import lstm_step, sigmoid

from zoo.diagnostics import (
    dot_product_variance,
    encoder_states,
    gates_over_time,
    operation_counts,
    order_blindness,
    state_gradient_norms,
)
from zoo.layers import EncoderBlock, FeedForward, Recurrent
from zoo.models import (
    RecurrentDecoder,
    RecurrentSeq2Seq,
    Seq2Seq,
    TransformerEncoder,
    TransformerSeq2Seq,
    WindowedEncoder,
)


def layer_with_weights(cell, units=4, width=3, *, scale=0.7, direction="forward", dtype="float32"):
    layer = Recurrent(units, cell=cell, direction=direction, dtype=dtype)
    layer.build((None, None, width))
    random = np.random.default_rng(5)
    layer.set_weights([random.normal(size=weight.shape) * scale for weight in layer.weights])
    return layer


def random_inputs(*shape):
    return np.random.default_rng(6).normal(size=shape)


def scaled_recurrence(layer, width, gain):
    """The layer with orthogonal recurrent weights times a gain, and no biases."""
    keras.utils.set_random_seed(0)
    layer.build((None, None, width))
    kernel = layer.cell.recurrent_projection.kernel
    kernel.assign(gain * kernel)
    return layer


class TestGradients:
    def test_of_an_rnn_is_the_product_of_jacobians(self):
        layer = layer_with_weights("rnn", units=4, width=3)
        inputs = random_inputs(2, 6, 3)
        kernel, bias, recurrent = layer.get_weights()
        expected = np.zeros((2, 6))
        for row in range(2):
            hidden, jacobians = np.zeros(4), []
            for x in inputs[row]:
                hidden = np.tanh(x @ kernel + bias + hidden @ recurrent)
                jacobians.append((1 - hidden**2)[:, None] * recurrent.T)  # d hidden / d the one before
            gradient = np.full(4, 1 / 2)  # of the sum of 4 numbers over the root of 4
            for t in reversed(range(6)):
                expected[row, t] = np.linalg.norm(gradient)
                gradient = gradient @ jacobians[t]
        found = state_gradient_norms(layer, inputs)
        np.testing.assert_allclose(found, expected.mean(axis=0), rtol=1e-5)
        assert found[-1] == pytest.approx(1)

    @pytest.mark.parametrize("direction", ["forward", "backward"])
    @pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
    def test_equals_finite_differences(self, cell, direction):
        layer = layer_with_weights(cell, units=2, direction=direction, dtype="float64")
        inputs = random_inputs(1, 4, 3)
        projected = layer.cell.project(tf.constant(inputs))
        order = [3, 2, 1, 0] if direction == "backward" else [0, 1, 2, 3]

        def loss_from(number, state):
            for t in order[number + 1 :]:
                state = layer.cell(projected[:, t], state)
            return float(tf.reduce_sum(state.hidden**3))

        state, expected = layer.cell.initial_state(1), np.zeros(4)
        for number, t in enumerate(order):
            state = layer.cell(projected[:, t], state)
            slopes = []
            for leaf in range(len(state)):
                for unit in range(2):
                    step = 1e-5 * np.eye(2)[unit]
                    moved = [
                        loss_from(
                            number, type(state)(*(s + sign * step * (k == leaf) for k, s in enumerate(state)))
                        )
                        for sign in (1, -1)
                    ]
                    slopes.append((moved[0] - moved[1]) / 2e-5)
            expected[t] = np.linalg.norm(slopes)
        found = state_gradient_norms(layer, inputs, loss=lambda hidden: tf.reduce_sum(hidden**3, axis=-1))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-9)

    def test_vanishes_with_weak_recurrence_and_explodes_with_strong(self):
        inputs = 1e-3 * random_inputs(4, 30, 8)
        weak = state_gradient_norms(scaled_recurrence(Recurrent(16, cell="rnn"), 8, 0.7), inputs)
        strong = state_gradient_norms(scaled_recurrence(Recurrent(16, cell="rnn"), 8, 1.3), inputs)
        assert weak[-1] == strong[-1] == pytest.approx(1)
        assert weak[0] == pytest.approx(0.7**29, rel=0.01)  # far from saturation, tanh has slope 1
        assert strong[0] > 100
        assert np.all(np.diff(weak) > 0)

    def test_open_forget_gates_keep_it(self):
        inputs = random_inputs(4, 60, 8)
        lost = state_gradient_norms(scaled_recurrence(Recurrent(16, cell="rnn"), 8, 0.7), inputs)
        layer = scaled_recurrence(Recurrent(16, cell="lstm"), 8, 0.1)
        layer.cell.input_projection.bias.assign(np.repeat([0.0, 8.0, 0.0, 0.0], 16))  # i, f, g, o
        kept = state_gradient_norms(layer, inputs)
        assert lost[0] < 1e-6
        assert 0.1 < kept[0] < 2
        assert kept[0] == pytest.approx(kept[30], rel=0.5)

    def test_frozen_and_new_layers_are_measured_too(self):
        keras.utils.set_random_seed(0)
        layer = Recurrent(3, cell="gru", trainable=False)
        found = state_gradient_norms(layer, random_inputs(2, 5, 2))
        assert found.shape == (5,)
        assert np.all(found > 0)


class TestScores:
    def test_variance_is_what_theory_says(self):
        found = dot_product_variance([4, 16, 64, 256], samples=1024)
        assert found.widths == (4, 16, 64, 256)
        np.testing.assert_array_equal(found.unscaled.theory, [4, 16, 64, 256])
        np.testing.assert_array_equal(found.scaled.theory, 1)
        np.testing.assert_allclose(found.unscaled.variance, found.unscaled.theory, rtol=0.1)
        np.testing.assert_allclose(found.scaled.variance, 1, rtol=0.1)

    def test_unscaled_scores_end_the_choice_and_scaled_ones_do_not(self):
        found = dot_product_variance([4, 16, 64, 256])
        assert np.all(np.diff(found.unscaled.largest_weight) > 0)
        assert np.all(np.diff(found.unscaled.gradient_norm[1:]) < 0)
        assert found.unscaled.largest_weight[-1] > 0.9
        assert found.unscaled.gradient_norm[-1] < 0.1
        assert np.ptp(found.scaled.largest_weight) < 0.1
        assert found.scaled.gradient_norm[-1] > 1.5 * found.unscaled.gradient_norm[-1]

    def test_of_one_query_equals_the_jacobian_itself(self):
        random = np.random.default_rng(9)
        query = random.standard_normal((1, 1, 8), "float32")[0, 0]
        keys = random.standard_normal((1, 5, 8), "float32")[0]
        found = dot_product_variance([8], keys=5, samples=1, seed=9)
        for statistics, scores in ((found.unscaled, keys @ query), (found.scaled, keys @ query / 8**0.5)):
            weights = np.exp(scores) / np.exp(scores).sum()
            jacobian = np.diag(weights) - np.outer(weights, weights)
            np.testing.assert_allclose(statistics.variance, scores.var(), rtol=1e-4)
            np.testing.assert_allclose(statistics.largest_weight, weights.max(), rtol=1e-4)
            np.testing.assert_allclose(statistics.gradient_norm, np.linalg.norm(jacobian), rtol=1e-4)

    @pytest.mark.parametrize("wrong", [{"widths": []}, {"widths": [0]}, {"widths": [4], "keys": 0}])
    def test_sizes_below_one_are_refused(self, wrong):
        with pytest.raises(ValueError, match="must be at least 1"):
            dot_product_variance(**wrong)


class TestGates:
    @pytest.mark.parametrize("direction", ["forward", "backward"])
    def test_equal_a_run_step_by_step(self, direction):
        layer = layer_with_weights("lstm", direction=direction)
        inputs = random_inputs(3, 6, 3).astype("float32")
        mask = np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 1, 0, 1, 1, 0]], bool)
        found = gates_over_time(layer, inputs, mask)
        kernel, bias, recurrent = layer.get_weights()
        for row in range(3):
            hidden, cell = np.zeros(4), np.zeros(4)
            for t in reversed(range(6)) if direction == "backward" else range(6):
                expected = {name: np.zeros(4) for name in ("input", "forget", "candidate", "output")}
                if mask[row, t]:
                    i, f, g, o = np.split(inputs[row, t] @ kernel + bias + hidden @ recurrent, 4)
                    gates = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
                    expected = dict(zip(expected, gates, strict=True))
                    hidden, cell = lstm_step(inputs[row, t], (hidden, cell), kernel, bias, recurrent)
                for name, values in {**expected, "cell": cell, "hidden": hidden}.items():
                    np.testing.assert_allclose(getattr(found, name)[row, t], values, atol=1e-5)

    def test_without_a_mask_all_is_read(self):
        layer = layer_with_weights("lstm")
        inputs = random_inputs(2, 4, 3).astype("float32")
        for found, expected in zip(
            gates_over_time(layer, inputs), gates_over_time(layer, inputs, np.ones((2, 4), bool)), strict=True
        ):
            np.testing.assert_array_equal(found, expected)
            assert found.shape == (2, 4, 4)

    def test_other_cells_have_none(self):
        with pytest.raises(ValueError, match=r"Only an lstm has these gates, .* has the cell 'gru'"):
            gates_over_time(Recurrent(2, cell="gru"), random_inputs(1, 2, 2))


SOURCE = np.array([[4, 5, 6, 7, 2], [6, 2, 0, 0, 0]])


class TestEncoderStates:
    def test_of_recurrent_layers(self):
        keras.utils.set_random_seed(1)
        model = RecurrentSeq2Seq(9, 9, embedding_dim=3, encoder_units=4, decoder_units=4, depth=2)
        found = encoder_states(model, SOURCE)
        assert list(found) == [f"stack/{way}_{n}" for n in (0, 1) for way in ("forward", "backward")]
        encoder, mask = model.encoder, SOURCE != 0
        values = encoder.embedding(SOURCE)
        for number, layers in enumerate(encoder.stack.layers):
            outputs = [layer(values, mask)[0].numpy() for layer in layers]
            for way, output in zip(("forward", "backward"), outputs, strict=True):
                np.testing.assert_allclose(found[f"stack/{way}_{number}"], output, atol=1e-6)
            values = np.concatenate(outputs, axis=-1)
        np.testing.assert_allclose(encoder(SOURCE).values, values, atol=1e-6)

    @pytest.mark.parametrize("norm", ["pre", "post"])
    def test_of_transformer_blocks(self, norm):
        keras.utils.set_random_seed(1)
        model = TransformerSeq2Seq(9, 9, width=8, depth=2, heads=2, units=6, norm=norm)
        found = encoder_states(model, SOURCE)
        assert list(found) == ["block_0", "block_1"]
        encoded, mask = model.encoder(SOURCE), SOURCE != 0
        np.testing.assert_allclose(
            model.encoder.last_norm(found["block_1"]).numpy()[mask], encoded.values.numpy()[mask], atol=1e-5
        )
        first = model.encoder.blocks[0](model.encoder.embed(SOURCE, np.arange(5)), mask[:, None, :])
        np.testing.assert_allclose(found["block_0"][mask], first.numpy()[mask], atol=1e-5)
        assert found["block_0"].shape == (2, 5, 8)
        assert not found["block_0"][~mask].any()

    def test_an_encoder_without_such_layers_is_refused(self):
        encoder = WindowedEncoder(9, 4, embedding_dim=3, name="window")
        model = Seq2Seq(encoder, RecurrentDecoder(9, 4, embedding_dim=3))
        with pytest.raises(ValueError, match="window has no layer of the kinds Recurrent and EncoderBlock"):
            encoder_states(model, SOURCE)


class CountedProducts:
    """Multiply-adds of the matrix products that TensorFlow is asked for."""

    def __init__(self):
        self.products = []

    def count(self, matmul):
        def counted(a, b, *args, **kwargs):
            result = matmul(a, b, *args, **kwargs)
            self.products.append(int(np.prod(result.shape)) * a.shape[-1])
            return result

        return counted


@pytest.fixture
def counted(monkeypatch):
    counted = CountedProducts()
    monkeypatch.setattr(tf, "matmul", counted.count(tf.matmul))
    monkeypatch.setattr(tf, "tensordot", counted.count(tf.tensordot))
    return counted


class TestOperations:
    def test_equal_a_calculation_by_hand(self):
        found = operation_counts(10, 4)
        # recurrent: 10 positions, a product of 4 x 4 with x and one with h, for each gate
        assert found["rnn"] == (11, 10 * (16 + 16))
        assert found["gru"] == (11, 10 * 3 * (16 + 16))
        assert found["lstm"] == (11, 10 * 4 * (16 + 16))
        # four projections of 4 x 4 at 10 positions; 10 x 10 scores of 4 products; the same to read
        assert found["self_attention"] == (4, 4 * 10 * 16 + 2 * 100 * 4)
        # from 4 to 16 numbers and back, at 10 positions
        assert found["feed_forward"] == (2, 10 * (64 + 64))
        assert operation_counts(10, 4, units=5)["feed_forward"] == (2, 10 * (20 + 20))
        assert found["lstm"].at_once == 10 * 4 * 32 / 11
        assert found["self_attention"].at_once == 360

    def test_longer_texts_take_recurrence_more_steps_and_attention_more_at_once(self):
        short, long = operation_counts(64, 512), operation_counts(1024, 512)
        assert long["lstm"].sequential_steps - short["lstm"].sequential_steps == 1024 - 64
        assert long["lstm"].at_once == pytest.approx(short["lstm"].at_once, rel=0.02)
        assert long["self_attention"].sequential_steps == short["self_attention"].sequential_steps
        assert long["self_attention"].at_once > 16 * short["self_attention"].at_once

    @pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
    def test_are_the_products_of_a_recurrent_layer(self, cell, counted):
        layer = layer_with_weights(cell, units=6, width=6)
        layer(random_inputs(1, 7, 6).astype("float32"), np.ones((1, 7), bool))
        expected = operation_counts(7, 6)[cell]
        assert sum(counted.products) == expected.multiply_adds
        assert len(counted.products) == expected.sequential_steps

    def test_are_the_products_of_attention_and_feed_forward(self, counted):
        block = EncoderBlock(6, heads=2, units=10)
        block(random_inputs(1, 7, 6).astype("float32"), np.ones((1, 1, 7), bool))
        expected = operation_counts(7, 6, units=10)
        both = expected["self_attention"].multiply_adds + expected["feed_forward"].multiply_adds
        assert sum(counted.products) == both

        counted.products.clear()
        FeedForward(6, units=10)(random_inputs(1, 7, 6).astype("float32"))
        assert sum(counted.products) == expected["feed_forward"].multiply_adds

    def test_sizes_below_one_are_refused(self):
        with pytest.raises(ValueError, match="at least 1, got length 0, width 4 and units 16"):
            operation_counts(0, 4)


DOG, BITES, MAN = 4, 5, 6


class TestOrder:
    @pytest.mark.parametrize("norm", ["pre", "post"])
    def test_without_positions_dog_bites_man_is_man_bites_dog(self, norm):
        found = self.found("none", norm)
        assert found.tokens < 1e-5
        assert found.summary < 1e-5

    @pytest.mark.parametrize("norm", ["pre", "post"])
    @pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary"])
    def test_positions_tell_them_apart(self, positions, norm):
        found = self.found(positions, norm)
        assert found.tokens > 1e-3
        assert found.summary > 1e-4

    def found(self, positions, norm):
        keras.utils.set_random_seed(2)
        encoder = TransformerEncoder(
            8, 16, depth=2, heads=2, units=32, positions=positions, norm=norm, max_length=8
        )
        encoder.build()
        encoder.set_weights([3 * weight for weight in encoder.get_weights()])
        return order_blindness(encoder, [[DOG, BITES, MAN, 0]], [2, 1, 0, 3])

    def test_recurrence_needs_none(self):
        keras.utils.set_random_seed(2)
        model = RecurrentSeq2Seq(8, 8, embedding_dim=4, encoder_units=5, decoder_units=5)
        found = order_blindness(model.encoder, [[DOG, BITES, MAN]], [2, 1, 0])
        assert min(found) > 1e-3

    def test_the_same_order_makes_no_difference(self):
        encoder = TransformerEncoder(8, 8, depth=1, heads=1, units=8)
        assert order_blindness(encoder, [[DOG, BITES, MAN]], [0, 1, 2]) == (0, 0)

    @pytest.mark.parametrize("permutation", [[0, 1], [0, 1, 1], [1, 2, 3]])
    def test_it_must_be_a_permutation(self, permutation):
        with pytest.raises(ValueError, match="each of the 3 positions once, got"):
            order_blindness(TransformerEncoder(8, 8, depth=1, heads=1, units=8), [[4, 5, 6]], permutation)
