import numpy as np
import pytest

from zoo.serving.batches import divide, merge, rows_of
from zoo.serving.messages import RefusalError

NAMES = {"x": "serving_default_x:0"}


def request(*rows, dtype=np.float32):
    return {"x": np.array(rows, dtype)}


def test_rows_are_those_of_axis_0():
    assert rows_of({"a": np.zeros((3, 2)), "b": np.zeros(3)}) == 3
    assert rows_of({"a": np.zeros((0, 2))}) == 0


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"a": np.float32(1.0)}, "Batching Run() input tensors must have at least one dimension"),
        (
            {"a": np.zeros(2), "b": np.zeros(3)},
            "Batching Run() input tensors must have equal 0th-dimension size",
        ),
    ],
)
def test_requests_without_common_rows(inputs, message):
    with pytest.raises(RefusalError) as caught:
        rows_of(inputs)
    assert (caught.value.code, caught.value.message) == ("INVALID_ARGUMENT", message)


def test_requests_follow_one_another():
    merged = merge([request(1, 2), request(3)], 3, NAMES, pad=False)
    assert merged["x"].tolist() == [1, 2, 3]
    assert merged["x"].dtype == np.float32


def test_a_batch_is_filled_up_with_the_last_request_s_first_row():
    texts = [request(b"a", dtype=object), request(b"b", b"c", dtype=object)]
    assert merge(texts, 5, NAMES, pad=False)["x"].tolist() == [b"a", b"b", b"c", b"b", b"b"]


def test_unequal_rows_are_refused_or_padded_with_the_first_element():
    requests = [request([7, 8]), request([1, 2, 3], [4, 5, 6])]
    with pytest.raises(RefusalError) as caught:
        merge(requests, 3, NAMES, pad=False)
    assert caught.value.code == "FAILED_PRECONDITION"
    assert "'serving_default_x:0' from different tasks have different shapes" in caught.value.message
    assert merge(requests, 3, NAMES, pad=True)["x"].tolist() == [[7, 8, 7], [1, 2, 3], [4, 5, 6]]
    empty = [{"x": np.zeros((1, 0), np.int64)}, {"x": np.ones((1, 2), np.int64)}]
    assert merge(empty, 2, NAMES, pad=True)["x"].tolist() == [[0, 0], [1, 1]]


def test_unequal_ranks_are_refused_even_with_padding():
    with pytest.raises(RefusalError, match="different ranks"):
        merge([request(1), request([1])], 2, NAMES, pad=True)


def test_outputs_are_taken_apart_and_filling_is_dropped():
    outputs = {"y": np.array([1, 2, 3, 9]), "z": np.array([b"a", b"b", b"c", b"d"], object)}
    first, second = divide(outputs, 4, [1, 2])
    assert (first["y"].tolist(), second["y"].tolist()) == ([1], [2, 3])
    assert (first["z"].tolist(), second["z"].tolist()) == ([b"a"], [b"b", b"c"])


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (np.array(1.0), "Batched output tensor has 0 dimensions"),
        (np.zeros(3), "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension"),
    ],
)
def test_outputs_without_a_row_for_each_row(output, message):
    with pytest.raises(RefusalError, match="FAILED_PRECONDITION") as caught:
        divide({"y": output}, 2, [2])
    assert message in caught.value.message
