"""Nested lists to `TensorProto` and back, without TensorFlow and numpy."""

import struct
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from zoo.serving.answers import ServingError
from zoo.serving.client_messages import Dim, TensorProto
from zoo.serving.client_texts import is_list, to_bytes

__all__ = ["dtype_name", "read", "write"]


class _Kind(NamedTuple):
    """A dtype: its number, the field that a server answers in, and the letter that `struct` has for it."""

    number: int
    field: str
    letter: str


_KINDS: Mapping[str, _Kind] = {
    "DT_FLOAT": _Kind(1, "float_val", "f"),
    "DT_DOUBLE": _Kind(2, "double_val", "d"),
    "DT_INT32": _Kind(3, "int_val", "i"),
    "DT_UINT8": _Kind(4, "int_val", "B"),
    "DT_INT16": _Kind(5, "int_val", "h"),
    "DT_INT8": _Kind(6, "int_val", "b"),
    "DT_STRING": _Kind(7, "string_val", ""),
    "DT_INT64": _Kind(9, "int64_val", "q"),
    "DT_BOOL": _Kind(10, "bool_val", "?"),
    "DT_UINT16": _Kind(17, "int_val", "H"),
    "DT_HALF": _Kind(19, "half_val", "e"),
    "DT_UINT32": _Kind(22, "uint32_val", "I"),
    "DT_UINT64": _Kind(23, "uint64_val", "Q"),
}
_NAMES = {kind.number: name for name, kind in _KINDS.items()}
_TYPES: Mapping[str, tuple[type, ...]] = {"DT_STRING": (str, bytes), "DT_BOOL": (bool,)}
"""What values must be where `struct` does not tell."""


def dtype_name(number: int) -> str:
    """The name of a dtype, such as `DT_STRING`; of one that this client cannot read, `DT_` and its number."""
    return _NAMES.get(number, f"DT_{number}")


def write(name: str, rows: Any, dtype: str) -> Any:
    """A tensor, as a `TensorProto`.

    Args:
        name: the input's name, for what is said of a fault.
        rows: nested lists of equal lengths; what has a `tolist`, as arrays do, is taken at that.
        dtype: such as `DT_STRING`; the values must fit it.

    Raises:
        ServingError: INVALID_ARGUMENT, the rows are ragged or do not fit; UNIMPLEMENTED, the dtype is not
        known.
    """
    kind = _kind(dtype)
    shape, flat = _flatten(name, _plain(rows))
    for value in flat:
        if not isinstance(value, _TYPES.get(dtype, object)):
            raise ServingError("INVALID_ARGUMENT", f"input {name!r} is not {dtype}: it holds {value!r}.")
    proto = TensorProto(dtype=kind.number)
    proto.tensor_shape.dim.extend(Dim(size=size) for size in shape)
    if dtype == "DT_STRING":
        proto.string_val.extend(map(to_bytes, flat))
        return proto
    try:
        proto.tensor_content = struct.pack(f"<{len(flat)}{kind.letter}", *flat)
    except (OverflowError, struct.error) as error:
        raise ServingError("INVALID_ARGUMENT", f"input {name!r} is not {dtype}: {error}.") from error
    return proto


def read(name: str, proto: Any) -> Any:
    """A tensor as nested lists; strings are str, from outputs named `*_bytes` bytes.

    Raises:
        ServingError: UNIMPLEMENTED, its dtype is not known.
    """
    dtype = dtype_name(proto.dtype)
    kind = _kind(dtype)
    shape = [dim.size for dim in proto.tensor_shape.dim]
    flat: list[Any] = list(getattr(proto, kind.field))
    if proto.tensor_content:
        flat = list(struct.unpack(f"<{prod(shape)}{kind.letter}", proto.tensor_content))
    elif dtype == "DT_HALF":
        flat = list(struct.unpack(f"<{len(flat)}e", struct.pack(f"<{len(flat)}H", *flat)))
    # One value, or the last of several, may stand for all that follow.
    zero = b"" if dtype == "DT_STRING" else 0
    flat += [flat[-1] if flat else zero] * (prod(shape) - len(flat))
    if dtype == "DT_STRING" and not name.endswith("_bytes"):
        flat = [value.decode("utf-8", "replace") for value in flat]
    return _nest(flat, shape) if shape else flat[0]


def _kind(dtype: str) -> _Kind:
    if dtype not in _KINDS:
        raise ServingError("UNIMPLEMENTED", f"tensors of {dtype} are not known to this client.")
    return _KINDS[dtype]


def _plain(rows: Any) -> Any:
    """Lists of what may be arrays, or hold some, as nested lists."""
    if hasattr(rows, "tolist"):
        return rows.tolist()
    return [_plain(row) for row in rows] if is_list(rows) else rows


def _flatten(name: str, rows: Any) -> tuple[list[int], list[Any]]:
    """The lengths of nested lists, from the outside in, and all values in order."""
    shape: list[int] = []
    flat: list[Any] = [rows]
    while flat and is_list(flat[0]):
        lengths = {len(item) if is_list(item) else None for item in flat}
        if len(lengths) > 1:
            raise ServingError("INVALID_ARGUMENT", f"the rows of input {name!r} are not equally long.")
        shape.append(len(flat[0]))
        flat = [value for item in flat for value in item]
    return shape, flat


def _nest(flat: list[Any], shape: Sequence[int]) -> list[Any]:
    if len(shape) == 1:
        return flat
    step = prod(shape[1:])
    return [_nest(flat[row * step : (row + 1) * step], shape[1:]) for row in range(shape[0])]
