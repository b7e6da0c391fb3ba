import keras
import numpy as np
import pytest
import tensorflow as tf
from equations import (
    STEPS,
    additive_energies,
    dot_energies,
    general_energies,
    maxout_readout,
    recurrent_stack,
    scaled_dot_energies,
    softmax,
)

from zoo.models import LuongDecoder, RecurrentDecoder, RecurrentEncoder, RecurrentSeq2Seq, Seq2Seq

SOURCE = np.array([[4, 5, 6, 2], [6, 2, 0, 0], [2, 0, 0, 0], [5, 5, 2, 0]])
TARGET = np.array([[1, 5, 6], [1, 6, 2], [1, 3, 4], [1, 1, 7]])


def made(model, scale=0.7):
    random = np.random.default_rng(3)
    model.set_weights([random.normal(size=weight.shape) * scale for weight in model.weights])
    return model


def encoded(encoder, source):
    """One source without padding: values (S, D), and the summary of each direction."""
    layers = [
        [(layer.get_weights(), layer.direction == "backward") for layer in directions]
        for directions in encoder.stack.layers
    ]
    return recurrent_stack(encoder.cell, encoder.embedding.embeddings.numpy()[source], layers)


def beginning(decoder, summary):
    """The states of all cells, from below."""
    weight, bias = decoder.start_projection.get_weights()
    size = 2 if decoder.cell == "lstm" else 1
    leaves = np.split(np.tanh(summary @ weight + bias), decoder.depth * size)
    return [tuple(leaves[n * size : (n + 1) * size]) for n in range(decoder.depth)]


def climbed(decoder, x, states):
    """One step of all cells; `x` enters the lowest, and the uppermost hidden state comes out."""
    moved = []
    for cell, state in zip(decoder.cells, states, strict=True):
        moved.append(STEPS[decoder.cell](x, state, *cell.get_weights()))
        x = moved[-1][0]
    return moved, x


def energies(attention, query, values):
    kernels = [w.numpy() for w in attention.weights]
    return {
        "AdditiveAttention": lambda: additive_energies(
            query,
            values,
            attention.query_projection.kernel.numpy(),
            attention.key_projection.kernel.numpy(),
            attention.score_vector.numpy()[:, 0],
        ),
        "DotAttention": lambda: dot_energies(query, values),
        "ScaledDotAttention": lambda: scaled_dot_energies(query, values),
        "GeneralAttention": lambda: general_energies(query, values, *kernels),
    }[type(attention).__name__]()


class WithInput:
    """The lowest cell reads [y; more]: its kernel is that of y with that of more below it."""

    def __init__(self, decoder, more):
        kernel, *others = decoder.cells[0].get_weights()
        self.weights = [np.concatenate([kernel, more.kernel.numpy()]), *others]

    def get_weights(self):
        return self.weights


class Widened:
    """A decoder whose lowest cell reads its token and something more."""

    def __init__(self, decoder, more):
        self.cell = decoder.cell
        self.cells = [WithInput(decoder, more), *decoder.cells[1:]]


def plain(model, source, target_ids):
    """Sutskever et al. (2014)."""
    decoder = model.decoder
    _, summary = encoded(model.encoder, source)
    states, logits = beginning(decoder, np.concatenate(summary)), []
    for y in decoder.embedding.embeddings.numpy()[target_ids]:
        states, top = climbed(decoder, y, states)
        weight, bias = decoder.readout.get_weights()
        logits.append(top @ weight + bias)
    return np.array(logits), None


def bahdanau(model, source, target_ids):
    """Bahdanau et al. (2015), A.2.2: it starts from what the backward direction knows of the first token."""
    decoder = model.decoder
    values, (*_, backward) = encoded(model.encoder, source)
    states, logits, alignment = beginning(decoder, backward), [], []
    widened = Widened(decoder, decoder.context_projection)
    for y in decoder.embedding.embeddings.numpy()[target_ids]:
        alignment.append(softmax(energies(decoder.attention, states[-1][0], values)))
        context = alignment[-1] @ values
        states, top = climbed(widened, np.concatenate([y, context]), states)
        logits.append(maxout_readout(np.concatenate([top, y, context]), *decoder.readout.get_weights()))
    return np.array(logits), np.array(alignment)


def luong(model, source, target_ids):
    """Luong et al. (2015), sections 3.1 and 3.3."""
    decoder = model.decoder
    values, summary = encoded(model.encoder, source)
    states, logits, alignment = beginning(decoder, np.concatenate(summary)), [], []
    widened, fed = Widened(decoder, decoder.feeding), np.zeros(decoder.units)
    for y in decoder.embedding.embeddings.numpy()[target_ids]:
        states, top = climbed(widened, np.concatenate([y, fed]), states)
        alignment.append(softmax(energies(decoder.attention, top, values)))
        fed = np.tanh(np.concatenate([alignment[-1] @ values, top]) @ decoder.combination.kernel.numpy())
        weight, bias = decoder.readout.get_weights()
        logits.append(fed @ weight + bias)
    return np.array(logits), np.array(alignment)


CASES = {
    "rnn": (plain, {"cell": "rnn", "attention": "none", "direction": "forward"}),
    "gru, deep": (plain, {"cell": "gru", "attention": "none", "direction": "backward", "depth": 2}),
    "lstm, deep": (plain, {"attention": "none", "direction": "backward", "depth": 3}),
    "gru, bidirectional": (plain, {"cell": "gru", "attention": "none"}),
    "lstm, bidirectional, deep": (plain, {"attention": "none", "depth": 2}),
    "rnn, bahdanau": (bahdanau, {"cell": "rnn"}),
    "gru, bahdanau, deep": (bahdanau, {"cell": "gru", "depth": 2}),
    "lstm, bahdanau": (bahdanau, {}),
    "lstm, luong dot": (luong, {"attention": "luong_dot", "encoder_units": 3, "decoder_units": 6}),
    "gru, luong scaled dot, deep": (
        luong,
        {
            "cell": "gru",
            "depth": 2,
            "attention": "luong_scaled_dot",
            "direction": "forward",
            "decoder_units": 4,
        },
    ),
    "rnn, luong general": (luong, {"cell": "rnn", "attention": "luong_general"}),
    "lstm, luong concat, deep": (luong, {"attention": "luong_concat", "depth": 2}),
}


@pytest.mark.parametrize(("forward", "arguments"), CASES.values(), ids=CASES.keys())
def test_equals_the_equations(forward, arguments):
    sizes = {"embedding_dim": 3, "encoder_units": 4, "decoder_units": 5, **arguments}
    model = made(RecurrentSeq2Seq(8, 9, **sizes))
    logits = model({"source": SOURCE, "target_ids": TARGET})
    alignment = None if forward is plain else model.alignment(SOURCE, TARGET).numpy()
    for row, source in enumerate(SOURCE):
        seen = source > 0
        expected_logits, expected_alignment = forward(model, source[seen], TARGET[row])
        np.testing.assert_allclose(logits[row], expected_logits, rtol=1e-5, atol=1e-5)
        if alignment is not None:
            np.testing.assert_allclose(alignment[row][:, seen], expected_alignment, atol=1e-5)
            assert not np.any(alignment[row][:, ~seen])


def test_without_attention_there_is_no_alignment():
    assert not hasattr(RecurrentSeq2Seq(8, 9, attention="none"), "alignment")
    assert hasattr(RecurrentSeq2Seq(8, 9), "alignment")


@pytest.fixture(scope="module")
def model():
    return made(RecurrentSeq2Seq(8, 9, embedding_dim=3, encoder_units=4, decoder_units=5))


def test_padding_on_the_left_changes_nothing(model):
    logits = model({"source": SOURCE, "target_ids": TARGET})
    shifted = np.array([[0] * (4 - (row > 0).sum()) + row[row > 0].tolist() for row in SOURCE])
    np.testing.assert_allclose(model({"source": shifted, "target_ids": TARGET}), logits, atol=1e-5)


def test_a_source_of_padding_alone_is_finite(model):
    source = np.zeros((2, 3), "int32")
    assert np.isfinite(model({"source": source, "target_ids": TARGET[:2]})).all()
    assert not np.any(model.alignment(source, TARGET[:2]))


def test_reading_backwards_is_reading_the_reversed_source():
    """Sutskever et al. (2014) turn each source around; `backward` does it, padding apart."""
    sizes = {"embedding_dim": 3, "encoder_units": 4, "decoder_units": 5, "attention": "none", "depth": 2}
    backward = made(RecurrentSeq2Seq(8, 9, direction="backward", **sizes))
    forward = made(RecurrentSeq2Seq(8, 9, direction="forward", **sizes))
    reversed_source = np.array([row[row > 0][::-1].tolist() + [0] * (row == 0).sum() for row in SOURCE])
    np.testing.assert_allclose(
        backward({"source": SOURCE, "target_ids": TARGET}),
        forward({"source": reversed_source, "target_ids": TARGET}),
        atol=1e-5,
    )


def test_unknown_names():
    with pytest.raises(ValueError, match=r"attention must be one of none, bahdanau, luong_dot.* got 'flash'"):
        RecurrentSeq2Seq(8, 9, attention="flash")
    with pytest.raises(ValueError, match=r"score must be one of dot, scaled_dot, general, concat, got 'add'"):
        LuongDecoder(8, 9, embedding_dim=3, score="add")
    with pytest.raises(ValueError, match=r"cell must be one of rnn, gru, lstm, got 'esn'"):
        RecurrentSeq2Seq(8, 9, cell="esn")


def test_the_summary_has_the_last_state_of_each_layer_and_direction():
    encoder = RecurrentEncoder(8, 5, embedding_dim=3, depth=2)
    values, mask, (forward, backward) = encoder(SOURCE)
    assert values.shape == (4, 4, encoder.width) == (4, 4, 10)
    assert (forward.shape[1], backward.shape[1]) == encoder.summary_width == (10, 10)
    np.testing.assert_array_equal(mask, SOURCE > 0)
    for row, length in enumerate((SOURCE > 0).sum(axis=1)):
        np.testing.assert_array_equal(forward[row, 5:], values[row, length - 1, :5])
        np.testing.assert_array_equal(backward[row, 5:], values[row, 0, 5:])
    assert RecurrentEncoder(8, 5, embedding_dim=3, direction="forward").summary_width == (5,)


def test_without_attention_both_ends_of_the_source_are_at_hand():
    """Neither direction of the uppermost layer is made in vain."""
    encoder = RecurrentEncoder(8, 5, embedding_dim=3, depth=2)
    model = Seq2Seq(encoder, RecurrentDecoder(9, 6, embedding_dim=3))
    with tf.GradientTape(persistent=True) as tape:
        total = tf.reduce_sum(model({"source": SOURCE, "target_ids": TARGET}) ** 2)
    for layer in encoder.stack.layers[-1]:
        gradients = tape.gradient(total, [w.value for w in layer.trainable_variables])
        assert all(np.any(gradient) for gradient in gradients), layer.name


def test_dot_attention_needs_states_of_the_size_of_the_values():
    """It is found when the model is made, and the message says both sizes and the way out."""
    for score, layer in (("luong_dot", "DotAttention"), ("luong_scaled_dot", "ScaledDotAttention")):
        message = rf"{layer} .* queries of size 7 and values of size 10\. Make them equal .* `general`"
        with pytest.raises(ValueError, match=message):
            RecurrentSeq2Seq(8, 9, encoder_units=5, decoder_units=7, attention=score)
    RecurrentSeq2Seq(8, 9, encoder_units=5, decoder_units=7, attention="luong_general")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"source_vocab_size": 0}, "vocab_size must be a whole number, 1 or more, got 0"),
        ({"vocab_size": -1}, "vocab_size must be a whole number, 1 or more, got -1"),
        ({"embedding_dim": 0}, "embedding_dim must be a whole number, 1 or more, got 0"),
        ({"encoder_units": 0}, "units must be a whole number, 1 or more, got 0"),
        ({"decoder_units": 2.5}, "units must be a whole number, 1 or more, got 2.5"),
        ({"depth": 0}, "depth must be a whole number, 1 or more, got 0"),
        ({"dropout": 1.0}, "dropout must be a rate from 0 to below 1, got 1.0"),
        ({"dropout": -0.1}, "dropout must be a rate from 0 to below 1, got -0.1"),
    ],
)
def test_sizes_that_no_model_can_have(changed, message):
    with pytest.raises(ValueError, match=message):
        RecurrentSeq2Seq(**{"source_vocab_size": 8, "vocab_size": 9, **changed})


def test_both_parts_have_the_precision_of_the_whole():
    model = RecurrentSeq2Seq(8, 9, dtype="mixed_bfloat16")
    for layer in model._flatten_layers():
        if not isinstance(layer, keras.Model):
            assert layer.dtype_policy.name == "mixed_bfloat16", layer


def test_the_default_of_compile_is_not_to_use_xla():
    """With `auto`, Keras compiles on a GPU what says that it can be; a loop of unknown length cannot."""
    model = RecurrentSeq2Seq(8, 9)
    assert not all(layer.supports_jit for layer in model._flatten_layers())
