"""Loading an export in the two ways that TensorFlow has, without Keras and without the zoo."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import tensorflow as tf

__all__ = ["Ask", "ask_loaded", "ask_session"]

Ask = Callable[[str, Mapping[str, np.ndarray]], dict[str, np.ndarray]]
"""`ask(signature, inputs)` gives the outputs by name; all arrays begin with the batch."""


def ask_loaded(path: Path) -> Ask:
    """Load with `tf.saved_model.load`."""
    loaded = tf.saved_model.load(str(path))

    def ask(signature: str, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        outputs = loaded.signatures[signature](**{name: tf.constant(value) for name, value in inputs.items()})
        return {name: value.numpy() for name, value in outputs.items()}

    return ask


def ask_session(path: Path) -> Ask:
    """Load into a session, as TensorFlow Serving does, and feed and fetch by the names of the tensors."""
    session = tf.compat.v1.Session(graph=tf.Graph())
    with session.graph.as_default():
        meta_graph = tf.compat.v1.saved_model.loader.load(session, ["serve"], str(path))

    def ask(signature: str, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        definition = meta_graph.signature_def[signature]
        feeds = {definition.inputs[name].name: value for name, value in inputs.items()}
        return session.run({name: tensor.name for name, tensor in definition.outputs.items()}, feeds)

    return ask
