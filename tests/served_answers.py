"""What a predictor answers in Python, what clients get from a server, and whether that is the same."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from zoo.predictor import Signature
from zoo.serving.client import Client, GrpcClient, RestClient

TOLERANCE = 1e-5


def ask(signature: Signature, inputs: Mapping[str, Sequence[Any]]) -> dict[str, list]:
    """The outputs of a signature, as a client has them."""
    outputs = signature.function(
        **{name: tf.constant(rows, signature.inputs[name].dtype) for name, rows in inputs.items()}
    )
    return {name: _plain(value.numpy().tolist()) for name, value in outputs.items()}


KNOBS = {
    "generate": {
        "width": [0, 2, 1, 99, 0],
        "length_penalty": [-1000.0, 1.0, 0.6, 0.0, -2.0],
        "min_length": [0, 3, 0, 0, 1],
        "max_length": [0, 4, 0, 2, 0],
        "prefix": ["", "", "20", "", "2"],
    },
    "sample": {
        "seed": [0, 1, 2, 3, -4],
        "temperature": [1.0, 0.5, 2.0, 1.0, 0.0],
        "top_k": [0, 3, 0, 0, 1],
        "top_p": [1.0, 1.0, 0.8, 0.5, 1.0],
    },
}
"""What is asked beside the texts, mixed in one batch."""


def knobs_of(signature: str, count: int) -> dict[str, list]:
    """What a signature is asked beside its texts, for so many of them."""
    return {name: (values * count)[:count] for name, values in KNOBS.get(signature, {}).items()}


def clients(server: Any, model: str) -> Iterator[Client]:
    """A client of each kind, one after the other."""
    for client in (RestClient(server.rest_url, model=model), GrpcClient(server.grpc_target, model=model)):
        with client:
            yield client


def assert_same(found: Mapping[str, list], expected: Mapping[str, list], where: str) -> None:
    """Texts equal, numbers within 1e-5 plus 1e-5 of the expected one; `zoo verify` allows only the larger."""
    assert found.keys() == expected.keys(), where
    for name, rows in expected.items():
        if _are_texts(rows):
            assert found[name] == rows, (where, name)
        else:
            np.testing.assert_allclose(
                found[name], rows, atol=TOLERANCE, rtol=TOLERANCE, err_msg=f"{where} {name}"
            )


def assert_same_but_for_padding(found: Mapping[str, list], expected: Mapping[str, list], where: str) -> None:
    """The same, once each is padded as far as the longest row of the other's batch asks for."""
    assert found.keys() == expected.keys(), where
    padded = {name: _padded(found[name], expected[name]) for name in expected}
    assert_same({n: f for n, (f, _) in padded.items()}, {n: e for n, (_, e) in padded.items()}, where)


def _plain(value: Any) -> Any:
    """Nested lists with texts."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.decode("utf-8") if isinstance(value, bytes) else value


def _are_texts(rows: list) -> bool:
    return np.asarray(rows).dtype.kind == "U"


def _padded(*batches: list) -> list[list]:
    arrays = [np.asarray(batch, object if _are_texts(batch) else None) for batch in batches]
    sizes = np.max([array.shape for array in arrays], axis=0)
    return [
        np.pad(
            array,
            [(0, size - own) for size, own in zip(sizes, array.shape, strict=True)],
            constant_values="" if array.dtype == object else 0,
        ).tolist()
        for array in arrays
    ]
