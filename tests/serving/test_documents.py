import math

import pytest

from zoo.serving.documents import parse
from zoo.serving.messages import RefusalError


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"a": [1, 2.5, true, null, "x"]}', {"a": [1, 2.5, True, None, "x"]}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b' \n{"a": 1} and more', {"a": 1}),
        (b'{"a": 1, "a": 2}', {"a": 1}),
        (b'["\\ud83d\\ude00", "\\u0000"]', ["\U0001f600", "\0"]),
        (b'["\\\\ud83d"]', ["\\ud83d"]),
        (b'["\xff"]', ["\udcff"]),
        (b"[18446744073709551615, 18446744073709551616]", [2**64 - 1, 2.0**64]),
        (b"[-Infinity, Infinity]", [-math.inf, math.inf]),
        (b"1" + b"0" * 300, 1e300),
    ],
)
def test_what_is_read(body, value):
    assert parse(body) == value


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "The document is empty"),
        (b" \n\t", "The document is empty. at offset: 3"),
        (b"instances = [1]", "Invalid value. at offset: 0"),
        (b'{"instances": ["a"', "Missing a comma or ']' after an array element. at offset: 18"),
        (b'{"a": [1, {"b": "]"}}', "Missing a comma or ']' after an array element. at offset: 20"),
        (b'{"a": [1]', "Missing a comma or '}' after an object member. at offset: 9"),
        (b"{'a': 1}", "Missing a name for object member. at offset: 1"),
        (b'{"a" 1}', "Missing a colon after a name of object member. at offset: 5"),
        (b'["\xc3\xa9\t"]', "Invalid escape character in string. at offset: 4"),
        (b'["abc', "Missing a closing quotation mark in string. at offset: 5"),
        (b'["\\u12g4"]', "Incorrect hex digit after \\u escape in string. at offset: 2"),
        (b'["\\ud83d"]', "The surrogate pair in string is invalid. at offset: 2"),
        (b"[1e400]", "Number too big to be stored in double."),
        (b"[" * 100_000, "The document is nested too deeply."),
    ],
)
def test_what_is_refused(body, problem):
    with pytest.raises(RefusalError) as caught:
        parse(body)
    assert (caught.value.code, caught.value.message) == ("INVALID_ARGUMENT", f"JSON Parse error: {problem}")
