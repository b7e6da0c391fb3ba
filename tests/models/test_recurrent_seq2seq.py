import keras
import numpy as np
import pytest
import tensorflow as tf
from equations import additive_alignment, lstm, lstm_step, maxout_readout

from zoo.decoders import Beam, Greedy, decode
from zoo.models import RecurrentSeq2Seq

START, END = 1, 2
SOURCE = np.array([[4, 5, 6, 2], [6, 2, 0, 0], [2, 0, 0, 0], [5, 5, 2, 0]])
TARGET = np.array([[1, 5, 6], [1, 6, 2], [1, 3, 4], [1, 1, 7]])


@pytest.fixture(scope="module")
def model():
    keras.utils.set_random_seed(3)
    model = RecurrentSeq2Seq(
        8, 9, embedding_dim=3, encoder_units=4, decoder_units=5, attention_units=6, readout_units=7
    )
    random = np.random.default_rng(3)
    model.set_weights([random.normal(size=weight.shape) * 0.8 for weight in model.weights])
    return model


def forward(model, source, target_ids):
    """One source without padding, from the equations: logits (T, V) and alignment (T, S)."""
    embedded = model.source_embedding.embeddings.numpy()[source]
    to_right, _, _ = lstm(embedded, *model.forward_encoder.get_weights())
    to_left, first, _ = lstm(embedded, *model.backward_encoder.get_weights(), backward=True)
    annotations = np.concatenate([to_right, to_left], axis=1)

    weight, bias = model.start_projection.get_weights()
    hidden, cell = np.split(np.tanh(first @ weight + bias), 2)
    attention, decoder = model.decoder.attention, model.decoder.cell
    kernel = np.concatenate([decoder.kernel.numpy(), model.decoder.context_projection.kernel.numpy()])
    logits, alignment = [], []
    for token in target_ids:
        weights = additive_alignment(
            hidden,
            annotations,
            attention.query_projection.kernel.numpy(),
            attention.key_projection.kernel.numpy(),
            attention.score_vector.numpy()[:, 0],
        )
        context, y = weights @ annotations, model.target_embedding.embeddings.numpy()[token]
        recurrent, bias = decoder.recurrent_kernel.numpy(), decoder.bias.numpy()
        hidden, cell = lstm_step(np.concatenate([y, context]), hidden, cell, kernel, recurrent, bias)
        logits.append(maxout_readout(np.concatenate([hidden, y, context]), *model.readout.get_weights()))
        alignment.append(weights)
    return np.array(logits), np.array(alignment)


def test_equals_the_equations(model):
    logits = model({"source": SOURCE, "target_ids": TARGET})
    alignment = model.alignment(SOURCE, TARGET).numpy()
    for row, source in enumerate(SOURCE):
        seen = source > 0
        expected_logits, expected_alignment = forward(model, source[seen], TARGET[row])
        np.testing.assert_allclose(logits[row], expected_logits, atol=1e-4)
        np.testing.assert_allclose(alignment[row][:, seen], expected_alignment, atol=1e-5)
        assert not np.any(alignment[row][:, ~seen])
    np.testing.assert_allclose(alignment.sum(-1), 1, atol=1e-6)


def test_padding_on_the_left_changes_nothing(model):
    logits = model({"source": SOURCE, "target_ids": TARGET})
    shifted = np.array([[0] * (4 - (row > 0).sum()) + row[row > 0].tolist() for row in SOURCE])
    np.testing.assert_allclose(model({"source": shifted, "target_ids": TARGET}), logits, atol=1e-5)


def test_a_source_of_padding_alone_is_finite(model):
    source = np.zeros((2, 3), "int32")
    assert np.isfinite(model({"source": source, "target_ids": TARGET[:2]})).all()
    assert not np.any(model.alignment(source, TARGET[:2]))


def test_learns_to_reverse():
    """Plain compile and fit, `jit_compile` as Keras chooses it; judged by search on sequences never shown."""
    keras.utils.set_random_seed(0)
    random = np.random.default_rng(0)
    length, letters = 4, 6
    every = np.stack(np.meshgrid(*[range(3, 3 + letters)] * length), -1).reshape(-1, length)
    every = random.permutation(every)
    source = np.pad(every, [(0, 0), (0, 1)], constant_values=END).astype("int32")
    labels = np.pad(every[:, ::-1], [(0, 0), (0, 1)], constant_values=END).astype("int32")
    target_ids = np.pad(labels[:, :-1], [(0, 0), (1, 0)], constant_values=START)
    train, test = slice(0, 1000), slice(1000, None)

    model = RecurrentSeq2Seq(
        3 + letters, 3 + letters, embedding_dim=16, encoder_units=16, decoder_units=32, attention_units=16
    )
    model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(
        {"source": source[train], "target_ids": target_ids[train]},
        labels[train],
        batch_size=50,
        epochs=8,
        verbose=0,
    )
    for strategy in (Greedy(), Beam(3)):
        search = tf.function(
            lambda ids, strategy=strategy: decode(model, ids, strategy, max_length=length + 1)
        )
        found = search(source[test]).token_ids[:, 0].numpy()
        assert (found == labels[test]).all(axis=1).mean() >= 0.99
