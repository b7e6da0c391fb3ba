"""Loads a SavedModel as TensorFlow Serving does, into a session, and runs its signatures by tensor name."""

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf.error_codes_pb2 import Code
from tensorflow.core.protobuf.meta_graph_pb2 import MetaGraphDef, SignatureDef
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.framework import op_def_registry
from tensorflow.python.saved_model.loader_impl import SavedModelLoader

from zoo.serving.folders import BrokenVersionError, check
from zoo.serving.messages import RefusalError
from zoo.text_operations import register_text_operations
from zoo.verify.operations import operations, parts_for_xla

__all__ = ["Runner", "Servable", "load"]


THREADS = tf.compat.v1.ConfigProto(
    intra_op_parallelism_threads=1, inter_op_parallelism_threads=os.cpu_count() or 1
)
"""Operations run beside each other, and none in pieces: those of a search are too small to be shared, and a
busy server has requests enough for all cores. TensorFlow Serving has flags for both."""


class Runner(Protocol):
    """What answers for a version: a `Servable`, or something around one."""

    path: Path
    signatures: dict[str, SignatureDef]

    def run(
        self,
        signature: SignatureDef,
        inputs: Mapping[str, np.ndarray],
        outputs: Sequence[str],
        *,
        timeout: float | None = None,
    ) -> dict[str, np.ndarray]:
        """The named outputs of a signature, see `Servable.run`."""

    def close(self) -> None:
        """Free the memory."""


class Servable:
    """One loaded version of a model.

    Attributes:
        path: the version's folder.
        signatures: signature name to `SignatureDef`.
    """

    def __init__(
        self, path: Path, session: tf.compat.v1.Session, signatures: Mapping[str, SignatureDef]
    ) -> None:
        self.path = path
        self.signatures: dict[str, SignatureDef] = dict(signatures)
        self._session = session
        self._tensors = {
            info.name: session.graph.get_tensor_by_name(info.name)._as_tf_output()
            for signature in self.signatures.values()
            for info in (*signature.inputs.values(), *signature.outputs.values())
            if info.name and ":" in info.name
        }

    def run(
        self,
        signature: SignatureDef,
        inputs: Mapping[str, np.ndarray],
        outputs: Sequence[str],
        *,
        timeout: float | None = None,
    ) -> dict[str, np.ndarray]:
        """The named outputs of a signature for all of its inputs.

        Shapes are the graph's affair; strings are object arrays of bytes.

        Args:
            timeout: seconds after which the run is given up; None waits for ever.

        Raises:
            RefusalError: the graph failed; code and message are TensorFlow's own.
        """
        feeds = {self._tensors[signature.inputs[name].name]: value for name, value in inputs.items()}
        fetches = [self._tensors[signature.outputs[name].name] for name in outputs]
        milliseconds = 0 if timeout is None else max(1, int(timeout * 1000))
        try:
            values = _run(self._session, feeds, fetches, milliseconds)
        except tf.errors.OpError as error:
            raise RefusalError(Code.Name(error.error_code), error.message) from error
        except UnicodeDecodeError as error:
            # A kernel quoted an input that is not UTF-8: all that is left of its error is the message.
            message = bytes(error.object).decode("utf-8", "replace")
            raise RefusalError("INVALID_ARGUMENT", message) from error
        return {name: _tensor(value) for name, value in zip(outputs, values, strict=True)}

    def close(self) -> None:
        """Free the memory; the servable answers no more."""
        self._session.close()


def load(path: Path) -> Servable:
    """Load a version.

    Raises:
        BrokenVersionError: it is incomplete, needs what this server lacks, or fails to load.
    """
    meta_graph = check(path)
    _refuse_xla(path, meta_graph)
    _register_ops(path, meta_graph)
    session = tf.compat.v1.Session(graph=tf.Graph(), config=THREADS)
    try:
        with session.graph.as_default():
            # `tf.compat.v1.saved_model.loader.load` does just this, and warns that it is deprecated.
            loaded = SavedModelLoader(str(path)).load(session, ["serve"])
            # A run through the public interface hands the session whatever the loader added last.
            session.run(tf.no_op())
        session.graph.finalize()
        return Servable(path, session, loaded.signature_def)
    except Exception as error:
        # Whatever a foreign graph raises while it loads, the server goes on with the other versions.
        session.close()
        raise BrokenVersionError(path, f"TensorFlow cannot load it ({error})") from error


def _run(
    session: tf.compat.v1.Session, feeds: Mapping[Any, np.ndarray], fetches: list, timeout_ms: int
) -> list:
    """Run a session without `Session.run`'s checks of shapes, which the real server does not make.

    The interface is TensorFlow's private one; this is the only place that knows it.
    """
    options = tf.compat.v1.RunOptions(timeout_in_ms=timeout_ms)
    buffer = pywrap_tf_session.TF_NewBufferFromString(options.SerializeToString())
    try:
        return pywrap_tf_session.TF_SessionRun_wrapper(session._session, buffer, feeds, fetches, [], None)
    finally:
        pywrap_tf_session.TF_DeleteBuffer(buffer)


def _tensor(value: Any) -> np.ndarray:
    """A fetched value as an array; a scalar string comes as bare bytes, which numpy would take for `S`."""
    return np.array(value, dtype=object) if type(value) is bytes else np.asarray(value)


def _refuse_xla(path: Path, meta_graph: MetaGraphDef) -> None:
    """TensorFlow Serving runs with XLA off: what asks for it would load there, and then fail each request or
    run in another way than was meant."""
    for part in parts_for_xla(meta_graph):
        raise BrokenVersionError(
            path,
            f"its graph asks for XLA, which TensorFlow Serving has switched off. {part.removesuffix('.')}",
            "export it from functions without jit_compile=True, and without ops that are made for XLA",
        )


def _register_ops(path: Path, meta_graph: MetaGraphDef) -> None:
    """Load TensorFlow Text's op libraries if the graph needs ops that are not registered yet."""
    if not _unregistered(meta_graph):
        return
    with contextlib.suppress(ImportError):  # what is missing then is told below, by name
        register_text_operations()
    missing = _unregistered(meta_graph)
    if missing:
        raise BrokenVersionError(
            path,
            f"its graph needs ops that are not registered here: {', '.join(sorted(missing))}",
            "install the release of tensorflow and tensorflow-text that it was exported with",
        )


def _unregistered(meta_graph: MetaGraphDef) -> set[str]:
    return {op for op in operations(meta_graph) if op_def_registry.get(op) is None}
