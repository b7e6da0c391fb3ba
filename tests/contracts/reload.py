"""Run in a process of its own: load models knowing nothing but the zoo, and write what they answer."""

import sys
from pathlib import Path

import keras
import numpy as np

import zoo  # noqa: F401

for file in sorted(Path(sys.argv[1]).glob("*.keras")):
    model = keras.models.load_model(file)
    with np.load(file.with_suffix(".inputs.npz")) as inputs:
        answers = model({name: inputs[name] for name in inputs})
    leaves = [keras.ops.convert_to_numpy(leaf) for leaf in keras.tree.flatten(answers)]
    np.savez(file.with_suffix(".answers.npz"), *leaves)
