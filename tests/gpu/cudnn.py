"""On a GPU, training through cuDNN equals training through our scan, and a recipe trains and is exported.

`make test-gpu` runs this file; `make test` does not, since it needs an NVIDIA GPU. Where there is none it
says so, says what was not checked, and ends with the status 1: no GPU is no pass.
"""

import dataclasses
import os
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from recurrent_loops import (
    LAYERS,
    MASKS,
    assert_close,
    inputs_for,
    make,
    operations,
    prediction,
    training_step,
)

from zoo import runs
from zoo.recipes import find
from zoo.tasks.dates import dates

NO_GPU = """TensorFlow finds no GPU on this machine. Nothing was checked of:
{tests}
This needs an NVIDIA GPU, and a driver with which `nvidia-smi` lists it; the libraries of CUDA and cuDNN come
with the extra `gpu` of this package."""
CUDNN = "CudnnRNNV3"
CLOSE = {"atol": 1e-5, "rtol": 1e-5}
each_layer = pytest.mark.parametrize("name", LAYERS)
each_padding = pytest.mark.parametrize("padding", MASKS)


@pytest.fixture(scope="session", autouse=True)
def gpu(request):
    """A GPU that computes in whole float32: TensorFloat-32 would have three decimal digits."""
    if not tf.config.list_logical_devices("GPU"):
        tests = dict.fromkeys(item.originalname for item in request.session.items)
        pytest.exit(NO_GPU.format(tests="\n".join(f"    {test}" for test in tests)), 1)
    tf.config.experimental.enable_tensor_float_32_execution(False)


@each_layer
def test_training_takes_cudnn_and_prediction_does_not(name):
    layer = make(name, "auto")
    assert operations(training_step(layer))[CUDNN] == (4 if "depth 2" in name else 1)
    assert operations(prediction(layer))[CUDNN] == 0


@each_layer
@each_padding
def test_cudnn_equals_the_scan(name, padding):
    mask = MASKS[padding]
    ours, theirs = (training_step(make(name, loop)) for loop in ("scan", "auto"))
    assert_close(theirs(inputs_for(mask), mask), ours(inputs_for(mask), mask), **CLOSE)


@each_layer
def test_cudnn_equals_the_scan_on_a_processor(name):
    mask = MASKS["holes"]
    with tf.device("CPU"):
        expected = training_step(make(name, "scan"))(inputs_for(mask), mask)
    assert_close(training_step(make(name, "auto"))(inputs_for(mask), mask), expected, **CLOSE)


@pytest.mark.parametrize("name", ["lstm", "gru, backward"])
def test_cudnn_equals_the_scan_at_the_size_of_a_model(name):
    random = np.random.default_rng(6)
    inputs = random.normal(size=(64, 40, 256)).astype("float32")
    mask = np.arange(40) < random.integers(0, 41, size=(64, 1))
    mask[::2] = mask[::2, ::-1]
    (expected, gradients), (found, their_gradients) = (
        training_step(make(name, loop, units=128, width=256), 256)(inputs, mask) for loop in ("scan", "auto")
    )
    assert_close(found, expected, **CLOSE)
    for gradient, other in zip(gradients, their_gradients, strict=True):
        assert_close(other, gradient, atol=1e-5 * float(tf.reduce_max(tf.abs(gradient))))


@each_layer
@each_padding
@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision(name, padding, policy):
    mask = MASKS[padding]
    results, gradients = training_step(make(name, "auto", dtype=policy))(inputs_for(mask), mask)
    exact, _ = training_step(make(name, "scan"))(inputs_for(mask), mask)
    assert {leaf.dtype.name for leaf in results} == {policy.removeprefix("mixed_")}
    assert all(np.isfinite(tf.cast(gradient, tf.float32)).all() for gradient in gradients)
    assert_close(results, exact, atol=0.1)


def test_a_recipe_trains_and_its_export_answers_without_a_gpu(tmp_path):
    recipe, task = find("dates"), dates(train_size=20_000)
    recipe = dataclasses.replace(recipe, training=dataclasses.replace(recipe.training, epochs=3))
    run = runs.train(recipe, task, tmp_path / "run")
    assert all(layer.keras_loop for layer in run.predictor.model.encoder.stack.layers[0])
    losses = run.record["history"]["val_loss"]
    assert losses[-1] < losses[0]
    export = runs.export(run, task, tmp_path / "saved_models", figures={})
    assert CUDNN.encode() not in (export / "saved_model.pb").read_bytes()
    without = subprocess.run(
        [sys.executable, "-m", "zoo.verify", str(export)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"},
        capture_output=True,
        text=True,
    )
    assert without.returncode == 0, without.stdout + without.stderr
