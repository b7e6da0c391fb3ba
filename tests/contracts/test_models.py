"""The laws that every generating model obeys; their numbers are those of `zoo.decoders.protocol`'s order."""

import functools

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import tree
from model_cases import MODELS, SOURCE_VOCAB_SIZE
from precision import assert_same_argmax

from zoo.decoders import Beam, Greedy, decode, score

START = 1
WIDTH, LENGTH = 3, 4
POLICIES = ("float32", "mixed_float16", "mixed_bfloat16")
pytestmark = pytest.mark.filterwarnings("error::UserWarning")

each_policy = pytest.mark.parametrize("policy", POLICIES)


@pytest.fixture(scope="module", params=MODELS.values(), ids=MODELS.keys())
def case(request):
    return request.param


@pytest.fixture(scope="module")
def models(case):
    """The model of a case by its precision; tests that change a model make their own."""
    return functools.cache(lambda policy: case.make(dtype=policy))


@pytest.fixture(scope="module")
def model(models):
    return models("float32")


each_representative = pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=name) for name, case in MODELS.items() if case.representative],
    scope="module",
)


def call(case, model, **changed):
    return model({"source": case.source, "target_ids": case.target_ids, **changed})


def form(structure):
    return [(tuple(leaf.shape), leaf.dtype) for leaf in tree.flatten(structure)]


def numbers(structure):
    return [tf.cast(leaf, tf.float32).numpy() for leaf in tree.flatten(structure)]


def assert_equal(found, expected, atol=1e-5):
    for leaf, other in zip(numbers(found), numbers(expected), strict=True):
        np.testing.assert_allclose(leaf, other, atol=atol)


def test_configuration_holds_every_argument(case):
    model = case.make(name="its_name", dtype="mixed_bfloat16")
    config = model.get_config()
    assert case.arguments.items() <= config.items()
    for name, (_, arguments) in case.parts.items():
        assert arguments.items() <= getattr(model, name).get_config().items()
    again = case.model.from_config(config)
    assert again.get_config() == config
    assert form(again.weights) == form(model.weights)
    assert (again.name, again.dtype_policy.name) == ("its_name", "mixed_bfloat16")


def test_weights_are_there_from_the_start_and_a_call_adds_none(case):
    model = case.new()
    before = len(model.weights)
    assert before > 0
    call(case, model)
    decode(model, case.source, Greedy(), max_length=2)
    assert len(model.weights) == before


@pytest.mark.parametrize("sources", [4, 0])
def test_law_1_axes(case, model, sources):
    source = case.source[:sources]
    memory = model.encode(source)
    assert {shape[0] for shape, _ in form(memory)} == {sources}
    state = model.init_state(memory, WIDTH, LENGTH)
    assert {shape[:2] for shape, _ in form(state)} == {(sources, WIDTH)}
    logits, state = model.step(tf.fill([sources, WIDTH], START), tf.constant(0), state, memory)
    assert logits.shape == (sources, WIDTH, model.vocab_size)
    assert {shape[:2] for shape, _ in form(state)} == {(sources, WIDTH)}
    logits = model({"source": source, "target_ids": case.target_ids[:sources]})
    assert logits.shape == (sources, case.target_ids.shape[1], model.vocab_size)
    decoded = decode(model, source, Beam(WIDTH), max_length=LENGTH)
    assert decoded.token_ids.shape == (sources, WIDTH, LENGTH)


def test_law_2_memory_is_constant_and_never_tiled(case, model):
    """In the graph of a step, no operation that copies or picks rows reads a memory, or a view of one."""
    memory = model.encode(case.source)
    state = model.init_state(memory, WIDTH, LENGTH)
    before = numbers(memory)

    @tf.function
    def step(token_ids, state, memory):
        return model.step(token_ids, tf.constant(0), state, memory)

    concrete = step.get_concrete_function(tf.fill([4, WIDTH], START), state, memory)
    leaves = concrete.inputs[1 + len(tree.flatten(state)) :][: len(tree.flatten(memory))]
    reading, views = set(), list(leaves)
    while views:
        for operation in views.pop().consumers():
            reading.add(operation.type)
            if operation.type in ("ExpandDims", "Reshape", "StridedSlice", "Identity", "Cast", "Transpose"):
                views += operation.outputs
    assert reading or not hasattr(model, "alignment")
    assert not reading & {"Tile", "BroadcastTo", "GatherV2", "GatherNd", "ConcatV2", "Pack"}

    model.step(tf.fill([4, WIDTH], START), tf.constant(0), state, memory)
    assert_equal(memory, before, atol=0)


@each_policy
def test_law_3_fixed_form_of_the_state(case, models, policy):
    model = models(policy)
    memory = model.encode(case.source)
    before = model.init_state(memory, WIDTH, LENGTH)
    _, after = model.step(tf.fill([4, WIDTH], START), tf.constant(0), before, memory)
    assert type(after) is type(before)
    tree.assert_same_structure(after, before)
    assert form(after) == form(before)


def test_law_4_purity(case, model):
    """A step leaves weights and layers as they were, and gives the same again."""
    memory = model.encode(case.source)
    state = model.init_state(memory, WIDTH, LENGTH)
    token_ids = tf.constant(np.arange(4 * WIDTH).reshape(4, WIDTH) % (model.vocab_size - 3) + 3)
    first = model.step(token_ids, tf.constant(0), state, memory)
    layers = [model, *model._flatten_layers(include_self=False)]
    weights, held = model.get_weights(), [dict(vars(layer)) for layer in layers]

    model.step(token_ids[::-1], tf.constant(1), first[1], memory)
    assert_equal(model.step(token_ids, tf.constant(0), state, memory), first, atol=0)
    assert_equal(model.get_weights(), weights, atol=0)
    for layer, attributes in zip(layers, held, strict=True):
        assert vars(layer).keys() == attributes.keys()
        assert all(value is attributes[name] for name, value in vars(layer).items()), layer


def test_law_5_parity_of_steps_and_one_call(case, model):
    whole = call(case, model).numpy()
    memory = model.encode(case.source)
    length = case.target_ids.shape[1]
    state = model.init_state(memory, 1, length)
    for t in range(length):
        logits, state = model.step(case.target_ids[:, t : t + 1], tf.constant(t), state, memory)
        np.testing.assert_allclose(logits[:, 0], whole[:, t], atol=1e-5)
    assert np.abs(whole).max() > 0.5


def test_law_5_hypotheses_are_independent_of_each_other(case, model):
    """K hypotheses in one step equal K models of one hypothesis."""
    memory = model.encode(case.source)
    tokens = np.random.default_rng(0).integers(3, model.vocab_size, (3, 4, WIDTH))
    together, alone = (
        model.init_state(memory, WIDTH, 3),
        [model.init_state(memory, 1, 3) for _ in range(WIDTH)],
    )
    for t, token_ids in enumerate(tokens):
        logits, together = model.step(token_ids, tf.constant(t), together, memory)
        for k in range(WIDTH):
            other, alone[k] = model.step(token_ids[:, k : k + 1], tf.constant(t), alone[k], memory)
            np.testing.assert_allclose(logits[:, k], other[:, 0], atol=1e-5)


def test_law_6_independence_of_companions_order_and_padding(case, model):
    whole = call(case, model).numpy()
    source, target_ids, order = case.source, case.target_ids, [2, 0, 0, 3, 1]
    variants = [
        ([1], source[1:2, :2]),  # alone, without its padding
        (order, np.pad(source[order], [(0, 0), (0, 7)])),
    ]
    search = Beam(WIDTH, 1.0)
    expected = decode(model, source, search, max_length=LENGTH)
    for rows, variant in variants:
        logits = model({"source": variant, "target_ids": target_ids[rows]})
        np.testing.assert_allclose(logits, whole[rows], atol=1e-5)
        found = decode(model, variant, search, max_length=LENGTH)
        assert_equal(found, [tf.gather(leaf, rows) for leaf in expected])


def test_the_source_matters(case, model):
    changed = np.where(case.source == 6, 8, case.source)  # a token of the first two sources
    moved = np.abs(call(case, model, source=changed) - call(case, model)).max(axis=(1, 2))
    assert (moved[:2] > 1e-3).all()
    assert (moved[2:] == 0).all()


def test_no_look_into_the_future(case, model):
    """A later target token changes no earlier logits."""
    length = case.target_ids.shape[1]
    first = np.arange(1, length)[:, None, None]  # the first token that is changed, of each copy of the batch
    changed = np.where(np.arange(length) >= first, (case.target_ids + 1) % model.vocab_size, case.target_ids)
    copies = [len(first), 1]
    inputs = {"source": np.tile(case.source, copies), "target_ids": changed.reshape(-1, length)}
    moved = np.abs(model(inputs) - np.tile(call(case, model), [*copies, 1])).max(axis=-1)
    for t, by in enumerate(np.split(moved, len(first)), 1):
        assert by[:, :t].max() < 1e-5
        assert by[:, t].max() > 1e-4


def test_padding_is_never_seen(case):
    """Whatever stands in the weights of the padding of a source, nothing moves; their gradient is zero.

    Where source and target share an embedding, PAD in a target and the logit of PAD do read them: left out.
    """
    model = case.make()
    case = case._replace(target_ids=np.maximum(case.target_ids, START))
    whole = call(case, model).numpy()[..., 1:]
    embedding = next(w for w in model.trainable_variables if w.shape[0] == SOURCE_VOCAB_SIZE)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(call(case, model)[..., 1:] ** 2)
    gradient = tf.convert_to_tensor(tape.gradient(total, embedding.value))
    assert not np.any(gradient[0])
    assert np.any(gradient[4])
    embedding.assign(
        tf.tensor_scatter_nd_update(embedding.value, [[0]], [tf.fill([embedding.shape[1]], 1e4)])
    )
    np.testing.assert_allclose(call(case, model)[..., 1:], whole, atol=1e-6)


def test_gradients_reach_every_weight(case, model):
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(tf.nn.log_softmax(call(case, model))[..., 4])
    gradients = tape.gradient(total, [w.value for w in model.trainable_variables])
    for weight, gradient in zip(model.trainable_variables, gradients, strict=True):
        expected = weight.path.split("/", 1)[1] not in case.zero_gradients
        assert np.any(np.abs(tf.convert_to_tensor(gradient)) > 1e-7) == expected, weight.path


def test_dropout_works_in_training_alone(case, model):
    assert_equal(call(case, model), call(case, model), atol=0)
    inputs = {"source": case.source, "target_ids": case.target_ids}
    first, second = model(inputs, training=True), model(inputs, training=True)
    assert np.abs(first - second).max() > 1e-3


@each_policy
def test_finite_in_every_precision(case, models, policy):
    model = models(policy)
    with tf.GradientTape() as tape:
        logits = call(case, model)
        total = tf.reduce_sum(tf.nn.log_softmax(tf.cast(logits, tf.float32))[..., 4])
    gradients = tape.gradient(total, [w.value for w in model.trainable_variables])
    assert all(np.isfinite(tf.convert_to_tensor(gradient)).all() for gradient in gradients)
    assert logits.dtype.name == model.compute_dtype

    logits, full = tf.cast(logits, tf.float32).numpy(), call(case, models("float32")).numpy()
    np.testing.assert_allclose(logits, full, atol=0.25)
    assert_same_argmax(logits, full)

    decoded = decode(model, case.source, Beam(WIDTH), max_length=LENGTH)
    assert np.isfinite(decoded.scores).all()
    assert decoded.scores.dtype == tf.float32


def test_rescoring_gives_the_scores_of_the_search(case, model):
    decoded = decode(model, case.source, Beam(WIDTH, 0.6), max_length=LENGTH)
    rows = tf.reshape(decoded.token_ids, [-1, LENGTH])
    scored = score(model, np.repeat(case.source, WIDTH, axis=0), rows)
    np.testing.assert_allclose(tf.reshape(scored.scores, [-1, WIDTH]), decoded.scores, atol=1e-5)


@each_representative
def test_eager_graph_and_xla_agree(case, model):

    def answers(source, target_ids):
        with tf.GradientTape() as tape:
            logits = model({"source": source, "target_ids": target_ids})
            total = tf.reduce_sum(tf.nn.log_softmax(logits)[..., 4])
        gradients = tape.gradient(total, [w.value for w in model.trainable_variables])
        decoded = decode(model, source, Beam(WIDTH, 1.0), max_length=LENGTH)
        return logits, list(map(tf.convert_to_tensor, gradients)), decoded

    eager = answers(case.source, case.target_ids)
    for jit_compile in (False, True):
        traced = tf.function(answers, jit_compile=jit_compile)
        found = traced(tf.constant(case.source), tf.constant(case.target_ids))
        np.testing.assert_array_equal(found[2].token_ids, eager[2].token_ids)
        for leaf, other in zip(numbers(found), numbers(eager), strict=True):
            np.testing.assert_allclose(leaf, other, rtol=1e-4, atol=1e-4)


@each_representative
def test_a_few_steps_of_fit_lower_the_loss(case):
    keras.utils.set_random_seed(1)
    model = case.new()
    labels = np.pad(case.target_ids[:, 1:], [(0, 0), (0, 1)])
    inputs = {"source": case.source, "target_ids": case.target_ids}
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.03), loss, run_eagerly=True)
    losses = model.fit(inputs, labels, sample_weight=(labels > 0) * 1.0, epochs=6, verbose=0).history["loss"]
    assert losses[-1] < 0.9 * losses[0]
