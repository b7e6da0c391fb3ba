"""Where things lie in an export, and how questions and answers are written there."""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["EXTRA", "GOLDEN", "MANIFEST", "WARMUP", "Example", "from_plain", "read_golden", "to_plain"]

EXTRA = "assets.extra"
"""The folder that TensorFlow Serving leaves to the exporter."""

MANIFEST = f"{EXTRA}/zoo.json"
"""What the export is, and the size in bytes of each of its other files."""

GOLDEN = f"{EXTRA}/golden.json"
"""Questions with the answers that the predictor gave before it was exported."""

WARMUP = f"{EXTRA}/tf_serving_warmup_requests"
"""Requests that TensorFlow Serving makes before it calls a version available; the name is the server's."""


class Example(NamedTuple):
    """One question with its answer, without the batch axis.

    Attributes:
        signature: which was asked.
        inputs: by name, numbers or bytes, as Python's or as arrays without axes.
        outputs: by name, arrays of any rank, or bytes; strings are bytes in arrays of dtype object.
    """

    signature: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]


def to_plain(value: Any) -> Any:
    """Arrays of numbers or bytes as JSON: UTF-8 as text, other bytes as `{"b64": ...}`, the form of REST.

    Raises:
        ValueError: a number is NaN or infinite, which JSON cannot say.
    """
    value = np.asarray(value)
    if value.ndim:
        return [to_plain(item) for item in value]
    scalar = value.item()
    if isinstance(scalar, bytes):
        try:
            return scalar.decode("utf-8")
        except UnicodeDecodeError:
            return {"b64": base64.b64encode(scalar).decode("ascii")}
    if not np.isfinite(scalar):
        raise ValueError(
            f"Numbers in answers must be finite, so that they can be written as JSON, got {scalar}."
        )
    return float(str(value)) if value.dtype.kind == "f" else scalar


def from_plain(value: Any, dtype: str) -> np.ndarray:
    """What `to_plain` wrote, as an array of a TensorFlow dtype given by name."""
    if dtype == "string":
        return np.array(_to_bytes(value), dtype=object)
    return np.array(value, dtype=dtype)


def read_golden(path: Path, signatures: Mapping[str, Any]) -> list[Example]:
    """The golden examples of an export, read with the dtypes of its manifest."""
    examples = []
    for entry in json.loads((path / GOLDEN).read_text(encoding="utf-8")):
        form = signatures[entry["signature"]]
        inputs, outputs = (
            {name: from_plain(value, form[side][name]["dtype"]) for name, value in entry[side].items()}
            for side in ("inputs", "outputs")
        )
        examples.append(Example(entry["signature"], inputs, outputs))
    return examples


def _to_bytes(value: Any) -> Any:
    if isinstance(value, list):
        return [_to_bytes(item) for item in value]
    return base64.b64decode(value["b64"]) if isinstance(value, dict) else value.encode("utf-8")
