"""Where things lie in an export, and how questions and answers are written there."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from zoo.verify.manifest import manifest_faults

__all__ = [
    "ALWAYS_ASKED",
    "EXTRA",
    "GOLDEN",
    "MANIFEST",
    "TEXT",
    "WARMUP",
    "WITHDRAWN",
    "Example",
    "from_plain",
    "other_sizes",
    "question_of",
    "read_golden",
    "read_manifest",
    "read_sizes",
    "to_plain",
    "version_number",
]

EXTRA = "assets.extra"
"""The folder that TensorFlow Serving leaves to the exporter."""

MANIFEST = f"{EXTRA}/zoo.json"
"""What the export is, and the size in bytes and the SHA-256 of each of its other files."""

GOLDEN = f"{EXTRA}/golden.json"
"""Questions with the answers that the predictor gave before it was exported."""

WARMUP = f"{EXTRA}/tf_serving_warmup_requests"
"""Requests that TensorFlow Serving makes before it calls a version available; the name is the server's."""

WITHDRAWN = ".withdrawn-"
"""What the name of a version begins with that was taken back; its number follows."""

TEXT = "text"
"""The input that is the question, unless the manifest names another, such as `audio`."""


ALWAYS_ASKED = (b"", b"   ", "👍🏽🎉".encode(), b"\xff\xfe")
"""Questions to every export: empty, blank, emoji, and bytes that are no text; nor is any of them a sound."""


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
        ValueError: a number is NaN, infinite or complex, which JSON cannot say.
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
    if isinstance(scalar, complex):
        raise ValueError(f"JSON has no complex numbers, got {scalar}.")
    if not np.isfinite(scalar):
        raise ValueError(
            f"Numbers in answers must be finite, so that they can be written as JSON, got {scalar}."
        )
    return float(str(value)) if value.dtype.kind == "f" else scalar


def from_plain(value: Any, dtype: str) -> np.ndarray:
    """What `to_plain` wrote, as an array of a TensorFlow dtype given by name.

    Raises:
        ValueError: it holds something that the dtype cannot, such as half of a whole number, or infinity.
    """
    if dtype == "string":
        return np.array(_to_bytes(value), dtype=object)
    with np.errstate(over="ignore"):
        array = np.array(value, dtype=dtype)
    held = np.all(np.isfinite(array)) if array.dtype.kind == "f" else np.array_equal(array, np.array(value))
    if not held:
        raise ValueError(f"Expected finite numbers of {dtype}, got {value}.")
    return array


def read_golden(path: Path, signatures: Mapping[str, Any]) -> list[Example]:
    """The golden examples of an export, read with the dtypes of its manifest.

    Raises:
        OSError: there is no such file.
        ValueError: it holds something else than questions to these signatures, and their answers.
    """
    entries = json.loads((path / GOLDEN).read_text(encoding="utf-8"))
    if not isinstance(entries, list):
        raise ValueError(f"Expected a list of questions with their answers in {GOLDEN}.")
    return [_golden(number, entry, signatures) for number, entry in enumerate(entries)]


def _golden(number: int, entry: Any, signatures: Mapping[str, Any]) -> Example:
    try:
        form = signatures[entry["signature"]]
        inputs, outputs = (
            {name: from_plain(value, form[side][name]["dtype"]) for name, value in entry[side].items()}
            for side in ("inputs", "outputs")
        )
        if inputs.keys() != form["inputs"].keys():
            raise ValueError(f"it gives the inputs {sorted(inputs)}, expected {sorted(form['inputs'])}")
        if lists := sorted(name for name, value in inputs.items() if value.ndim):
            raise ValueError(f"it gives a list for {lists[0]}, expected one value")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"Entry {number} of {GOLDEN} is no question to a signature of the manifest with its answer "
            f"({type(error).__name__}: {error})."
        ) from error
    return Example(entry["signature"], inputs, outputs)


def version_number(name: str) -> int | None:
    """The version that a folder's name stands for: a number of at most 18 digits; None for other names."""
    return int(name) if re.fullmatch(r"[0-9]{1,18}", name) else None


def question_of(form: Mapping[str, Any]) -> str:
    """The name of the input that is the question, of a signature as the manifest has it."""
    return form.get("question", TEXT)


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of an export.

    Raises:
        OSError: it has none.
        ValueError: what stands in its place is no manifest of the zoo.
    """
    try:
        manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        read_sizes(manifest)
    except ValueError as error:
        raise ValueError(
            f"{MANIFEST} is no manifest of the zoo ({type(error).__name__}: {error})."
        ) from error
    if faults := list(manifest_faults(manifest)):
        raise ValueError(f"{MANIFEST} is no manifest of the zoo: {'; '.join(faults[:3])}.")
    return manifest


def read_sizes(manifest: Any) -> dict[str, int]:
    """The sizes of all files of an export, by relative path, as its manifest has them.

    Raises:
        ValueError: it is no manifest.
    """
    sizes = manifest.get("files", {}) if isinstance(manifest, dict) else None
    # type(), since True and False are instances of int
    if not isinstance(sizes, dict) or any(type(size) is not int for size in sizes.values()):
        raise ValueError("expected a JSON object whose `files` maps relative paths to sizes in bytes")
    return sizes


def other_sizes(folder: Path, sizes: Mapping[str, int]) -> Iterator[str]:
    """What of the files of a manifest is missing, or has another size; words without a full stop."""
    for name, size in sizes.items():
        path = folder / name
        if Path(name).anchor or ".." in Path(name).parts:
            yield f"{MANIFEST} lists a file outside the version, {name}"
        elif not path.is_file():
            yield f"{name} is missing, which its manifest lists"
        elif path.stat().st_size != size:
            yield f"{name} has {path.stat().st_size} bytes where its manifest says {size}"


def _to_bytes(value: Any) -> Any:
    if isinstance(value, list):
        return [_to_bytes(item) for item in value]
    return base64.b64decode(value["b64"], validate=True) if isinstance(value, dict) else value.encode("utf-8")
