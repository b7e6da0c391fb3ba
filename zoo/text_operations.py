"""The ops of tensorflow-text, for processes that load an export and have no use for Keras."""

import importlib.util
from pathlib import Path

import tensorflow as tf

__all__ = ["register_text_operations"]


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
