"""Whether the requests that warm a server up can be made."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import tensorflow as tf

from zoo.verify.layout import WARMUP
from zoo.verify.report import Rule
from zoo.verify.servable import Ask

__all__ = ["RULES", "WarmUp"]

MOST = 1000
"""TensorFlow Serving refuses a file with more records."""


class WarmUp(NamedTuple):
    """What the check of the warm-up requests looks at.

    Attributes:
        path: folder of the export.
        name: that the model is served under, as the manifest has it.
        signatures: as the manifest has them.
        ask: asks the export in the way that a server does.
    """

    path: Path
    name: str
    signatures: Mapping[str, Any]
    ask: Ask


def _requests(path: Path) -> list[Any]:
    try:
        from tensorflow_serving.apis import prediction_log_pb2
    except ImportError as error:
        raise ImportError(
            f"Not run, since tensorflow_serving.apis cannot be imported here ({error}). Install it with: "
            f"pip install --no-deps 'tensorflow-serving-api~={tf.__version__}'."
        ) from error
    records = tf.data.TFRecordDataset(str(path / WARMUP)).as_numpy_iterator()
    return [prediction_log_pb2.PredictionLog.FromString(record).predict_log.request for record in records]


def _useless_requests(warm_up: WarmUp) -> Iterator[str]:
    requests = _requests(warm_up.path)
    if len(requests) > MOST:
        yield f"There are {len(requests)} requests, more than the {MOST} that a server takes."
    for name in sorted(
        warm_up.signatures.keys() - {request.model_spec.signature_name for request in requests}
    ):
        yield f"There is no request for the signature {name}."
    for number, request in enumerate(requests):
        spec = request.model_spec
        if spec.name != warm_up.name:
            yield f"Request {number} is for the model {spec.name!r}, expected {warm_up.name!r}."
        if spec.signature_name not in warm_up.signatures:
            yield f"Request {number} is for the signature {spec.signature_name!r}, which the model lacks."
            continue
        expected = warm_up.signatures[spec.signature_name]["inputs"]
        found = {key: tf.as_dtype(tensor.dtype).name for key, tensor in request.inputs.items()}
        if found != {key: form["dtype"] for key, form in expected.items()}:
            yield f"Request {number} gives {spec.signature_name} the inputs {found}, expected {expected}."
            continue
        warm_up.ask(
            spec.signature_name, {key: tf.make_ndarray(value) for key, value in request.inputs.items()}
        )


RULES = (
    Rule(
        "warm-up",
        "there are requests for every signature, and all can be answered",
        "Otherwise a server refuses the version, or its first users wait: export again.",
        _useless_requests,
    ),
)
"""For a `WarmUp`."""
