"""JSON to tensors and back, in rows (`instances`) or in columns (`inputs`), as TensorFlow Serving does it.

Tensors are numpy arrays; strings are object arrays of bytes. In JSON, bytes that need not be text come as
`{"b64": "..."}`; they go out so from outputs whose name ends in `_bytes`.
"""

import base64
import binascii
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from zoo.serving import messages
from zoo.serving.messages import RefusalError
from zoo.serving.quote import quote

__all__ = ["from_columns", "from_rows", "to_columns", "to_json", "to_rows"]

_MOST_AXES = 32
"""Axes that a numpy array can have in every release that we run on."""


# Values in


def _is_int(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and low <= value <= high


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_base64_object(value: Any) -> bool:
    return type(value) is dict and list(value) == ["b64"] and type(value["b64"]) is str


def _is_text(value: Any) -> bool:
    return type(value) is str or _is_base64_object(value)


def _read_text(value: Any) -> bytes:
    return _encode(value) if type(value) is str else _decode_base64(value["b64"])


def _same(value: Any) -> Any:
    return value


class _Type(NamedTuple):
    """How values of a dtype are told, read and kept.

    Attributes:
        name: the dtype as messages call it.
        accepts: whether a JSON value can stand for it.
        read: makes a JSON value that was accepted into what the array is filled with.
        wide: the dtype in which the values are collected; too large ones wrap or overflow from there.
        dtype: the tensor's.
    """

    name: str
    accepts: Callable[[Any], bool]
    read: Callable[[Any], Any]
    wide: Any
    dtype: Any


_INT32 = _is_int(-(2**31), 2**31 - 1)

_TYPES = {
    "DT_STRING": _Type("string", _is_text, _read_text, object, object),
    "DT_FLOAT": _Type("float", _is_number, float, np.float64, np.float32),
    "DT_DOUBLE": _Type("double", _is_number, float, np.float64, np.float64),
    "DT_BOOL": _Type("bool", lambda value: type(value) is bool, _same, np.bool_, np.bool_),
    "DT_INT8": _Type("int8", _INT32, _same, np.int32, np.int8),
    "DT_INT16": _Type("int16", _INT32, _same, np.int32, np.int16),
    "DT_INT32": _Type("int32", _INT32, _same, np.int32, np.int32),
    "DT_INT64": _Type("int64", _is_int(-(2**63), 2**63 - 1), _same, np.int64, np.int64),
    "DT_UINT8": _Type("uint8", _INT32, _same, np.int32, np.uint8),
    "DT_UINT16": _Type("uint16", _INT32, _same, np.int32, np.uint16),
    "DT_UINT32": _Type("uint32", _is_int(0, 2**32 - 1), _same, np.uint32, np.uint32),
    "DT_UINT64": _Type("uint64", _is_int(0, 2**64 - 1), _same, np.uint64, np.uint64),
}


def from_rows(document: Any, instances: Any, dtypes: Mapping[str, str]) -> dict[str, np.ndarray]:
    """The tensors of `instances`, a list with an element per row; axis 0 is the row.

    Args:
        document: the whole request, to be quoted.
        dtypes: input name to dtype, such as `DT_STRING`.

    Raises:
        RefusalError: INVALID_ARGUMENT, naming the element at fault.
    """
    if type(instances) is not list:
        raise messages.INSTANCES_NOT_LIST(value=quote(document))
    if not instances:
        raise messages.NO_INSTANCES(value=quote(document))
    columns = {name: _Column(name, dtype) for name, dtype in dtypes.items()}
    if _is_named(instances[0]):
        for index, row in enumerate(instances):
            _add_named_row(columns, index, row)
    elif len(columns) > 1:
        raise messages.PLAIN_INSTANCES()
    else:
        (column,) = columns.values()
        for index, row in enumerate(instances):
            if _is_named(row):
                raise messages.VALUE_EXPECTED(index=index)
            _add(column, row, f"{index}")
    return {name: column.tensor() for name, column in columns.items()}


def from_columns(inputs: Any, dtypes: Mapping[str, str]) -> dict[str, np.ndarray]:
    """The tensors of `inputs`: an object with a tensor per name, or the tensor itself where there is one.

    Raises:
        RefusalError: INVALID_ARGUMENT, or UNIMPLEMENTED for a dtype that JSON cannot carry.
    """
    if not _is_named(inputs):
        if len(dtypes) > 1:
            raise messages.PLAIN_INPUTS()
        return {name: _tensor(name, inputs, dtype) for name, dtype in dtypes.items()}
    for name in sorted(dtypes):
        if name not in inputs:
            raise messages.MISSING_INPUT(name=name)
    return {name: _tensor(name, inputs[name], dtype) for name, dtype in dtypes.items()}


class _Column:
    """Collects one input over the rows, which must agree in shape."""

    def __init__(self, name: str, dtype: str) -> None:
        self._name = name
        self._dtype = dtype
        self._shape: tuple[int, ...] | None = None
        self._values: list[Any] = []
        self._rows = 0

    def add(self, row: Any) -> None:
        shape = _shape_of(row)
        if len(shape) >= _MOST_AXES:
            raise messages.BAD_TENSOR(name=self._name)
        if self._shape is None:
            self._shape = shape
        if math.prod(shape) != math.prod(self._shape):
            raise messages.SIZE_DIFFERS(expected=math.prod(self._shape), size=math.prod(shape))
        if shape != self._shape:
            raise messages.SHAPE_DIFFERS(expected=_spell_shape(self._shape), shape=_spell_shape(shape))
        _fill(self._values, row, shape, 0, self._dtype)
        self._rows += 1

    def tensor(self) -> np.ndarray:
        return _array(self._values, (self._rows, *(self._shape or ())), self._dtype)


def _is_named(value: Any) -> bool:
    return type(value) is dict and not _is_base64_object(value)


def _add_named_row(columns: Mapping[str, _Column], index: int, row: Any) -> None:
    if not _is_named(row):
        raise messages.OBJECT_EXPECTED(index=index)
    for name, value in row.items():
        where = f"{index} key: {name}"
        if name not in columns:
            error = messages.NO_SUCH_INPUT(name=name)
            raise messages.BAD_ELEMENT(where=where, code=error.code, message=error.message)
        _add(columns[name], value, where)
    if row.keys() != columns.keys():
        raise messages.KEYS_DIFFER(index=index, value=quote(row), names=",".join(sorted(columns)))


def _add(column: _Column, value: Any, where: str) -> None:
    try:
        column.add(value)
    except RefusalError as error:
        raise messages.BAD_ELEMENT(where=where, code=error.code, message=error.message) from error


def _tensor(name: str, value: Any, dtype: str) -> np.ndarray:
    shape = _shape_of(value)
    if len(shape) > _MOST_AXES:
        raise messages.BAD_TENSOR(name=name)
    values: list[Any] = []
    _fill(values, value, shape, 0, dtype)
    return _array(values, shape, dtype)


def _shape_of(value: Any) -> tuple[int, ...]:
    """The lengths of the first list at each level; the others must agree, which filling finds out."""
    shape = []
    while type(value) is list:
        shape.append(len(value))
        value = value[0] if value else None
    return tuple(shape)


def _spell_shape(shape: Sequence[int]) -> str:
    return f"[{','.join(map(str, shape))}]"


def _fill(values: list[Any], value: Any, shape: tuple[int, ...], level: int, dtype: str) -> None:
    """Append the leaves below a value, in order."""
    if type(value) is not list:
        if level != len(shape):
            raise messages.VALUE_LEVEL(value=quote(value), level=level + 1, rank=len(shape))
        values.append(_read(value, dtype))
        return
    if level >= len(shape):
        raise messages.LIST_LEVEL(level=level, rank=len(shape))
    if len(value) != shape[level]:
        raise messages.LIST_SIZE(size=len(value), level=level, expected=shape[level])
    for item in value:
        _fill(values, item, shape, level + 1, dtype)


def _read(value: Any, dtype: str) -> Any:
    kind = _TYPES.get(dtype)
    if kind is None:
        raise messages.UNSUPPORTED_TYPE(value=quote(value), expected=dtype.removeprefix("DT_").lower())
    if not kind.accepts(value):
        raise messages.WRONG_TYPE(value=quote(value), kind=_kind(value), expected=kind.name)
    return kind.read(value)


_KINDS = {
    bool: "",
    int: "Number",
    float: "Number",
    str: "String",
    list: "Array",
    dict: "Object",
    type(None): "Null",
}


def _kind(value: Any) -> str:
    return _KINDS[type(value)] or str(value)


def _array(values: list[Any], shape: tuple[int, ...], dtype: str) -> np.ndarray:
    kind = _TYPES[dtype]
    with np.errstate(over="ignore"):
        flat = np.empty(len(values), kind.wide)
        flat[:] = values
        return flat.astype(kind.dtype).reshape(shape)


# Values out


def to_rows(outputs: Mapping[str, np.ndarray]) -> list[Any]:
    """The `predictions`: a list with an element per row, an object where there are several outputs.

    Raises:
        RefusalError: INVALID_ARGUMENT, an output lacks the batch axis or disagrees about its length.
    """
    sizes = {}
    for name, tensor in outputs.items():
        if not tensor.ndim:
            raise messages.NO_BATCH_AXIS(name=name)
        sizes[name] = len(tensor)
        expected = next(iter(sizes.values()))
        if sizes[name] != expected:
            raise messages.BATCH_DIFFERS(name=name, size=sizes[name], expected=expected)
    columns = {name: _plain(name, tensor) for name, tensor in outputs.items()}
    if len(columns) == 1:
        return next(iter(columns.values()))
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def to_columns(outputs: Mapping[str, np.ndarray]) -> Any:
    """The `outputs`: an object with a tensor per name, or the tensor itself where there is one."""
    columns = {name: _plain(name, tensor) for name, tensor in outputs.items()}
    return next(iter(columns.values())) if len(columns) == 1 else columns


def to_json(document: Any, *, indent: int | None = None) -> bytes:
    """A document as bytes. Strings that were not UTF-8 go out as the bytes they were."""
    return _encode(json.dumps(document, ensure_ascii=False, indent=indent))


def _plain(name: str, tensor: np.ndarray) -> Any:
    """A tensor as nested lists of what JSON knows."""
    if tensor.dtype == object:
        write = _encode_base64 if name.endswith("_bytes") else _write_text
        return _map(tensor, write)
    if tensor.dtype == np.float32:
        return _map(tensor, _round_float)
    if tensor.dtype.kind in "biu" or tensor.dtype == np.float64:
        return tensor.tolist()
    raise messages.UNWRITABLE_TYPE(kind={"float16": "half"}.get(tensor.dtype.name, tensor.dtype.name))


def _map(tensor: np.ndarray, write: Callable[[Any], Any]) -> Any:
    flat = np.empty(tensor.size, object)
    flat[:] = [write(value) for value in tensor.ravel().tolist()]
    return flat.reshape(tensor.shape).tolist()


def _round_float(value: float) -> float:
    """The shortest of 6 or 9 significant digits that gives the same 32-bit float."""
    short = float(f"{value:.6g}")
    return short if np.float32(short) == np.float32(value) else float(f"{value:.9g}")


def _write_text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def _encode_base64(value: bytes) -> dict[str, str]:
    return {"b64": base64.b64encode(value).decode("ascii")}


def _decode_base64(text: str) -> bytes:
    """Blanks and missing padding are accepted, padding at the wrong place is not."""
    letters = re.sub(r"\s", "", text)
    bare = letters.rstrip("=")
    if len(letters) != len(bare) and len(letters) % 4:
        raise messages.BAD_BASE64()
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise messages.BAD_BASE64() from error


def _encode(text: str) -> bytes:
    """A parsed string as bytes: lone surrogates that stand for raw bytes become these again."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return b"".join(_encode_character(character) for character in text)


def _encode_character(character: str) -> bytes:
    errors = "surrogateescape" if "\udc80" <= character <= "\udcff" else "surrogatepass"
    return character.encode("utf-8", errors)
