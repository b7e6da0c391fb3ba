"""The one way to tensorflow-text, which not every machine has."""

from importlib import import_module
from typing import Any

import tensorflow as tf

__all__ = ["tensorflow_text"]


@tf.autograph.experimental.do_not_convert
def tensorflow_text(purpose: str, module: str = "tensorflow_text") -> Any:
    """A module of tensorflow-text, imported now that it is needed.

    Args:
        purpose: what needs it, as the error names it.
        module: its full name.

    Raises:
        ImportError: tensorflow-text cannot be imported; says for what, and what does without it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{purpose} needs the package tensorflow-text, which cannot be imported here ({error}). "
            "Install it (it has no build for Windows), or do without: Characters, Words and Bytes with "
            "Normalization('none')."
        ) from error
