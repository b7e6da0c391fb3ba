"""What describes an export, and the one writer of exports."""

import json
import logging
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version as installed_version
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

from zoo.verify import Report, verify_in_fresh_process
from zoo.verify.files import checksum
from zoo.verify.graph import needs, read_meta_graph
from zoo.verify.layout import (
    ALWAYS_ASKED,
    EXTRA,
    GOLDEN,
    MANIFEST,
    WITHDRAWN,
    Example,
    to_plain,
    version_number,
)
from zoo.verify.warmup import write_requests

if TYPE_CHECKING:
    from zoo.predictor import Predictor

__all__ = ["Card", "VerificationError", "write"]

logger = logging.getLogger(__name__)

ABANDONED = 24 * 3600
"""Seconds after which the folder of an unfinished export is taken for that of a writer that was killed."""

TARGET = "target"
"""The input beside a question that is an answer to look at: here the model's own to it, and nothing."""

FOLDER_MODE, FILE_MODE = 0o755, 0o644


@dataclass(frozen=True)
class Card:
    """What people should know of a model; it goes into the manifest, so every field is plain JSON.

    Attributes:
        name: that it is served under: lower-case letters, digits, `_`, `-` and `.`, a letter or digit first.
        description: one sentence.
        task: name of the task it was trained on.
        recipe: name of the recipe that made it.
        languages: BCP 47 tags of the texts it takes.
        licence: of the data and so of the weights, in words.
        metrics: name to figure.
        notes: facts that belong beside the figures.
        data: what it was trained on, in words; empty: not stated.

    Raises:
        ValueError: the name cannot be served, or a field is not plain JSON.
    """

    name: str
    description: str
    task: str
    recipe: str
    languages: Sequence[str]
    licence: str
    metrics: Mapping[str, float] = field(default_factory=dict)
    notes: Sequence[str] = ()
    data: str = ""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9][a-z0-9_.-]*", self.name):
            raise ValueError(
                "A model's name is part of paths and URLs: lower-case letters, digits, '_', '-' and '.', "
                f"a letter or digit first; got {self.name!r}."
            )
        try:
            json.dumps(asdict(self), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"The fields of a card must be plain JSON: {error}.") from error


class _Traced(NamedTuple):
    """A signature as a graph."""

    function: Any
    question: str
    inputs: Mapping[str, tf.TensorSpec]
    neutral: Mapping[str, Any]
    settings: Sequence[Mapping[str, Any]]


class VerificationError(RuntimeError):
    """An export was written, but breaks a promise, so it was not published.

    Attributes:
        report: of the checks.
    """

    def __init__(self, report: Report) -> None:
        failures = "\n".join(f"  {check.name}: {check.detail}" for check in report.failures)
        super().__init__(f"The export was not published, since it failed these checks:\n{failures}")
        self.report = report


def write(
    predictor: "Predictor",
    folder: Path | str,
    *,
    card: Card,
    questions: Sequence[str | bytes],
    version: int | None = None,
) -> Path:
    """Write a predictor as one SavedModel, verify it in a fresh process and publish it by a rename.

    A server that watches `folder` sees the version whole or not at all: until then it lies in a folder beside
    it whose name is not a number, and which is removed if anything fails. A writer that is killed leaves its
    folder behind; another writer removes it a day later.

    Args:
        predictor: what to export.
        folder: where exports lie, as `folder/NAME/VERSION`.
        card: what to say of it; gives NAME.
        questions: good examples: texts, or the bytes that its signatures take instead, such as those of WAV
            files; their answers become the golden ones and warm servers up. Empty and blank texts, emoji and
            invalid UTF-8 are always asked as well.
        version: a positive number; None stands for one more than the highest there.

    Returns:
        Path of the version.

    Raises:
        FileExistsError: the version exists already. A published version is never changed.
        ValueError: the version is no number that servers take, or the predictor's signatures cannot be asked
            with texts or bytes.
        VerificationError: the export breaks a promise.
    """
    home = Path(folder) / card.name
    _refuse(home, version)
    _make_home(home)
    _remove_abandoned(home)
    number = _next_version(home) if version is None else version
    beside = Path(mkdtemp(prefix=f".tmp-{number}-{os.getpid()}-", dir=home))
    try:
        with getattr(predictor, "packed", nullcontext)():
            _compose(predictor, beside, card, questions)
        _let_others_read(beside)
        _synchronize(beside)
        logger.info("Verifying in a fresh process")
        report = verify_in_fresh_process(beside)
        if not report.ok:
            raise VerificationError(report)
        path = _publish(beside, home, version)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    logger.info("Published %s", path)
    return path


def _refuse(home: Path, version: int | None) -> None:
    if version is not None and (version < 1 or version_number(str(version)) is None):
        raise ValueError(f"A version is a positive number of at most 18 digits, got {version}.")
    if version is not None and (home / f"{WITHDRAWN}{version}").exists():
        raise FileExistsError(
            f"Version {version} of {home.name} was withdrawn, and its number is not given again. Give "
            f"another version, or bring it back: zoo rollback {home} --to {version}"
        )
    if version is not None and (home / str(version)).exists():
        raise FileExistsError(
            f"{home / str(version)} exists already, and a published version is never changed. "
            "Give another version, or none for the next free one."
        )


def _make_home(home: Path) -> None:
    for folder in (*reversed(home.parents), home):
        if folder.is_dir():  # its modes are then its owner's choice
            continue
        with suppress(FileExistsError):  # another writer made it just now
            folder.mkdir()
            folder.chmod(FOLDER_MODE)


def _let_others_read(path: Path) -> None:
    # mkdtemp makes a folder private, a umask may make all in it so, and servers run as other users.
    for entry in (path, *path.rglob("*")):
        entry.chmod(FOLDER_MODE if entry.is_dir() else FILE_MODE)


def _next_version(home: Path) -> int:
    taken = (version_number(path.name.removeprefix(WITHDRAWN)) for path in home.iterdir())
    return 1 + max((number for number in taken if number is not None), default=0)


def _remove_abandoned(home: Path) -> None:
    # By age, not by whether the process still runs: the writer may run in another container or machine.
    for path in home.glob(".tmp-*"):
        with suppress(FileNotFoundError):  # another writer may finish just now
            if time.time() - path.stat().st_mtime > ABANDONED:
                logger.info("Removing %s, which an earlier export left behind", path)
                shutil.rmtree(path, ignore_errors=True)


def _publish(beside: Path, home: Path, version: int | None) -> Path:
    """Give a folder its number; another writer may have taken the one that was free before."""
    while True:
        _refuse(home, version)
        path = home / str(_next_version(home) if version is None else version)
        try:
            beside.rename(path)
        except OSError:
            if not path.exists():
                raise
            continue
        _synchronize_entry(home)
        return path


def _compose(predictor: "Predictor", path: Path, card: Card, questions: Sequence[str | bytes]) -> None:
    """Write everything that belongs to an export."""
    logger.info("Tracing")
    functions = _trace(predictor)
    logger.info("Asking the golden questions")
    examples = list(_examples(functions, questions))
    logger.info("Writing the graph and its weights")
    _save(predictor, functions, path)
    (path / EXTRA).mkdir()
    _write_golden(path / GOLDEN, examples)
    question = functions["serving_default"].question
    own = [example for example in examples if example.inputs[question] not in ALWAYS_ASKED]
    write_requests(path, card.name, own or examples, question)
    for name, text in predictor.assets().items():
        (path / EXTRA / name).write_text(text, encoding="utf-8")
    manifest = json.dumps(_manifest(functions, path, card), ensure_ascii=False, indent=1)
    (path / MANIFEST).write_text(f"{manifest}\n", encoding="utf-8")


def _trace(predictor: "Predictor") -> dict[str, _Traced]:
    functions = {}
    for name, signature in predictor.signatures().items():
        specs = {
            key: tf.TensorSpec(spec.shape, spec.dtype, name=key) for key, spec in signature.inputs.items()
        }
        function = tf.function(signature.function, autograph=False).get_concrete_function(**specs)
        for key, output in function.structured_outputs.items():
            if not isinstance(output, tf.Tensor | tf.TensorSpec):
                raise ValueError(f"Output {key} of {name} must be a tensor, got {type(output).__name__}.")
            if output.shape.rank == 0:
                raise ValueError(f"Output {key} of {name} must begin with the batch, got a scalar.")
        question = _question(name, specs.keys() - signature.neutral.keys())
        functions[name] = _Traced(function, question, specs, signature.neutral, signature.settings)
    if "serving_default" not in functions:
        raise ValueError(f"One signature must be called serving_default, got {', '.join(functions)}.")
    questions = {name: traced.question for name, traced in functions.items()}
    if len(set(questions.values())) > 1:
        raise ValueError(f"The question must have the same name in all signatures, got {questions}.")
    return functions


def _question(signature: str, asked: Set[str]) -> str:
    """The name of the input that is the question."""
    questions = sorted(asked - {TARGET})
    if len(questions) != 1:
        raise ValueError(
            "The inputs of a signature without a neutral value are one question, such as text, or one and "
            f"{TARGET}; those of {signature} are {sorted(asked)}."
        )
    return questions[0]


def _save(predictor: "Predictor", functions: Mapping[str, _Traced], path: Path) -> None:
    # keras.export.ExportArchive would keep every variable of the model, and list each three times over. This
    # keeps the variables that the functions read, and such resources as the predictor's lookup tables.
    servable = tf.Module()
    read = {id(variable): variable for traced in functions.values() for variable in traced.function.variables}
    servable.weights = sorted(read.values(), key=lambda variable: variable.name)
    servable.resources = [
        part
        for part in tf.train.TrackableView(predictor).descendants()
        if isinstance(part, tf.saved_model.experimental.TrackableResource)
    ]
    tf.saved_model.save(
        servable, str(path), signatures={name: traced.function for name, traced in functions.items()}
    )


def _examples(functions: Mapping[str, _Traced], questions: Sequence[str | bytes]) -> Iterator[Example]:
    """Every question asked of every signature, alone."""
    texts = [text.encode() if isinstance(text, str) else text for text in (*ALWAYS_ASKED, *questions)]
    for text in dict.fromkeys(texts):
        default = functions["serving_default"]
        answer = next(iter(_ask(default, {default.question: text}).values()))
        for name, traced in functions.items():
            for inputs in _fill_in(traced, text, answer):
                yield Example(name, inputs, _ask(traced, inputs))


def _fill_in(traced: _Traced, text: bytes, answer: Any) -> Iterator[dict[str, Any]]:
    """The inputs of a signature for one question: a target is the model's own answer, and nothing."""
    for target in dict.fromkeys((answer, b"")) if TARGET in traced.inputs else (None,):
        for setting in traced.settings:
            inputs = {traced.question: text, **({} if target is None else {TARGET: target})}
            knobs = {name: _scalar(value, traced.inputs[name]) for name, value in setting.items()}
            yield inputs | knobs


def _scalar(value: Any, spec: tf.TensorSpec) -> Any:
    return value.encode() if isinstance(value, str) else spec.dtype.as_numpy_dtype(value)


def _ask(traced: _Traced, inputs: Mapping[str, Any]) -> dict[str, Any]:
    outputs = traced.function(**{name: tf.constant([value]) for name, value in inputs.items()})
    for name, value in outputs.items():
        if len(value) != 1:
            raise ValueError(
                f"Output {name} must begin with the batch: to one question it came in shape {value.shape}."
            )
    return {name: value[0].numpy() for name, value in outputs.items()}


def _write_golden(path: Path, examples: Sequence[Example]) -> None:
    """One example a line."""
    lines = ",\n".join(json.dumps(_plain(example), ensure_ascii=False) for example in examples)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _plain(example: Example) -> dict[str, Any]:
    inputs = {name: to_plain(value) for name, value in example.inputs.items()}
    try:
        outputs = {name: to_plain(value) for name, value in example.outputs.items()}
    except ValueError as error:
        raise ValueError(
            f"{example.signature} gave {inputs} an answer that cannot be kept. {error}"
        ) from error
    return {"signature": example.signature, "inputs": inputs, "outputs": outputs}


def _manifest(functions: Mapping[str, _Traced], path: Path, card: Card) -> dict[str, Any]:
    files = {file.relative_to(path).as_posix(): file for file in sorted(path.rglob("*")) if file.is_file()}
    return {
        "card": asdict(card),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "zoo": installed_version("seq2seq-zoo"),
            "tensorflow": tf.__version__,
            "keras": installed_version("keras"),
        },
        "needs": needs(read_meta_graph(path)),
        "signatures": {
            name: {
                "inputs": _forms(traced.inputs),
                "outputs": _forms(traced.function.structured_outputs),
                "neutral": dict(traced.neutral),
                "question": traced.question,
            }
            for name, traced in functions.items()
        },
        "files": {name: file.stat().st_size for name, file in files.items()},
        "sha256": {name: checksum(file) for name, file in files.items()},
    }


def _forms(specs: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: {
            "dtype": spec.dtype.name,
            "shape": None if spec.shape.rank is None else spec.shape.as_list(),
        }
        for name, spec in specs.items()
    }


def _synchronize(path: Path) -> None:
    """Let the disk hold a folder and all in it before its name says that it is whole."""
    for entry in (path, *path.rglob("*")):
        _synchronize_entry(entry)


def _synchronize_entry(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
