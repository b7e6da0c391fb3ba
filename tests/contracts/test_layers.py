"""What every layer of the zoo promises, whatever it computes."""

import inspect

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import tree
from layer_cases import LAYERS, MASK
from precision import assert_same_argmax

import zoo.layers

pytestmark = pytest.mark.filterwarnings("error::UserWarning")

POLICIES = ("float32", "mixed_float16", "mixed_bfloat16", "float16")

each_case = pytest.mark.parametrize("case", LAYERS.values(), ids=LAYERS.keys())
each_case_that_learns = pytest.mark.parametrize(
    "case", [pytest.param(case, id=name) for name, case in LAYERS.items() if case.learns]
)


def make(case, **kwargs):
    keras.utils.set_random_seed(0)
    layer = case.layer(**case.arguments, **kwargs)
    case.build(layer)
    case.run(layer, case.inputs)
    return layer


def total(structure):
    """One number that every output number moves, each by its own weight."""
    leaves = [tf.reshape(tf.cast(leaf, tf.float32), [-1]) for leaf in tree.flatten(structure)]
    return sum(tf.reduce_sum(leaf * tf.cos(tf.range(tf.size(leaf), dtype=tf.float32))) for leaf in leaves)


def outputs_and_gradients(case, layer, inputs):
    """All outputs, and the gradients of `total` to every weight and to every float that is padded."""
    watched = {name: tree.map_structure(tf.convert_to_tensor, inputs[name]) for name in case.padded}
    with tf.GradientTape() as tape:
        tape.watch(watched)
        outputs = case.run(layer, {**inputs, **watched})
        number = total(outputs)
    gradients = tape.gradient(number, (layer.trainable_variables, watched), unconnected_gradients="zero")
    return tree.flatten(outputs), *(list(map(tf.convert_to_tensor, tree.flatten(g))) for g in gradients)


def assert_all_close(found, expected, **tolerance):
    for leaf, other in zip(tree.flatten(found), tree.flatten(expected), strict=True):
        np.testing.assert_allclose(tf.cast(leaf, tf.float32), tf.cast(other, tf.float32), **tolerance)


def test_the_table_has_every_layer_and_varies_every_argument():
    public = [getattr(zoo.layers, name) for name in zoo.layers.__all__]
    layers = {one for one in public if isinstance(one, type) and issubclass(one, keras.layers.Layer)}
    layers -= {base for one in layers for base in one.__mro__[1:]}
    assert layers <= {case.layer for case in LAYERS.values()}
    for layer in layers:
        takes = inspect.signature(layer).parameters.values()
        own = {one.name: one.default for one in takes if layer.__init__.__module__.startswith("zoo.")}
        varied = {
            name
            for case in LAYERS.values()
            for name, value in case.arguments.items()
            if case.layer is layer and value != own.get(name, inspect.Parameter.empty)
        }
        assert own.keys() - {"kwargs"} <= varied, layer


@each_case
def test_configuration_holds_every_argument(case):
    layer = case.layer(**case.arguments, name="its_name", dtype="mixed_bfloat16", trainable=False)
    config = layer.get_config()
    assert case.arguments.items() <= config.items()
    again = case.layer.from_config(config)
    assert again.get_config() == config
    whole = keras.saving.serialize_keras_object(layer)
    assert keras.saving.deserialize_keras_object(whole).get_config() == config
    assert (again.name, again.dtype_policy.name, again.trainable) == ("its_name", "mixed_bfloat16", False)
    assert keras.saving.get_registered_name(case.layer) == f"zoo>{case.layer.__name__}"


@each_case
def test_a_copy_from_its_configuration_computes_the_same(case):
    layer = make(case)
    copy = case.layer.from_config(layer.get_config())
    case.build(copy)
    case.run(copy, case.inputs)
    copy.set_weights(layer.get_weights())
    assert_all_close(case.run(copy, case.inputs), case.run(layer, case.inputs), atol=1e-6)


@each_case
def test_eager_graph_and_xla_agree_on_outputs_and_gradients(case):
    layer = make(case)
    inputs = tree.map_structure(tf.constant, case.inputs)
    eager = outputs_and_gradients(case, layer, inputs)
    for jit_compile in (False, True):
        traced = tf.function(
            lambda inputs: outputs_and_gradients(case, layer, inputs), jit_compile=jit_compile
        )
        assert_all_close(traced(inputs), eager, atol=1e-5)


@each_case
@pytest.mark.parametrize("policy", POLICIES)
def test_finite_in_every_precision(case, policy):
    layer = make(case, dtype=policy)
    outputs, *gradients = outputs_and_gradients(case, layer, case.inputs)
    assert {leaf.dtype.name for leaf in outputs} == {layer.compute_dtype}
    for leaf in tree.flatten((outputs, gradients)):
        assert np.isfinite(tf.cast(leaf, tf.float32)).all()
    full = make(case)
    full.set_weights(layer.get_weights())
    expected = tree.flatten(case.run(full, case.inputs))
    assert_all_close(outputs, expected, atol=0.1)


@pytest.mark.parametrize("policy", POLICIES[1:3])
@pytest.mark.parametrize("name", ["MaxoutReadout", "TiedEmbedding"])
def test_the_greatest_logit_is_the_same_in_every_precision(name, policy):
    case = LAYERS[name]
    logits, exact = (case.run(make(case, dtype=dtype), case.inputs) for dtype in (policy, "float32"))
    assert_same_argmax(tf.cast(logits, tf.float32).numpy(), exact.numpy())


@each_case
def test_gradients_reach_every_weight(case):
    layer = make(case)
    _, gradients, _ = outputs_and_gradients(case, layer, case.inputs)
    assert bool(layer.trainable_variables) == case.learns
    for weight, gradient in zip(layer.trainable_variables, gradients, strict=True):
        expected = weight.path.split("/", 1)[1] not in case.zero_gradients
        assert np.any(np.abs(gradient) > 1e-8) == expected, weight.path


@each_case
def test_padding_is_never_seen(case):
    """Numbers of 10,000 at padding change no output and no gradient, and have none themselves."""
    layer = make(case)
    expected, expected_gradients, _ = outputs_and_gradients(case, layer, case.inputs)

    def mask_of(leaf):
        return np.broadcast_to(MASK.reshape(len(MASK), *[1] * (leaf.ndim - 3), -1, 1), leaf.shape)

    def with_garbage(leaf):
        return np.where(mask_of(leaf), leaf, 1e4).astype("float32")

    garbage = {name: tree.map_structure(with_garbage, case.inputs[name]) for name in case.padded}
    outputs, gradients, to_padded = outputs_and_gradients(case, layer, {**case.inputs, **garbage})
    assert_all_close(outputs, expected, atol=1e-6)
    assert_all_close(gradients, expected_gradients, atol=1e-5)
    for gradient in to_padded:
        assert not np.any(np.asarray(gradient)[~mask_of(gradient)])


@each_case
def test_no_rows(case):
    layer = make(case)
    whole = tree.flatten(case.run(layer, case.inputs))
    none = tree.flatten(case.run(layer, tree.map_structure(lambda leaf: leaf[:0], case.inputs)))
    assert [leaf.shape[1:] for leaf in none] == [leaf.shape[1:] for leaf in whole]
    assert {leaf.shape[0] for leaf in none} == {0}


@each_case_that_learns
def test_a_few_steps_of_fit_lower_the_loss(case):
    class Holder(keras.Model):
        def __init__(self):
            super().__init__()
            self.layer = make(case)

        def call(self, inputs):
            leaves = [inputs[str(i)] for i in range(len(inputs))]
            outputs = case.run(self.layer, tree.pack_sequence_as(case.inputs, leaves))
            return {str(i): leaf for i, leaf in enumerate(tree.flatten(outputs))}

    model = Holder()
    inputs = {str(i): leaf for i, leaf in enumerate(tree.flatten(case.inputs))}
    targets = {name: np.full(leaf.shape, 0.3, "float32") for name, leaf in model(inputs).items()}
    model.compile(keras.optimizers.Adam(0.03), "mse", run_eagerly=True)
    losses = model.fit(inputs, targets, epochs=6, verbose=0).history["loss"]
    assert losses[-1] < 0.9 * losses[0]
