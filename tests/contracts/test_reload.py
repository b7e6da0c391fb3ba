"""Every layer and model of the zoo is saved, and loaded in a process that imports Keras and the zoo alone."""

import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
from keras import tree
from layer_cases import LAYERS
from model_cases import MODELS

CASES = [*LAYERS, *MODELS]


def functional(case):
    """A model of one layer, its inputs named by number."""
    numbers = iter(range(100))

    def symbol(leaf):
        last = None if leaf.dtype == bool else leaf.shape[-1]
        shape = [*(None if size > 1 else size for size in leaf.shape[1:-1]), last]
        return keras.Input(shape, dtype=leaf.dtype.name, name=f"input_{next(numbers)}")

    layer = case.layer(**case.arguments)
    case.build(layer)
    symbols = tree.map_structure(symbol, case.inputs)
    outputs = layer(**symbols)
    return keras.Model({leaf.name: leaf for leaf in tree.flatten(symbols)}, tree.flatten(outputs))


def models_and_inputs():
    for name, case in LAYERS.items():
        yield name, functional(case), {f"input_{i}": leaf for i, leaf in enumerate(tree.flatten(case.inputs))}
    for name, case in MODELS.items():
        yield name, case.make(), {"source": case.source, "target_ids": case.target_ids}


@pytest.fixture(scope="module")
def reloaded(tmp_path_factory):
    """For each name, what the model answered before it was saved, and what it answered in the new process."""
    folder, before = tmp_path_factory.mktemp("reload"), {}
    for name, model, inputs in models_and_inputs():
        before[name] = [leaf.numpy() for leaf in tree.flatten(model(inputs))]
        model.save(folder / f"{name}.keras")
        np.savez(folder / f"{name}.inputs.npz", **inputs)
    script = Path(__file__).with_name("reload.py")
    subprocess.run([sys.executable, str(script), str(folder)], check=True, capture_output=True, timeout=120)
    after = {}
    for name in before:
        with np.load(folder / f"{name}.answers.npz") as answers:
            after[name] = [answers[key] for key in answers.files]
    return before, after


@pytest.mark.parametrize("name", CASES)
def test_answers_the_same_in_a_new_process(reloaded, name):
    before, after = reloaded
    assert len(before[name]) == len(after[name]) > 0
    for leaf, other in zip(before[name], after[name], strict=True):
        np.testing.assert_allclose(other, leaf, atol=1e-6)
