"""What every model promises that gives labels or numbers; laws 5 and 6 in their sense."""

import inspect
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf
from label_cases import LABEL_MODELS, OF_TEXTS, SOURCE
from precision import assert_same_argmax

from zoo.masking import check_masking

POLICIES = ("float32", "mixed_float16", "mixed_bfloat16")
pytestmark = pytest.mark.filterwarnings("error::UserWarning")

PRESENT = SOURCE != 0

each_case = pytest.mark.parametrize("case", LABEL_MODELS.values(), ids=LABEL_MODELS.keys())
each_policy = pytest.mark.parametrize("policy", POLICIES)


def call(model, source, **kwargs):
    return model({"source": tf.convert_to_tensor(source)}, **kwargs)


def numbers(outputs):
    return tf.cast(outputs, tf.float32).numpy()


def gradients(model, source):
    """Of one number that all outputs move, to every weight."""
    with tf.GradientTape() as tape:
        outputs = tf.cast(call(model, source), tf.float32)
        total = tf.reduce_sum(outputs**2 * tf.range(1.0, 1.0 + outputs.shape[-1]))
    found = tape.gradient(total, [weight.value for weight in model.trainable_variables])
    return outputs, list(map(tf.convert_to_tensor, found))


def own_arguments(layer):
    """The names that the zoo's own constructors take, but for a layer that is another part's."""
    own = [one for one in layer.__mro__ if one.__module__.startswith("zoo.")]
    names = {name for one in own for name in inspect.signature(one.__init__).parameters}
    return names - {"self", "args", "kwargs", "embedding"}


def padded(source, more):
    return np.pad(source, [(0, 0), (0, more), *[(0, 0)] * (source.ndim - 2)])


def lengthened(outputs, case, more):
    """Outputs for sources with more padding: there are zeros, if each position has its own."""
    return np.pad(outputs, [(0, 0), (0, more), (0, 0)]) if len(case.shape) == 2 else outputs


@each_case
def test_configuration_holds_every_argument(case):
    model = case.build("mixed_bfloat16")
    config = model.get_config()
    again = type(model).from_config(config)
    assert again.get_config() == config
    assert own_arguments(type(model.encoder)) <= model.encoder.get_config().keys()
    assert again.dtype_policy.name == again.encoder.dtype_policy.name == "mixed_bfloat16"
    assert [(w.shape, w.dtype) for w in again.weights] == [(w.shape, w.dtype) for w in model.weights]
    assert keras.saving.get_registered_name(type(model)) == f"zoo>{type(model).__name__}"
    assert config["dropout"] == 0.2
    assert config.get("classes", 3) == 3


@each_case
def test_weights_are_there_from_the_start_and_a_call_adds_none(case):
    model = case.build("float32")
    before = len(model.weights)
    call(model, case.source)
    assert len(model.weights) == before > 0


@each_case
@pytest.mark.parametrize("sources", [4, 1, 0])
def test_axes(case, sources):
    assert call(case.make(), case.source[:sources]).shape == (sources, *case.shape)


@each_case
def test_law_5_parity_of_one_call_and_one_source_at_a_time(case):
    """Each source in its own length, without any padding."""
    model = case.make()
    whole = numbers(call(model, case.source))
    for row, (source, present) in enumerate(zip(case.source, PRESENT, strict=True)):
        alone = numbers(call(model, source[None, present]))
        alone = lengthened(alone, case, (~present).sum())
        np.testing.assert_allclose(alone[0], whole[row], atol=1e-5)
    assert np.abs(whole).max() > 0.3


@each_case
def test_law_6_independence_of_companions_order_and_padding(case):
    model = case.make()
    whole = numbers(call(model, case.source))
    order = [2, 0, 0, 3, 1]
    np.testing.assert_allclose(call(model, case.source[order]), whole[order], atol=1e-5)
    longer = call(model, padded(case.source, 7))
    np.testing.assert_allclose(longer, lengthened(whole, case, 7), atol=1e-5)


@each_case
def test_the_source_matters(case):
    model = case.make()
    changed = case.reads(np.where(SOURCE == 6, 8, SOURCE))  # a token of the first two sources
    moved = np.abs(call(model, changed) - call(model, case.source)).reshape(4, -1).max(axis=1)
    assert (moved[:2] > 1e-3).all()
    assert (moved[2:] == 0).all()


@pytest.mark.parametrize("case", OF_TEXTS.values(), ids=OF_TEXTS.keys())
def test_padding_is_never_seen(case):
    """Whatever stands in the embedding of padding, nothing moves; its gradient is zero."""
    model = case.make()
    whole, found = gradients(model, case.source)
    tables = [place for place, weight in enumerate(model.trainable_variables) if "embedding" in weight.path]
    table, gradient = model.trainable_variables[tables[0]], found[tables[0]]
    assert not np.any(gradient[0])
    assert np.any(gradient[4])
    table.assign(tf.tensor_scatter_nd_update(table.value, [[0]], [tf.fill([table.shape[1]], 1e4)]))
    np.testing.assert_allclose(call(model, case.source), whole, atol=1e-6)


@each_case
def test_gradients_reach_every_weight(case):
    model = case.make()
    for weight, gradient in zip(model.trainable_variables, gradients(model, case.source)[1], strict=True):
        assert np.any(np.abs(gradient) > 1e-7), weight.path


@each_case
def test_dropout_works_in_training_alone(case):
    model = case.make()
    source = case.source
    np.testing.assert_array_equal(call(model, source), call(model, source))
    assert np.abs(call(model, source, training=True) - call(model, source, training=True)).max() > 1e-3


@each_case
@each_policy
def test_finite_in_every_precision(case, policy):
    model = case.make(policy)
    assert call(model, case.source).dtype.name == model.compute_dtype
    outputs, found = gradients(model, case.source)
    assert all(np.isfinite(numbers(leaf)).all() for leaf in (outputs, *found))
    exact = numbers(call(case.make(), case.source))
    np.testing.assert_allclose(outputs, exact, atol=0.05 * max(3.0, np.abs(exact).max()))
    if case.shape[-1] > 1:
        assert_same_argmax(numbers(outputs), exact)


@each_case
def test_eager_graph_and_xla_agree(case):
    model = case.make()
    eager = gradients(model, case.source)
    for jit_compile in (False, True):
        traced = tf.function(lambda source: gradients(model, source), jit_compile=jit_compile)
        outputs, found = traced(tf.constant(case.source))
        for leaf, other in zip([outputs, *found], [eager[0], *eager[1]], strict=True):
            np.testing.assert_allclose(leaf, other, rtol=1e-4, atol=1e-5 * max(1.0, np.abs(other).max()))


def taught(case):
    """Labels, weights and loss: classes where there are logits, or numbers; END and padding weigh nothing."""
    reduction = "mean_with_sample_weight"
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=reduction)
    axes = case.shape[:-1]
    labels = np.random.default_rng(0).integers(0, 3, (4, *axes))
    weights = (SOURCE > 3) * 1.0 if axes else np.array([1.0, 1.0, 0.5, 0.0])
    if case.shape[-1] == 1:
        loss, labels = keras.losses.MeanSquaredError(reduction=reduction), labels[..., None]
    return labels, weights, loss


@each_case
def test_a_few_steps_of_fit_lower_the_loss(case):
    keras.utils.set_random_seed(1)
    model = case.build("float32")
    labels, weights, loss = taught(case)
    model.compile(keras.optimizers.Adam(0.02), loss, run_eagerly=True)
    data = {"x": {"source": case.source}, "y": labels, "sample_weight": weights, "verbose": 0}
    before = model.evaluate(**data)
    model.fit(**data, epochs=8)
    assert model.evaluate(**data) < 0.9 * before


@each_case
@each_policy
def test_no_mask_leaks(case, policy):
    model = case.make(policy)
    labels, weights, loss = taught(case)
    model.compile(loss=loss)
    report = check_masking(model, {"source": case.source}, labels=labels, weights=weights)
    assert report.ok, str(report)


@pytest.fixture(scope="module")
def reloaded(tmp_path_factory):
    """What the models answered before they were saved, and what they answered in a new process."""
    folder, before = tmp_path_factory.mktemp("reload"), {}
    for name, case in LABEL_MODELS.items():
        model = case.make()
        before[name] = numbers(call(model, case.source))
        model.save(folder / f"{name}.keras")
        np.savez(folder / f"{name}.inputs.npz", source=case.source)
    script = Path(__file__).with_name("reload.py")
    subprocess.run([sys.executable, str(script), str(folder)], check=True, capture_output=True, timeout=120)
    return before, {name: np.load(folder / f"{name}.answers.npz")["arr_0"] for name in before}


@pytest.mark.parametrize("name", LABEL_MODELS)
def test_answers_the_same_in_a_new_process(reloaded, name):
    before, after = reloaded
    np.testing.assert_allclose(after[name], before[name], atol=1e-6)
