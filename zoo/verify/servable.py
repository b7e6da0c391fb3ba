"""Loading an export in the two ways that TensorFlow has, without Keras and without the zoo."""

import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tensorflow as tf

__all__ = ["Ask", "AskError", "Loaded", "ask_loaded", "ask_session", "load_both_ways"]

ABOUT_THE_MAKING = re.compile(
    r"\s|Graph execution error:|Detected at node |<stack traces unavailable>|Node: |Original stack trace for "
)
"""Begins lines of TensorFlow's errors that tell neither what failed nor why."""

SECONDS = 300
"""That a session may take for one batch; a graph that takes longer is one that does not end."""

Ask = Callable[[str, Mapping[str, np.ndarray]], dict[str, np.ndarray]]
"""`ask(signature, inputs)` gives the outputs by name; all arrays begin with the batch."""


class AskError(RuntimeError):
    """A signature was asked and failed; says which, and on how many rows."""


class Loaded(NamedTuple):
    """An export, loaded in both ways."""

    function: Ask
    """Asks through `tf.saved_model.load`."""
    session: Ask
    """Asks through a session, as a server does."""
    seconds: tuple[float, float]
    """That each took to load."""


def load_both_ways(path: Path) -> Loaded:
    """Load an export twice, and measure it."""
    start = time.perf_counter()
    function = ask_loaded(path)
    between = time.perf_counter()
    session = ask_session(path)
    return Loaded(function, session, (between - start, time.perf_counter() - between))


def ask_loaded(path: Path) -> Ask:
    """Load with `tf.saved_model.load`."""
    loaded = tf.saved_model.load(str(path))

    def ask(signature: str, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        outputs = loaded.signatures[signature](**{name: tf.constant(value) for name, value in inputs.items()})
        return {name: value.numpy() for name, value in outputs.items()}

    return _named(ask)


def ask_session(path: Path) -> Ask:
    """Load into a session, as TensorFlow Serving does, and feed and fetch by the names of the tensors."""
    session = tf.compat.v1.Session(graph=tf.Graph())
    with session.graph.as_default():
        meta_graph = tf.compat.v1.saved_model.loader.load(session, ["serve"], str(path))

    def ask(signature: str, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        definition = meta_graph.signature_def[signature]
        feeds = {definition.inputs[name].name: value for name, value in inputs.items()}
        fetches = {name: tensor.name for name, tensor in definition.outputs.items()}
        return session.run(fetches, feeds, tf.compat.v1.RunOptions(timeout_in_ms=1000 * SECONDS))

    return _named(ask)


def _named(ask: Ask) -> Ask:
    """Let errors say what was asked."""

    def named(signature: str, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        try:
            return ask(signature, inputs)
        except Exception as error:
            rows = {name: np.shape(value)[:1] for name, value in inputs.items()}
            first = next(iter(rows.values()), ())
            count = first[0] if first else "no"
            raise AskError(
                f"{signature}, asked {count} rows: {type(error).__name__}: {_said(error)}"
            ) from error

    return named


def _said(error: Exception) -> str:
    """What an error says, without where in somebody's Python the graph was made."""
    if isinstance(error, tf.errors.DeadlineExceededError):
        return f"no answer within {SECONDS} s."
    lines = [line for line in str(error).splitlines() if line.strip() and not ABOUT_THE_MAKING.match(line)]
    return " ".join(line.strip() for line in lines[:2])[:300]
