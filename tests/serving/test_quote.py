import math

import pytest

from zoo.serving.quote import quote, spell_double


@pytest.mark.parametrize(
    ("value", "spelled"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (1.5, "1.5"),
        (-12.25, "-12.25"),
        (1e20, "100000000000000000000.0"),
        (1e21, "1e21"),
        (1.5e300, "1.5e300"),
        (1e-5, "0.00001"),
        (1e-7, "1e-7"),
        (1.25e-7, "1.25e-7"),
        (0.1, "0.1"),
    ],
)
def test_doubles(value, spelled):
    assert spell_double(value) == spelled
    assert float(spelled) == value


def test_values_are_pretty_printed_with_lists_on_one_line():
    assert quote({"a": [1, [True, None]], "b": {}, "c": {"d": "é\n"}}) == (
        '{\n    "a": [1, [true, null]],\n    "b": {},\n    "c": {\n        "d": "é\\n"\n    }\n}'
    )


def test_a_quotation_ends_before_the_first_token_beyond_256_bytes():
    assert quote(["x" * 400, 1]) == '["' + "x" * 400 + '"'
    assert quote("é" * 10) == '"' + "é" * 10 + '"'
    assert quote(["\ude00\udcff"]) == '["\ude00\udcff"]'
    assert len(quote(list(range(1000)))) < 265


def test_a_quotation_ends_at_what_json_cannot_spell():
    assert quote([1, math.nan, 2]) == "[1"
