"""Puts the tensors of several requests together into one batch, and takes its outputs apart again."""

from collections.abc import Mapping, Sequence

import numpy as np

from zoo.serving import messages

__all__ = ["divide", "merge", "rows_of"]

Tensors = Mapping[str, np.ndarray]


def rows_of(inputs: Tensors) -> int:
    """The rows of a request: the length of axis 0, which all of its tensors share.

    Raises:
        RefusalError: INVALID_ARGUMENT, a tensor is a scalar or has another length.
    """
    if any(tensor.ndim == 0 for tensor in inputs.values()):
        raise messages.NO_ROWS_AXIS()
    lengths = {len(tensor) for tensor in inputs.values()}
    if len(lengths) != 1:
        raise messages.ROWS_DIFFER()
    return lengths.pop()


def merge(requests: Sequence[Tensors], rows: int, tensors: Mapping[str, str], *, pad: bool) -> Tensors:
    """The tensors of all requests, one request after the other.

    Args:
        rows: fill the batch up to so many rows, with copies of the last request's first.
        tensors: input name to the name of its tensor, as errors call it.
        pad: whether trailing axes of unequal length are padded at their end with a tensor's first element.

    Raises:
        RefusalError: FAILED_PRECONDITION, rows of different requests have different shapes.
    """
    return {
        name: _merge([request[name] for request in requests], rows, tensors[name], pad) for name in tensors
    }


def divide(outputs: Tensors, rows: int, sizes: Sequence[int]) -> list[Tensors]:
    """The outputs of each request: its share of every output's rows.

    Args:
        rows: of the batch, those that filled it up included.
        sizes: rows of each request; what follows the last is dropped.

    Raises:
        RefusalError: FAILED_PRECONDITION, an output has no row for each row of the batch.
    """
    for tensor in outputs.values():
        if tensor.ndim == 0:
            raise messages.OUTPUT_WITHOUT_ROWS()
        if len(tensor) != rows:
            raise messages.OUTPUT_ROWS_DIFFER()
    ends = np.cumsum(sizes).tolist()
    return [
        {name: tensor[end - size : end] for name, tensor in outputs.items()}
        for size, end in zip(sizes, ends, strict=True)
    ]


def _merge(parts: list[np.ndarray], rows: int, tensor: str, pad: bool) -> np.ndarray:
    if len({part.ndim for part in parts}) > 1:
        raise messages.ROW_RANKS_DIFFER(name=tensor)
    if len({part.shape[1:] for part in parts}) > 1:
        if not pad:
            raise messages.ROW_SHAPES_DIFFER(name=tensor)
        longest = np.max([part.shape[1:] for part in parts], axis=0)
        parts = [_pad(part, longest) for part in parts]
    missing = rows - sum(len(part) for part in parts)
    if missing:
        parts = [*parts, np.repeat(parts[-1][:1], missing, axis=0)]
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


def _pad(part: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    blank = b"" if part.dtype == object else part.dtype.type(0)
    first = part.flat[0] if part.size else blank
    widths = [
        (0, 0),
        *((0, int(length) - have) for have, length in zip(part.shape[1:], lengths, strict=True)),
    ]
    padded = np.full(
        [have + after for have, (_, after) in zip(part.shape, widths, strict=True)], first, part.dtype
    )
    padded[tuple(slice(have) for have in part.shape)] = part
    return padded
