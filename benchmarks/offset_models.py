"""SavedModels so small that many can be written and loaded, whose answers tell which version gave them."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

__all__ = ["HalfPlusOffset", "half_plus", "save"]

X = tf.TensorSpec([None], tf.float32, name="x")


class HalfPlusOffset(tf.Module):
    """y = x / 2 + offset, with its numbers in variables."""

    def __init__(self, offset: float) -> None:
        super().__init__()
        self.half = tf.Variable(0.5)
        self.offset = tf.Variable(offset)

    def __call__(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
        """(B,) to (B,)."""
        return {"y": x * self.half + self.offset}


def half_plus(folder: Path, offset: float) -> Path:
    """Write a version that answers x / 2 + offset."""
    model = HalfPlusOffset(offset)
    return save(folder, model, serving_default=(model, [X]))


def save(
    folder: Path, module: tf.Module, **signatures: tuple[Callable[..., Any], Sequence[tf.TensorSpec]]
) -> Path:
    """Write a version beside its place, then rename it, as exporters should.

    Args:
        folder: the version's place; what is there goes.
        module: what the functions use.
        signatures: name to function and the specs of what it takes.
    """
    unfinished = folder.parent / f"unfinished-{folder.name}"
    functions = {
        name: tf.function(function, autograph=False).get_concrete_function(
            **{spec.name: spec for spec in specs}
        )
        for name, (function, specs) in signatures.items()
    }
    tf.saved_model.save(module, str(unfinished), signatures=functions)
    if folder.exists():
        shutil.rmtree(folder)
    unfinished.rename(folder)
    return folder
