"""The requests that warm a server up: which an export has, and whether they can be made."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import tensorflow as tf

from zoo.verify.layout import WARMUP, Example
from zoo.verify.report import Rule
from zoo.verify.servable import Ask, AskError

__all__ = ["BATCHES", "RULES", "WarmUp", "write_requests"]

BATCHES = (1, 2, 4, 8, 16, 32)
"""Rows of a request: the `allowed_batch_sizes` of the deployment, to which a server fills batches up."""

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


def write_requests(path: Path, model: str, examples: Sequence[Example], question: str) -> None:
    """For each signature its shortest question in batches of each size, its longest in the two extreme ones.

    Nearly all of what warming up takes is the first request to a signature, so that many requests cost little
    more than one; only long questions in large batches do.

    Args:
        path: folder of the export.
        model: name that it is served under.
        examples: of all signatures, one at least of each with a question that is not blank.
        question: name of the input that is the question.
    """
    from tensorflow_serving.apis import prediction_log_pb2

    with tf.io.TFRecordWriter(str(path / WARMUP)) as records:
        for signature in dict.fromkeys(example.signature for example in examples):
            asked = [example.inputs for example in examples if example.signature == signature]
            asked = [inputs for inputs in asked if inputs[question].strip()]
            asked.sort(key=lambda inputs: len(inputs[question]))
            sized = [(asked[0], size) for size in BATCHES]
            for inputs, size in (*sized, (asked[-1], BATCHES[0]), (asked[-1], BATCHES[-1])):
                log = prediction_log_pb2.PredictionLog()
                request = log.predict_log.request
                request.model_spec.name = model
                request.model_spec.signature_name = signature
                for name, value in inputs.items():
                    request.inputs[name].CopyFrom(tf.make_tensor_proto([value] * size))
                records.write(log.SerializeToString())


def _requests(path: Path) -> list[Any]:
    try:
        from tensorflow_serving.apis import prediction_log_pb2
    except ImportError as error:
        raise ImportError(
            f"Not run, since tensorflow_serving.apis cannot be imported here ({error}). Install it with: "
            f"pip install --no-deps 'tensorflow-serving-api~={tf.__version__}'."
        ) from error
    if not (path / WARMUP).is_file():
        raise FileNotFoundError(f"There is no {WARMUP}.")
    records = tf.data.TFRecordDataset(str(path / WARMUP)).as_numpy_iterator()
    logs = [prediction_log_pb2.PredictionLog.FromString(record) for record in records]
    for number, log in enumerate(logs):
        if log.WhichOneof("log_type") != "predict_log":
            raise ValueError(f"Record {number} holds {log.WhichOneof('log_type')}, expected predict_log.")
    return [log.predict_log.request for log in logs]


def _useless_requests(warm_up: WarmUp) -> Iterator[str]:
    requests = _requests(warm_up.path)
    if len(requests) > MOST:
        yield f"There are {len(requests)} requests, more than the {MOST} that a server takes."
    yield from _too_few(warm_up.signatures, requests)
    for number, request in enumerate(requests):
        for fault in _faults(warm_up, request):
            yield f"Request {number} {fault}."


def _faults(warm_up: WarmUp, request: Any) -> Iterator[str]:
    """Why a server would not answer a request, or why that would warm up nothing; what follows its number."""
    spec = request.model_spec
    if spec.name != warm_up.name:
        yield f"is for the model {spec.name!r}, expected {warm_up.name!r}"
    if spec.signature_name not in warm_up.signatures:
        yield f"is for the signature {spec.signature_name!r}, which the model lacks"
        return
    form = warm_up.signatures[spec.signature_name]
    for name in sorted({*request.output_filter} - form["outputs"].keys()):
        yield f"asks {spec.signature_name} for the output {name}, expected {sorted(form['outputs'])}"
    try:
        found = {key: tf.as_dtype(tensor.dtype).name for key, tensor in request.inputs.items()}
        for tensor in request.inputs.values():  # numpy counts a size of -1, a server does not
            tf.TensorShape(tensor.tensor_shape).assert_is_fully_defined()
        rows = {key: tf.make_ndarray(tensor) for key, tensor in request.inputs.items()}
    except (TypeError, ValueError) as error:
        yield f"gives {spec.signature_name} an input that is no tensor ({error})"
        return
    if found != {key: given["dtype"] for key, given in form["inputs"].items()}:
        yield f"gives {spec.signature_name} the inputs {found}, expected {form['inputs']}"
        return
    if len({value.shape[:1] for value in rows.values()}) > 1:
        shapes = {key: value.shape for key, value in rows.items()}
        yield f"gives {spec.signature_name} inputs of unequal numbers of rows: {shapes}"
        return
    try:
        warm_up.ask(spec.signature_name, rows)
    except AskError as error:
        yield f"failed: {error}"


def _too_few(signatures: Mapping[str, Any], requests: Sequence[Any]) -> Iterator[str]:
    """Every signature needs a request of every size of batch."""
    sizes: dict[str, set[int]] = {name: set() for name in signatures}
    for request in requests:
        rows = [
            tensor.tensor_shape.dim[0].size for tensor in request.inputs.values() if tensor.tensor_shape.dim
        ]
        sizes.setdefault(request.model_spec.signature_name, set()).update(rows)
    for name in sorted(signatures):
        missing = [str(size) for size in BATCHES if size not in sizes[name]]
        if missing == [str(size) for size in BATCHES]:
            yield f"There is no request for the signature {name}."
        elif missing:
            yield f"There is no request for the signature {name} with {', '.join(missing)} rows."


RULES = (
    Rule(
        "warm-up",
        "there are requests for every signature and size of batch, and all can be answered",
        "Otherwise a server refuses the version, or its first users wait: export again.",
        _useless_requests,
    ),
)
"""For a `WarmUp`."""
