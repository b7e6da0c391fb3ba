"""Loading an export in the two ways that TensorFlow has, without Keras and without the zoo."""

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import tensorflow as tf

__all__ = ["Ask", "ask_loaded", "ask_session", "register_text_operations"]

Ask = Callable[[str, Mapping[str, np.ndarray]], dict[str, np.ndarray]]
"""`ask(signature, inputs)` gives the outputs by name; all arrays begin with the batch."""


def register_text_operations() -> None:
    """Make the ops of tensorflow-text known to this process.

    Its libraries are loaded one by one, since `import tensorflow_text` would import Keras.

    Raises:
        ImportError: tensorflow-text is not installed.
    """
    spec = importlib.util.find_spec("tensorflow_text")
    if spec is None or spec.origin is None:
        raise ImportError(
            "The graph uses ops of tensorflow-text, which is not installed here. "
            f"Install it with: pip install 'tensorflow-text~={tf.__version__}'."
        )
    for library in sorted((Path(spec.origin).parent / "python").rglob("*.so")):
        tf.load_op_library(str(library))


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
