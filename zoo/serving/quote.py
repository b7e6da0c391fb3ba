"""How TensorFlow Serving quotes a piece of the request in an error message.

It pretty-prints the value, lists on one line, and stops before the first token that would start beyond a
limit, so that a message stays short whatever was sent. Answers are spelled otherwise: `zoo.serving.tensors`.
"""

import json
import math
from collections.abc import Iterator
from typing import Any

__all__ = ["quote", "spell_double"]

_LIMIT = 256
"""Bytes after which no further token is written."""


def quote(value: Any) -> str:
    """A parsed JSON value as it appears in messages, cut at about 256 bytes."""
    written = ""
    for token in _tokens(value, ""):
        if token is None or len(written.encode("utf-8", "surrogatepass")) >= _LIMIT:
            break
        written += token
    return written


def spell_double(value: float) -> str:
    """A finite double in its shortest form: `1.0`, `0.00001`, `1e-7`, `100000000000000000000.0`, `1e21`."""
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    point = len(whole) - leading + int(exponent or 0)
    digits = digits.rstrip("0")
    if not digits:
        return f"{sign}0.0"
    if len(digits) <= point <= 21:
        return f"{sign}{digits}{'0' * (point - len(digits))}.0"
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1}"


def _tokens(value: Any, indent: str) -> Iterator[str | None]:
    """The pieces of a value, each with what stands before it; None where the writer gives up."""
    match value:
        case dict():
            yield "{"
            for index, (key, item) in enumerate(value.items()):
                yield f"{',' if index else ''}\n{indent}    {_spell_string(key)}"
                yield from _prefixed(": ", _tokens(item, indent + "    "))
            yield f"\n{indent}}}" if value else "}"
        case list():
            yield "["
            for index, item in enumerate(value):
                yield from _prefixed(", " if index else "", _tokens(item, indent))
            yield "]"
        case _:
            yield _spell_scalar(value)


def _prefixed(prefix: str, tokens: Iterator[str | None]) -> Iterator[str | None]:
    first = next(tokens)
    yield None if first is None else prefix + first
    yield from tokens


def _spell_scalar(value: Any) -> str | None:
    match value:
        case str():
            return _spell_string(value)
        case float():
            return spell_double(value) if math.isfinite(value) else None
        case _:
            return json.dumps(value)


def _spell_string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
