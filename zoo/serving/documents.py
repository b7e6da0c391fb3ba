"""JSON bytes to Python values, as leniently as TensorFlow Serving reads them.

Beyond JSON: NaN, Infinity and -Infinity; anything after the closing bracket; bytes that are not UTF-8 inside
strings (they become lone surrogates, as with Python's `surrogateescape`). Of keys that come twice the first
counts.
"""

import codecs
import json
import math
import re
from typing import Any

from zoo.serving import messages

__all__ = ["parse"]

_UNTERMINATED = "Unterminated string starting at"
_BAD_HEX = "Invalid \\uXXXX escape"

_PROBLEMS = {
    "Expecting property name enclosed in double quotes": "Missing a name for object member.",
    "Illegal trailing comma before end of object": "Missing a name for object member.",
    "Illegal trailing comma before end of array": "Invalid value.",
    "Expecting ':' delimiter": "Missing a colon after a name of object member.",
    "Expecting value": "Invalid value.",
    _UNTERMINATED: "Missing a closing quotation mark in string.",
    "Invalid control character at": "Invalid escape character in string.",
    "Invalid \\escape": "Invalid escape character in string.",
    _BAD_HEX: "Incorrect hex digit after \\u escape in string.",
}
"""What Python's parser says, in TensorFlow Serving's words."""

_BLANKS = re.compile(r"[ \t\n\r]*")
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
_LONE_SURROGATE = re.compile(
    r"(?<!\\)(?:\\\\)*(\\u[dD][89abAB][0-9a-fA-F]{2})(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
_MOST_DIGITS = 20
"""Digits of the largest integer that 64 bits hold; longer ones are read as doubles."""


def parse(body: bytes) -> Any:
    """The first JSON value of a body.

    Raises:
        RefusalError: INVALID_ARGUMENT with what is wrong and, where it is known, at which byte.
    """
    text = body.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")
    if not text:
        raise messages.PARSE_ERROR(problem="The document is empty")
    start = _BLANKS.match(text).end()  # type: ignore[union-attr]
    if start == len(text):
        raise messages.PARSE_ERROR(problem=f"The document is empty. at offset: {start}")
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise messages.PARSE_ERROR(problem=_explain(error)) from error
    except RecursionError as error:
        raise messages.PARSE_ERROR(problem="The document is nested too deeply.") from error
    lone = _LONE_SURROGATE.search(text, start, end)
    if lone:
        offset = _byte_offset(text, lone.start(1))
        raise messages.PARSE_ERROR(problem=f"The surrogate pair in string is invalid. at offset: {offset}")
    return value


def _explain(error: json.JSONDecodeError) -> str:
    if error.msg == "Expecting ',' delimiter":
        problem = _missing_comma(error)
    else:
        problem = _PROBLEMS.get(error.msg, f"{error.msg}.")
    # Python tells where a string starts and an escape's letter stands; we tell its end and the backslash.
    places = {_UNTERMINATED: len(error.doc), _BAD_HEX: error.pos - 1}
    return f"{problem} at offset: {_byte_offset(error.doc, places.get(error.msg, error.pos))}"


def _byte_offset(text: str, position: int) -> int:
    return len(text[:position].encode("utf-8", "surrogateescape"))


def _missing_comma(error: json.JSONDecodeError) -> str:
    """Python does not say whether a list or an object went on wrongly; the last open bracket tells."""
    still_open: list[str] = []
    for token in _STRING_OR_BRACKET.findall(error.doc, 0, error.pos):
        if token in "[{":
            still_open.append(token)
        elif token in "]}":
            still_open.pop()
    if still_open[-1] == "[":
        return "Missing a comma or ']' after an array element."
    return "Missing a comma or '}' after an object member."


def _first_wins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        found.setdefault(key, value)
    return found


def _read_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise messages.PARSE_ERROR(problem="Number too big to be stored in double.")
    return value


def _read_int(text: str) -> int | float:
    if len(text.lstrip("-")) > _MOST_DIGITS:
        return _read_float(text)
    value = int(text)
    return value if -(2**63) <= value < 2**64 else float(value)


_DECODER = json.JSONDecoder(object_pairs_hook=_first_wins, parse_float=_read_float, parse_int=_read_int)
