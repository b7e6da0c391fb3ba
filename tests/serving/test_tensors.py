import json

import numpy as np
import pytest

from zoo.serving import tensors
from zoo.serving.messages import RefusalError

NO_INPUT_Y = "JSON object: does not have named input: y"


def rows(instances, **dtypes):
    return tensors.from_rows({"instances": instances}, instances, dtypes)


def strings(*values):
    array = np.empty(len(values), object)
    array[:] = values
    return array


def message_of(call, *arguments, **options):
    with pytest.raises(RefusalError) as caught:
        call(*arguments, **options)
    return caught.value.message


def test_plain_rows_are_stacked_on_the_first_axis():
    x = rows([[1, 2.5], [3, 4]], x="DT_FLOAT")["x"]
    assert x.dtype == np.float32
    assert x.tolist() == [[1.0, 2.5], [3.0, 4.0]]


def test_named_rows_may_come_in_any_order_of_names():
    columns = rows([{"a": "p", "n": 1}, {"n": 2, "a": {"b64": "/w=="}}], a="DT_STRING", n="DT_INT32")
    assert columns["a"].tolist() == [b"p", b"\xff"]
    assert columns["n"].tolist() == [1, 2]


def test_an_only_input_may_be_named_too():
    assert rows([{"x": 1}], x="DT_INT64")["x"].tolist() == [1]


@pytest.mark.parametrize(
    ("dtype", "value", "kept"),
    [
        ("DT_INT8", 128, -128),
        ("DT_UINT8", -1, 255),
        ("DT_INT16", 40000, -25536),
        ("DT_INT64", 2**63 - 1, 2**63 - 1),
        ("DT_UINT64", 2**64 - 1, 2**64 - 1),
        ("DT_BOOL", True, True),
        ("DT_FLOAT", 1e39, float("inf")),
        ("DT_DOUBLE", 1, 1.0),
    ],
)
def test_numbers_wrap_or_overflow_as_in_tensorflow_serving(dtype, value, kept):
    assert rows([value], x=dtype)["x"].tolist() == [kept]


@pytest.mark.parametrize(
    ("dtype", "value", "problem"),
    [
        ("DT_STRING", 1, "JSON Value: 1 Type: Number is not of expected type: string"),
        ("DT_FLOAT", "a", 'JSON Value: "a" Type: String is not of expected type: float'),
        ("DT_FLOAT", True, "JSON Value: true Type: True is not of expected type: float"),
        ("DT_INT32", 1.0, "JSON Value: 1.0 Type: Number is not of expected type: int32"),
        ("DT_INT32", 2**31, "JSON Value: 2147483648 Type: Number is not of expected type: int32"),
        ("DT_UINT32", -1, "JSON Value: -1 Type: Number is not of expected type: uint32"),
        ("DT_BOOL", 1, "JSON Value: 1 Type: Number is not of expected type: bool"),
        ("DT_STRING", None, "JSON Value: null Type: Null is not of expected type: string"),
        ("DT_STRING", {"b64": "_-8="}, "Unable to base64 decode"),
        ("DT_STRING", {"b64": "Y"}, "Unable to base64 decode"),
    ],
)
def test_a_wrong_value_is_named_with_its_row(dtype, value, problem):
    assert message_of(rows, [value], x=dtype) == (
        f"Failed to process element: 0 of 'instances' list. Error: INVALID_ARGUMENT: {problem}"
    )


@pytest.mark.parametrize(
    ("instances", "problem"),
    [
        (
            [[1, 2], [3]],
            "1 of 'instances' list. Error: INVALID_ARGUMENT: Expecting tensor size: 2 but got: 1",
        ),
        ([[1, 2], [[1, 2]]], "INVALID_ARGUMENT: Expecting shape [2] but got: [1,2]"),
        ([[[1, 2], [3]]], "Encountered list at unexpected size: 1 at level: 1 expected size: 2"),
        ([[1, [2]]], "Encountered list at unexpected level: 1 expected < 1"),
        ([[[1], 2]], "JSON Value: 2 found at incorrect level: 2 in the JSON DOM. Expected at level: 2"),
        ([1, {"x": 1}], "Expecting value/list but got object at item 1 of input list"),
        ([{"x": 1}, 1], "Expecting object but got list at item 1 of input list"),
        ([{"y": 1}], "element: 0 key: y of 'instances' list. Error: INVALID_ARGUMENT: " + NO_INPUT_Y),
        ([{}], "element: 0 of 'instances' list. JSON object: {} keys must be equal to: x"),
    ],
)
def test_rows_that_do_not_fit_together(instances, problem):
    assert message_of(rows, instances, x="DT_FLOAT").endswith(problem)


def test_too_many_axes_are_refused_rather_than_tried():
    deep = 1.0
    for _ in range(200):
        deep = [deep]
    assert message_of(rows, [deep], x="DT_FLOAT").endswith("tensor parsing error: x")
    assert message_of(tensors.from_columns, deep, {"x": "DT_FLOAT"}) == "tensor parsing error: x"


def test_columns_may_differ_in_shape_and_be_empty():
    columns = tensors.from_columns({"a": [], "n": [[1, 2]], "more": 0}, {"a": "DT_STRING", "n": "DT_INT64"})
    assert columns["a"].shape == (0,)
    assert columns["a"].dtype == object
    assert columns["n"].tolist() == [[1, 2]]


def test_one_column_needs_no_name():
    assert tensors.from_columns("a", {"x": "DT_STRING"})["x"].shape == ()
    assert tensors.from_columns([], {"x": "DT_FLOAT"})["x"].shape == (0,)


def test_columns_that_are_missing():
    two = {"a": "DT_STRING", "n": "DT_INT64"}
    assert message_of(tensors.from_columns, {"n": 1}, two) == "Missing named input: a in 'inputs' object."
    assert message_of(tensors.from_columns, [1], two).startswith("inputs is a plain value/list")
    assert message_of(rows, [1], **two).startswith("instances is a plain list")


def test_one_output_has_no_name_and_several_have():
    text, length = strings(b"a", b"\xc3\xa9"), np.array([1, 2])
    assert tensors.to_rows({"text": text}) == ["a", "é"]
    assert tensors.to_columns({"text": text}) == ["a", "é"]
    assert tensors.to_rows({"text": text, "length": length}) == [
        {"text": "a", "length": 1},
        {"text": "é", "length": 2},
    ]
    assert tensors.to_columns({"text": text, "length": length}) == {"text": ["a", "é"], "length": [1, 2]}


def test_outputs_named_bytes_come_as_base64():
    assert tensors.to_rows({"wav_bytes": strings(b"\xff")}) == [{"b64": "/w=="}]
    assert tensors.to_columns({"x_bytes": np.array([1.5], np.float32)}) == [1.5]


def test_bytes_that_are_not_utf8_go_out_as_they_are():
    assert tensors.to_json(tensors.to_rows({"text": strings(b"a\xffb")})) == b'["a\xffb"]'


def test_rows_need_a_common_batch_axis():
    scalar, two, three = np.float32(1), np.zeros(2, np.float32), np.zeros(3, np.float32)
    assert (
        message_of(tensors.to_rows, {"t": np.asarray(scalar)}) == "Tensor name: t has no shape information "
    )
    assert message_of(tensors.to_rows, {"a": two, "b": three}) == (
        "Tensor name: b has inconsistent batch size: 3 expecting: 2"
    )
    assert tensors.to_columns({"a": two, "b": three}) == {"a": [0.0, 0.0], "b": [0.0, 0.0, 0.0]}


def test_floats_are_spelled_as_shortly_as_they_can_be():
    values = np.array([0.1, 1 / 3, 1e-7, 16777216, 1e20, 3.4028235e38], np.float32)
    written = tensors.to_json(tensors.to_columns({"y": values}))
    assert written == b"[0.1, 0.333333343, 1e-07, 16777216.0, 1e+20, 3.40282347e+38]"
    assert np.array_equal(np.array(json.loads(written), np.float32), values)


def test_numbers_beyond_json_are_named():
    special = np.array([np.nan, np.inf, -np.inf], np.float32)
    assert tensors.to_json(tensors.to_columns({"y": special})) == b"[NaN, Infinity, -Infinity]"


def test_half_floats_cannot_be_written_or_read():
    assert message_of(tensors.to_columns, {"y": np.zeros(1, np.float16)}) == (
        "Failed to write JSON value for tensor type: half"
    )
    with pytest.raises(RefusalError) as caught:
        tensors.from_columns([1.0], {"x": "DT_HALF"})
    assert caught.value.code == "UNIMPLEMENTED"
