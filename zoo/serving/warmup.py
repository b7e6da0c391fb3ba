"""Replays the requests that an export brings along, so that the first real one is not slow."""

import logging

import tensorflow as tf
from tensorflow_serving.apis.prediction_log_pb2 import PredictionLog

from zoo.serving.folders import BrokenVersionError
from zoo.serving.loader import Runner

__all__ = ["replay"]

_log = logging.getLogger(__name__)
_FILE = "assets.extra/tf_serving_warmup_requests"
_REMEDY = (
    "write the warm-up records again: a TFRecord of PredictionLog messages whose predict_log requests succeed"
)


def replay(servable: Runner, *, times: int = 1) -> int:
    """Run the Predict records of a version's warm-up file, one after another; returns how many there were.

    Args:
        times: how often each is run.

    Raises:
        BrokenVersionError: the file cannot be read, holds another kind of record, or a request fails.
    """
    path = servable.path / _FILE
    if not path.is_file():
        return 0
    count = 0
    try:
        for record in tf.data.TFRecordDataset(str(path)).as_numpy_iterator():
            log = PredictionLog.FromString(record)
            for _ in range(times):
                _replay(servable, log)
            count += 1
    except Exception as error:
        # The cause may be the file, protobuf or the graph; each makes the version unfit in the same way.
        reason = f"record {count} of {_FILE} failed ({error})"
        raise BrokenVersionError(servable.path, reason, _REMEDY) from error
    _log.info("%s: replayed %d warm-up records", servable.path, count)
    return count


def _replay(servable: Runner, log: PredictionLog) -> None:
    kind = log.WhichOneof("log_type")
    if kind != "predict_log":
        raise ValueError(f"expected a predict_log, got {kind}")
    request = log.predict_log.request
    signature = servable.signatures[request.model_spec.signature_name or "serving_default"]
    inputs = {name: tf.make_ndarray(proto) for name, proto in request.inputs.items()}
    for name in request.output_filter:
        if name not in signature.outputs:
            raise ValueError(f"it asks for the output {name!r}, expected {sorted(signature.outputs)}")
    servable.run(signature, inputs, list(request.output_filter) or list(signature.outputs))
