"""What the gRPC client writes and reads is what TensorFlow reads and writes."""

import math

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2, types_pb2

from zoo.serving import client_tensors
from zoo.serving.answers import ServingError
from zoo.serving.client_messages import TensorProto

NUMBERS = {
    "DT_FLOAT": [[1.5, -0.25], [math.inf, 2.0**127]],
    "DT_DOUBLE": [[1e300, -0.1]],
    "DT_INT32": [[[2**31 - 1], [-(2**31)]]],
    "DT_INT64": [2**63 - 1, -(2**63)],
    "DT_INT16": [-32768, 32767],
    "DT_INT8": [-128, 127],
    "DT_UINT8": [0, 255],
    "DT_UINT16": [0, 65535],
    "DT_UINT32": [0, 2**32 - 1],
    "DT_UINT64": [0, 2**64 - 1],
    "DT_BOOL": [[True, False], [False, True]],
    "DT_HALF": [0.5, -2.0],
}


def to_tensorflow(proto):
    return tf.make_ndarray(tensor_pb2.TensorProto.FromString(proto.SerializeToString()))


def from_tensorflow(values, dtype, **options):
    made = tf.make_tensor_proto(values, tf.dtypes.DType(types_pb2.DataType.Value(dtype)), **options)
    return TensorProto.FromString(made.SerializeToString())


@pytest.mark.parametrize(("dtype", "rows"), NUMBERS.items())
def test_numbers_arrive_as_they_are(dtype, rows):
    array = to_tensorflow(client_tensors.write("x", rows, dtype))
    assert array.dtype == tf.dtypes.DType(types_pb2.DataType.Value(dtype)).as_numpy_dtype
    assert array.tolist() == rows


@pytest.mark.parametrize(("dtype", "rows"), NUMBERS.items())
def test_numbers_are_read_as_they_are(dtype, rows):
    """As a list of values, in the field where TensorFlow looks for them, and as bytes."""
    packed = client_tensors.write("x", rows, dtype)
    assert packed.tensor_content
    assert client_tensors.read("x", packed) == rows
    array = np.array(rows, tf.dtypes.DType(packed.dtype).as_numpy_dtype)
    flat = array.view(np.uint16) if dtype == "DT_HALF" else array
    listed = TensorProto(dtype=packed.dtype, tensor_shape=packed.tensor_shape)
    getattr(listed, client_tensors._KINDS[dtype].field).extend(flat.reshape(-1).tolist())
    assert to_tensorflow(listed).tolist() == rows
    assert client_tensors.read("x", listed) == rows


@pytest.mark.parametrize("rows", [[], ["a"], ["é", b"\xff", ""], [["a", "b"], ["c", "d"]], [[]], "a"])
def test_strings_arrive_as_they_are(rows):
    array = to_tensorflow(client_tensors.write("x", rows, "DT_STRING"))
    expected = tf.constant(rows, tf.string)
    assert array.shape == expected.shape
    assert array.tolist() == expected.numpy().tolist() if rows != "a" else array.item() == b"a"


@pytest.mark.parametrize("rows", [[], ["a"], [["a", "é"], ["c", ""]], [[], []]])
def test_strings_are_read_as_they_are(rows):
    proto = from_tensorflow(np.array(rows, object).reshape(np.shape(rows)), "DT_STRING")
    assert client_tensors.read("x", proto) == rows


def test_strings_that_are_not_utf8():
    proto = from_tensorflow([b"a\xff"], "DT_STRING")
    assert client_tensors.read("x", proto) == ["a\ufffd"]
    assert client_tensors.read("x_bytes", proto) == [b"a\xff"]


def test_a_scalar_has_no_list_around_it():
    assert client_tensors.read("x", from_tensorflow(7, "DT_INT32")) == 7
    assert to_tensorflow(client_tensors.write("x", 7, "DT_INT32")).shape == ()


def test_one_value_may_stand_for_many():
    for values, expected in (
        ([2.0], [[2.0, 2.0]] * 2),
        ([1.0, 3.0], [[1.0, 3.0], [3.0, 3.0]]),
        ([], [[0, 0]] * 2),
    ):
        proto = TensorProto(dtype=1, float_val=values)
        proto.tensor_shape.dim.extend(from_tensorflow([[0, 0], [0, 0]], "DT_INT32").tensor_shape.dim)
        assert client_tensors.read("x", proto) == expected
        assert to_tensorflow(proto).tolist() == expected


def test_arrays_are_taken_as_lists():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert to_tensorflow(client_tensors.write("x", array, "DT_FLOAT")).tolist() == array.tolist()


@pytest.mark.parametrize(
    ("rows", "dtype", "message"),
    [
        ([[1], [2, 3]], "DT_INT32", "not equally long"),
        ([[1], 2], "DT_INT32", "not equally long"),
        ([1.5], "DT_INT32", "input 'x' is not DT_INT32"),
        ([2**31], "DT_INT32", "input 'x' is not DT_INT32"),
        ([256], "DT_UINT8", "input 'x' is not DT_UINT8"),
        (["1"], "DT_FLOAT", "input 'x' is not DT_FLOAT"),
        ([None], "DT_FLOAT", "input 'x' is not DT_FLOAT"),
        ([1e300], "DT_FLOAT", "input 'x' is not DT_FLOAT"),
        ([1], "DT_BOOL", "input 'x' is not DT_BOOL: it holds 1"),
        ([1], "DT_STRING", "input 'x' is not DT_STRING: it holds 1"),
        (["a\ud83d"], "DT_STRING", "half of a surrogate pair"),
    ],
)
def test_what_does_not_fit(rows, dtype, message):
    with pytest.raises(ServingError, match=message) as caught:
        client_tensors.write("x", rows, dtype)
    assert caught.value.code == "INVALID_ARGUMENT"


def test_a_dtype_that_is_not_known():
    number = types_pb2.DT_COMPLEX64
    assert client_tensors.dtype_name(number) == "DT_8"
    with pytest.raises(ServingError, match="DT_8 are not known") as caught:
        client_tensors.read("x", TensorProto(dtype=number))
    assert caught.value.code == "UNIMPLEMENTED"


def test_the_dtypes_have_tensorflows_numbers():
    for name, kind in client_tensors._KINDS.items():
        assert types_pb2.DataType.Value(name) == kind.number
        assert client_tensors.dtype_name(kind.number) == name
