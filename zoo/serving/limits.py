"""How large a request may be once it is read: its rows, each of its texts, and what a graph makes of them.

How many bytes it may have on the wire is a limit of the two ports.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from tensorflow.core.protobuf.meta_graph_pb2 import SignatureDef

from zoo.serving import messages
from zoo.serving.loader import Runner

__all__ = ["LimitedServable"]

PADDED_BYTES = 2**26
"""Rows times the longest text: graphs pad texts to equal lengths, so one long text makes every row long."""


class LimitedServable:
    """A servable that refuses requests beyond limits; used like `zoo.serving.loader.Servable`.

    Args:
        runner: what answers the others.
        rows: the greatest length of axis 0 of an input.
        text_bytes: the greatest length of a string.
    """

    def __init__(self, runner: Runner, *, rows: int, text_bytes: int) -> None:
        self._runner = runner
        self._rows = rows
        self._text_bytes = text_bytes
        self.path: Path = runner.path
        self.signatures: dict[str, SignatureDef] = runner.signatures

    def run(
        self,
        signature: SignatureDef,
        inputs: Mapping[str, np.ndarray],
        outputs: Sequence[str],
        *,
        timeout: float | None = None,
    ) -> dict[str, np.ndarray]:
        """As `Servable.run`.

        Raises:
            RefusalError: besides what the runner refuses, INVALID_ARGUMENT for too many rows, too
                long a text, or many rows with one that is long.
        """
        for name, tensor in inputs.items():
            if tensor.ndim and len(tensor) > self._rows:
                raise messages.TOO_MANY_ROWS(name=name, rows=len(tensor), limit=self._rows)
            longest = max(map(len, tensor.flat), default=0) if tensor.dtype == object else 0
            if longest > self._text_bytes:
                raise messages.TEXT_TOO_LONG(name=name, size=longest, limit=self._text_bytes)
            if longest * tensor.size > PADDED_BYTES:
                raise messages.TOO_MUCH_PADDING(name=name, rows=tensor.size, size=longest)
        return self._runner.run(signature, inputs, outputs, timeout=timeout)

    def close(self) -> None:
        """Free the memory; the servable answers no more."""
        self._runner.close()
