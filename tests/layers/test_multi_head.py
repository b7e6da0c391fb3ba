import keras
import numpy as np
import pytest
import tensorflow as tf
from equations import multi_head, rotary_matrix

from zoo.layers import MultiHeadAttention, RotaryPositions, causal_mask, masked_relu

WIDTH, HEADS, MEMORY = 6, 3, 4
B, Q, S = 3, 4, 5
random = np.random.default_rng(5)
QUERY = random.normal(size=(B, Q, WIDTH)).astype("float32")
VALUES = random.normal(size=(B, S, MEMORY)).astype("float32")
MASK = np.array([[1, 1, 1, 1, 1], [0, 1, 1, 0, 0], [0, 0, 0, 0, 0]], bool)[:, None, :]
MASKS = {
    "padding": MASK,
    "all": random.random((B, Q, S)) < 0.6,
}
MASKS["all"][1, 2] = False
DTYPES = ("float32", "float16", "bfloat16", "mixed_float16", "mixed_bfloat16")
each_normalization = pytest.mark.parametrize("normalization", ["softmax", "relu"])


def made(memory_width=MEMORY, **kwargs):
    layer = MultiHeadAttention(WIDTH, heads=HEADS, **kwargs)
    layer.build_for(memory_width)
    layer.set_weights([random.normal(size=w.shape) for w in layer.weights])
    return layer


@each_normalization
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_equals_the_equations(normalization, mask):
    layer = made(normalization=normalization)
    memory = layer.project(VALUES)
    found, alignment = layer(QUERY, memory, mask), layer.alignment(QUERY, memory.keys, mask)
    for b in range(B):
        may_look = np.broadcast_to(mask[b], (Q, S))
        expected, weights = multi_head(
            QUERY[b], VALUES[b], may_look, layer.get_weights(), HEADS, normalization
        )
        np.testing.assert_allclose(found[b], expected, atol=1e-5)
        np.testing.assert_allclose(alignment[b], weights, atol=1e-5)
        assert not np.any(np.asarray(alignment[b])[:, ~may_look])


def test_causal_self_attention_with_rotary_positions_equals_the_equations():
    layer, rotary = made(WIDTH), RotaryPositions()
    found = layer(QUERY, layer.project(QUERY, rotary), causal_mask(Q), turn=rotary)
    for b in range(B):
        expected, _ = multi_head(
            QUERY[b],
            QUERY[b],
            np.tri(Q, dtype=bool),
            layer.get_weights(),
            HEADS,
            turn=lambda vector, t: rotary_matrix(t, WIDTH // HEADS) @ vector,
        )
        np.testing.assert_allclose(found[b], expected, atol=1e-5)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_equals_that_of_keras(mask):
    """Where a query may look somewhere; where it may not, Keras' own takes the mean of what is forbidden."""
    ours = made()
    theirs = keras.layers.MultiHeadAttention(HEADS, WIDTH // HEADS)
    theirs.build(QUERY.shape, VALUES.shape)
    w_q, b_q, w_k, w_v, b_v, w_o, b_o = ours.get_weights()
    parted, size = (HEADS, WIDTH // HEADS), (MEMORY, HEADS, WIDTH // HEADS)
    theirs.set_weights(
        [
            w_q.reshape(WIDTH, *parted),
            b_q.reshape(parted),
            w_k.reshape(size),
            np.zeros(parted),
            w_v.reshape(size),
            b_v.reshape(parted),
            w_o.reshape(*parted, WIDTH),
            b_o,
        ]
    )
    mask = np.broadcast_to(mask, (B, Q, S))
    expected, weights = theirs(QUERY, VALUES, attention_mask=mask, return_attention_scores=True)
    memory, looks = ours.project(VALUES), mask.any(axis=-1)
    found, alignment = ours(QUERY, memory, mask), ours.alignment(QUERY, memory.keys, mask)
    np.testing.assert_allclose(found[looks], expected[looks], atol=1e-5)
    alignment, weights = (np.swapaxes(each, 1, 2) for each in (alignment, weights))
    np.testing.assert_allclose(alignment[looks], weights[looks], atol=1e-5)
    assert not np.any(alignment[~looks])


def test_by_hand():
    """Two heads of one number each, all kernels the unit matrix, no biases: each head sees one column."""
    layer = MultiHeadAttention(2, heads=2)
    layer.build_for(2)
    layer.set_weights([np.eye(2) if w.ndim == 2 else np.zeros(2) for w in layer.get_weights()])
    memory = layer.project(np.array([[[1.0, 0], [0, 2], [9, 9]]], "float32"))
    mask = np.array([[[True, True, False]]])
    query = np.ones((1, 1, 2), "float32")
    # Scores 1 and 0 of the first head, 0 and 2 of the second: e / (e + 1) and e^2 / (e^2 + 1).
    np.testing.assert_allclose(layer(query, memory, mask), [[[0.731059, 2 * 0.880797]]], atol=1e-5)


@each_normalization
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_query_with_nothing_to_look_at_reads_zeros(normalization, dtype):
    layer = made(normalization=normalization, dtype=dtype)
    compute = layer.compute_dtype
    values = tf.Variable(tf.cast(8 * VALUES, compute))
    mask = MASKS["all"] & (np.arange(Q) > 1)[:, None]
    with tf.GradientTape() as tape:
        memory = layer.project(values)
        found = layer(tf.cast(8 * QUERY, compute), memory, mask)
        alignment = layer.alignment(tf.cast(8 * QUERY, compute), memory.keys, mask)
        total = tf.reduce_sum(found)
    bias = tf.cast(layer.output_projection.bias.value, compute)
    blind = ~mask.any(axis=-1)
    np.testing.assert_array_equal(found[blind], tf.broadcast_to(bias, (blind.sum(), WIDTH)))
    assert not np.any(tf.transpose(alignment, (0, 2, 1, 3))[blind])
    for gradient in tape.gradient(total, [values, *layer.trainable_variables]):
        assert np.isfinite(tf.cast(gradient, tf.float32)).all()
    assert found.dtype == alignment.dtype == compute


def test_asking_for_the_alignment_changes_nothing():
    layer = made()
    memory = layer.project(VALUES)
    before = layer(QUERY, memory, MASKS["all"])
    layer.alignment(QUERY, memory.keys, MASKS["all"])
    np.testing.assert_array_equal(layer(QUERY, memory, MASKS["all"]), before)


def rows(vectors):
    """(B, K, ...) to (B * K, ...), as a step has the hypotheses of a source."""
    return np.reshape(vectors, (-1, *vectors.shape[2:]))


def test_a_step_of_hypotheses_with_memories_of_their_own():
    layer = made(WIDTH)
    own = random.normal(size=(B, 2, S, WIDTH)).astype("float32")
    query = random.normal(size=(B, 2, WIDTH)).astype("float32")
    mask = np.array([True, True, True, False, False])
    found = layer.look_back(rows(query), layer.project(rows(own)), mask)
    for k in range(2):
        alone = layer(query[:, k : k + 1], layer.project(own[:, k]), mask[None])
        np.testing.assert_allclose(found[k::2], alone[:, 0], atol=1e-6)


@pytest.mark.parametrize("width", [1, 3])
def test_a_step_of_hypotheses_over_the_memory_of_their_source(width):
    layer = made()
    query = random.normal(size=(B, width, WIDTH)).astype("float32")
    memory = layer.project(VALUES)
    np.testing.assert_allclose(
        layer.look(rows(query), memory, MASK, width), rows(layer(query, memory, MASK)), atol=1e-6
    )


@pytest.mark.parametrize("dtype", DTYPES)
@each_normalization
def test_a_step_with_nothing_to_look_at_reads_zeros(normalization, dtype):
    layer = made(WIDTH, normalization=normalization, dtype=dtype)
    compute = layer.compute_dtype
    query = tf.cast(8 * random.normal(size=(B, 2, WIDTH)), compute)
    shared = layer.project(tf.cast(8 * random.normal(size=(B, S, WIDTH)), compute))
    own = layer.project(tf.cast(8 * random.normal(size=(2 * B, 3, WIDTH)), compute))
    nothing = {"shared": np.zeros((B, S), bool), "own": np.zeros(3, bool)}
    bias = tf.broadcast_to(tf.cast(layer.output_projection.bias.value, compute), (2 * B, WIDTH))
    for found in (
        layer.look(rows(query), shared, nothing["shared"][:, None], 2),
        layer.look_back(rows(query), own, nothing["own"]),
        layer.look_back_beyond(rows(query), own, nothing["own"], shared, nothing["shared"], 2),
    ):
        assert found.dtype == compute
        np.testing.assert_array_equal(found, bias)


@each_normalization
def test_a_step_over_what_is_shared_and_what_is_own(normalization):
    """It equals attention over both side by side."""
    layer = made(WIDTH, normalization=normalization)
    shared = random.normal(size=(B, S, WIDTH)).astype("float32")
    own = random.normal(size=(B, 2, 3, WIDTH)).astype("float32")
    query = random.normal(size=(B, 2, WIDTH)).astype("float32")
    shared_mask, own_mask = MASK[:, 0], np.array([True, True, False])
    found = layer.look_back_beyond(
        rows(query), layer.project(rows(own)), own_mask, layer.project(shared), shared_mask, 2
    )
    for k in range(2):
        both = layer.project(np.concatenate([shared, own[:, k]], axis=1))
        mask = np.concatenate([shared_mask, np.tile(own_mask, (B, 1))], axis=1)[:, None, :]
        np.testing.assert_allclose(found[k::2], layer(query[:, k : k + 1], both, mask)[:, 0], atol=1e-5)


def test_relu_by_hand():
    scores = np.array([[4.0, -1.0, 2.0, 9.0], [5.0, 5.0, 5.0, 5.0]], "float32")
    mask = np.array([[True, True, True, False], [False] * 4])
    np.testing.assert_allclose(masked_relu(scores, mask), [[4 / 3, 0, 2 / 3, 0], [0] * 4])


def test_dropout_of_weights_in_training_alone():
    layer = made(dropout=0.5)
    memory = layer.project(VALUES)
    whole = layer(QUERY, memory, MASK)
    assert np.abs(layer(QUERY, memory, MASK, training=True) - whole).max() > 0.01
    np.testing.assert_array_equal(layer(QUERY, memory, MASK), whole)


def test_arguments_that_cannot_be():
    with pytest.raises(ValueError, match="4 heads do not divide a width of 6"):
        MultiHeadAttention(6, heads=4)
    with pytest.raises(ValueError, match=r"normalization must be one of softmax, relu, got 'sigmoid'"):
        MultiHeadAttention(6, heads=3, normalization="sigmoid")
