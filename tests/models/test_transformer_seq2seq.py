import keras
import numpy as np
import pytest
import tensorflow as tf
from equations import (
    feed_forward,
    layer_norm,
    multi_head,
    residual,
    rotary_matrix,
    sinusoidal_position,
)

from zoo.decoders import Greedy, decode
from zoo.models import TransformerDecoder, TransformerEncoder, TransformerSeq2Seq

WIDTH, HEADS = 8, 2
SOURCE = np.array([[4, 5, 6, 2], [6, 2, 0, 0], [2, 0, 0, 0], [5, 5, 2, 0]])
TARGET = np.array([[1, 5, 6], [1, 6, 2], [1, 3, 4], [1, 1, 7]])


def made(**arguments):
    random = np.random.default_rng(3)
    model = TransformerSeq2Seq(8, 9, width=WIDTH, heads=HEADS, units=10, **arguments)
    model.set_weights([random.normal(size=weight.shape) * 0.6 for weight in model.weights])
    return model


def test_one_embedding_reads_sources_and_targets_and_says_targets(tmp_path):
    sizes = {"width": WIDTH, "heads": HEADS, "units": 10}
    own, shared = (TransformerSeq2Seq(9, 9, **sizes, shared_embedding=one) for one in (False, True))
    assert own.count_params() - shared.count_params() == 9 * WIDTH
    assert shared.encoder.embedding is shared.decoder.embedding

    shared.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.encoder.embedding is loaded.decoder.embedding
    inputs = {"source": SOURCE, "target_ids": TARGET}
    np.testing.assert_array_equal(loaded(inputs), shared(inputs))


def test_what_shares_an_embedding_is_not_saved_alone():
    with pytest.raises(ValueError, match="one vocabulary for both"):
        TransformerSeq2Seq(8, 9, width=WIDTH, heads=HEADS, shared_embedding=True)
    model = TransformerSeq2Seq(9, 9, width=WIDTH, heads=HEADS, shared_embedding=True)
    with pytest.raises(ValueError, match="shared_embedding=True"):
        model.decoder.get_config()


def turn(vector, t):
    return rotary_matrix(t, WIDTH // HEADS) @ vector


def through(part, ids, mask, memory=None):
    """Ids without padding through the blocks of an encoder or a decoder.

    Vectors (T, D), and the cross-attention of the uppermost block, (H, T, S).
    """
    embeddings = part.embedding.embeddings.numpy()
    x = np.sqrt(WIDTH) * embeddings[ids]
    if part.positions == "sinusoidal":
        x = x + np.array([sinusoidal_position(t, WIDTH) for t in range(len(ids))])
    if part.positions == "learned":
        x = x + part.added_positions.position_vectors.numpy()[: len(ids)]
    turned = turn if part.positions == "rotary" else None
    crossed = []
    for block in part.blocks:

        def look(x, block=block):
            return multi_head(
                x, x, mask, block.attentions["self_attention"].get_weights(), HEADS, turn=turned
            )[0]

        def read(x, block=block):
            weights = block.attentions["cross_attention"].get_weights()
            crossed.append(multi_head(x, memory, np.ones((len(x), len(memory)), bool), weights, HEADS))
            return crossed[-1][0]

        def network(x, block=block):
            return feed_forward(x, block.feed_forward.get_weights(), block.activation)

        cross = {} if memory is None else {"cross_attention": read}
        for name, sublayer in {"self_attention": look, **cross, "feed_forward": network}.items():
            x = residual(x, sublayer, *block.norms[name].get_weights(), block.norm)
    if part.norm == "pre":
        x = layer_norm(x, *part.last_norm.get_weights(), 1e-6)
    return x, crossed[-1][1] if crossed else None


def forward(model, source, target_ids):
    values, _ = through(model.encoder, source, np.ones((len(source), len(source)), bool))
    causal = np.tri(len(target_ids), dtype=bool)
    states, alignment = through(model.decoder, target_ids, causal, values)
    return states @ model.decoder.embedding.embeddings.numpy().T, alignment.mean(axis=0)


CASES = {
    "as in the paper": {},
    "learned, pre-norm, GELU": {"positions": "learned", "norm": "pre", "activation": "gelu", "depth": 1},
    "rotary, pre-norm, GLU": {"positions": "rotary", "norm": "pre", "activation": "glu"},
    "no positions, GLU": {"positions": "none", "activation": "glu", "depth": 3},
}


@pytest.mark.parametrize("arguments", CASES.values(), ids=CASES.keys())
def test_equals_the_equations(arguments):
    model = made(**arguments)
    logits = model({"source": SOURCE, "target_ids": TARGET}).numpy()
    alignment = model.alignment(SOURCE, TARGET).numpy()
    for row, source in enumerate(SOURCE):
        seen = source > 0
        expected_logits, expected_alignment = forward(model, source[seen], TARGET[row])
        np.testing.assert_allclose(logits[row], expected_logits, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(alignment[row][:, seen], expected_alignment, atol=1e-5)
        assert not np.any(alignment[row][:, ~seen])
    np.testing.assert_allclose(alignment.sum(-1), 1, atol=1e-5)


def test_a_source_of_padding_alone_is_finite():
    model, source = made(norm="pre"), np.zeros((2, 3), "int32")
    assert np.isfinite(model({"source": source, "target_ids": TARGET[:2]})).all()
    assert not np.any(model.alignment(source, TARGET[:2]))


def test_without_positions_the_encoder_sees_a_set():
    """What it says of a token moves with the token: 狗咬人 and 人咬狗 are one."""
    encoder = TransformerEncoder(8, WIDTH, depth=2, heads=HEADS, units=10, positions="none")
    order = [2, 0, 3, 1]
    values, _, summary = encoder(np.array([[4, 5, 6, 7]]))
    moved, _, other = encoder(np.array([[4, 5, 6, 7]])[:, order])
    np.testing.assert_allclose(moved, np.asarray(values)[:, order], atol=1e-5)
    np.testing.assert_allclose(other, summary, atol=1e-5)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary"])
def test_with_positions_order_counts(positions):
    encoder = TransformerEncoder(8, WIDTH, depth=2, heads=HEADS, units=10, positions=positions)
    (_, _, summary), (_, _, other) = encoder(np.array([[4, 5, 6, 7]])), encoder(np.array([[7, 5, 6, 4]]))
    assert np.abs(summary - other).max() > 1e-4


def test_the_summary_is_the_mean_over_tokens():
    encoder = TransformerEncoder(8, WIDTH, depth=1, heads=HEADS, units=10)
    values, mask, summary = encoder(SOURCE)
    for row in range(4):
        expected = np.asarray(values)[row][np.asarray(mask)[row]].mean(axis=0)
        np.testing.assert_allclose(summary[row], expected, atol=1e-6)
    assert not np.any(encoder(np.zeros((1, 2), "int32")).summary)


def test_the_decoder_reads_and_says_tokens_by_one_matrix():
    decoder = TransformerDecoder(9, WIDTH, depth=1, heads=HEADS, units=10)
    decoder.build_for(WIDTH)
    assert [w.shape for w in decoder.weights if 9 in w.shape] == [(9, WIDTH)]


def test_unknown_names():
    with pytest.raises(ValueError, match=r"positions must be one of sinusoidal.* got 'alibi'"):
        TransformerSeq2Seq(8, 9, positions="alibi")
    with pytest.raises(ValueError, match=r"norm must be one of pre, post, got 'deep'"):
        TransformerSeq2Seq(8, 9, norm="deep")


@pytest.mark.parametrize("name", ["source", "target_ids"])
def test_a_sequence_longer_than_the_learned_positions_is_refused(name):
    model = made(positions="learned", max_length=4)
    inputs = {"source": SOURCE, "target_ids": TARGET}
    whole = model(inputs).numpy()
    longer = np.pad(inputs[name], [(0, 0), (0, 5 - inputs[name].shape[1])], constant_values=4)
    message = rf"{name} may have 5 tokens, but this model has learned positions for 4: make it with a greater"
    for call in (model, tf.function(model)):
        with pytest.raises(ValueError, match=message):
            call({**inputs, name: longer})
    np.testing.assert_array_equal(model(inputs), whole)
    made(max_length=4)({**inputs, name: longer})  # sines go on


@pytest.mark.parametrize("name", ["source", "target_ids"])
def test_in_a_graph_of_any_length_too(name):
    model = made(positions="learned", max_length=4)
    inputs = {"source": SOURCE, "target_ids": TARGET}
    specs = {key: tf.TensorSpec([None, None], tf.int64) for key in inputs}
    traced = tf.function(lambda source, target_ids: model({"source": source, "target_ids": target_ids}))
    traced = traced.get_concrete_function(**specs)
    arguments = {key: tf.constant(value) for key, value in inputs.items()}
    np.testing.assert_allclose(traced(**arguments), model(inputs), atol=1e-5)
    longer = tf.pad(arguments[name], [[0, 0], [0, 5 - inputs[name].shape[1]]], constant_values=4)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"is not in \[0, 4\)"):
        traced(**{**arguments, name: longer})


def test_a_search_longer_than_the_learned_positions_is_refused():
    model = made(positions="learned", max_length=4)
    assert decode(model, SOURCE, Greedy(), max_length=4).token_ids.shape == (4, 1, 4)
    with pytest.raises(ValueError, match="A hypothesis may have 5 tokens, but this model has learned"):
        decode(model, SOURCE, Greedy(), max_length=5)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"source_vocab_size": 0}, "source_vocab_size must be a whole number, 1 or more, got 0"),
        ({"vocab_size": 0}, "vocab_size must be a whole number, 1 or more, got 0"),
        ({"width": 0}, "width must be a whole number, 1 or more, got 0"),
        ({"depth": 0}, "depth must be a whole number, 1 or more, got 0"),
        ({"heads": 0}, "heads must be a whole number, 1 or more, got 0"),
        ({"units": 0}, "units must be a whole number, 1 or more, got 0"),
        ({"max_length": 0}, "max_length must be a whole number, 1 or more, got 0"),
        ({"dropout": 1}, "dropout must be a rate from 0 to below 1, got 1"),
        ({"width": 9, "heads": 3}, r"width must be even, .* got 9"),
    ],
)
def test_sizes_that_no_model_can_have(changed, message):
    with pytest.raises(ValueError, match=message):
        TransformerSeq2Seq(**{"source_vocab_size": 8, "vocab_size": 9, **changed})
