"""Whether an export, once loaded, answers as it should."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from zoo.verify.layout import Example, from_plain, question_of
from zoo.verify.report import Rule
from zoo.verify.servable import Ask
from zoo.verify.warmup import BATCHES

__all__ = ["RULES", "Served", "ask_alone"]

TOLERANCE = 1e-5
"""How far numbers may differ: absolutely, or as a part of the expected one where that is more."""

SIZES = (*BATCHES[1:], 33)
"""Rows of the batches that are asked: all that servers fill up, and a larger one."""

BLANK = (b"", b"   ", b"\t\r\n", "\u3000\u00a0".encode())

UNUSUAL = (
    ("long words " * 500)[:5000].encode(),
    # Wherever one of the first 4,500 bytes is the last, a character of one of the two is cut through.
    ("\u20ac" * 1500).encode(),
    ("a" + "\u20ac" * 1500).encode(),
    "👩‍👩‍👧‍👦 🏳️‍🌈 \U0001f9d1\U0001f3fd".encode(),
    "مرحبا \u202e e\u0301\u0302\u0303".encode(),
    b"\xff\xfe caf\xe9 \xf0\x9f",
    b"a\x00b\r\n\t",
)
"""Texts that people and programs do send, and that few think of."""


class Served(NamedTuple):
    """A loaded export and what it was asked.

    Attributes:
        signatures: as the manifest has them.
        golden: what the predictor answered before it was exported.
        loaded: asks through `tf.saved_model.load`.
        session: asks through a session, as a server does.
        alone: answers of `loaded` to the golden questions, each asked alone.
        in_session: those of `session`.
    """

    signatures: Mapping[str, Any]
    golden: Sequence[Example]
    loaded: Ask
    session: Ask
    alone: Sequence[Example]
    in_session: Sequence[Example]


def ask_alone(ask: Ask, questions: Sequence[Example]) -> list[Example]:
    """Ask each question in a batch of its own."""
    answers = []
    for question in questions:
        batch = {name: value[np.newaxis] for name, value in question.inputs.items()}
        outputs = {name: value[0, ...] for name, value in ask(question.signature, batch).items()}
        answers.append(question._replace(outputs=outputs))
    return answers


def _ask_together(ask: Ask, questions: Sequence[Example]) -> list[Example]:
    """Ask questions of one signature in one batch."""
    names = questions[0].inputs
    batch = {name: np.stack([question.inputs[name] for question in questions]) for name in names}
    outputs = ask(questions[0].signature, batch)
    short = {name: value.shape for name, value in outputs.items() if len(value) != len(questions)}
    if short:
        raise ValueError(
            f"{questions[0].signature} was asked {len(questions)} questions and answered in shapes {short}."
        )
    return [
        question._replace(outputs={name: value[row, ...] for name, value in outputs.items()})
        for row, question in enumerate(questions)
    ]


def _padded(value: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """A value brought to a larger shape as the predictor pads: with the empty string and with 0."""
    padded = np.full(shape, b"" if value.dtype == object else 0, dtype=value.dtype)
    if value.size:
        padded[tuple(slice(size) for size in value.shape)] = value
    return padded


def _same(found: np.ndarray, expected: np.ndarray) -> bool:
    """Whether two answers agree, however far each was padded; numbers with a point within `TOLERANCE`."""
    # An empty list may have lost axes on its way through JSON, which a single value never has.
    lost_axes = min(found.ndim, expected.ndim) > 0 and min(found.size, expected.size) == 0
    if found.ndim != expected.ndim and not lost_axes:
        return False
    rank = max(found.ndim, expected.ndim)
    sizes = [(*value.shape, *[0] * (rank - value.ndim)) for value in (found, expected)]
    shape = tuple(map(max, *sizes)) if rank else ()
    found, expected = _padded(found, shape), _padded(expected, shape)
    if expected.dtype.kind != "f":
        return bool(np.array_equal(found, expected))
    near = np.maximum(TOLERANCE, TOLERANCE * np.abs(expected))
    return bool(np.all(np.abs(found - expected) <= near))


def _brief(value: Any) -> str:
    text = repr(value.tolist() if isinstance(value, np.ndarray) else value)
    return text if len(text) <= 120 else f"{text[:117]}..."


def _differences(found: Sequence[Example], expected: Sequence[Example], how: str) -> Iterator[str]:
    for answer, wanted in zip(found, expected, strict=True):
        if answer.outputs.keys() != wanted.outputs.keys():
            yield f"{wanted.signature} answers {sorted(answer.outputs)}, expected {sorted(wanted.outputs)}."
            continue
        for name, value in wanted.outputs.items():
            if not _same(answer.outputs[name], value):
                asked = ", ".join(f"{key} {_brief(text)}" for key, text in wanted.inputs.items())
                yield (
                    f"{wanted.signature}, {asked}, {how}: {name} is {_brief(answer.outputs[name])}, "
                    f"expected {_brief(value)}."
                )


def _by_signature(examples: Sequence[Example]) -> dict[str, list[Example]]:
    groups: dict[str, list[Example]] = {}
    for example in examples:
        groups.setdefault(example.signature, []).append(example)
    return groups


def _text_signatures(served: Served) -> list[str]:
    """Signatures whose question is a text, or bytes, and that take beside it what has a neutral value."""
    return [
        name
        for name, form in served.signatures.items()
        if question_of(form) in form["inputs"]
        and all(
            spec["dtype"] == "string" or key in form.get("neutral", {})
            for key, spec in form["inputs"].items()
        )
    ]


def _questions(served: Served, signature: str, texts: Sequence[bytes]) -> list[Example]:
    """Questions of a signature; what it takes beside them is neutral, or empty."""
    form = served.signatures[signature]
    asked = question_of(form)
    neutral = form.get("neutral", {})
    beside = {
        name: from_plain(neutral.get(name, ""), spec["dtype"])
        for name, spec in form["inputs"].items()
        if name != asked
    }
    return [Example(signature, {asked: np.array(text, object), **beside}, {}) for text in texts]


def _other_forms(served: Served) -> Iterator[str]:
    told = set()
    for answer in served.in_session:
        forms = served.signatures[answer.signature]["outputs"]
        for name, value in answer.outputs.items():
            form = forms[name]
            same = value.dtype == tf.as_dtype(form["dtype"]).as_numpy_dtype
            place = answer.signature, name
            if place not in told and not (same and _fits(value.shape, form["shape"][1:])):
                told.add(place)
                yield (
                    f"{name} of {answer.signature} came as {value.dtype} of shape {(1, *value.shape)}, its "
                    f"signature says {form['dtype']} of shape {form['shape']}."
                )


def _fits(shape: Sequence[int], form: Sequence[int | None]) -> bool:
    return len(shape) == len(form) and all(size in (own, None) for own, size in zip(shape, form, strict=True))


def _other_answers(served: Served) -> Iterator[str]:
    groups = _by_signature(served.golden)
    for name in sorted(served.signatures):
        asked = question_of(served.signatures[name])
        if name not in groups:
            yield f"There is no golden question for {name}."
        elif not any(example.inputs[asked].item().strip() for example in groups[name]):
            yield f"All golden questions for {name} are blank."
    yield from _differences(served.alone, served.golden, "loaded")
    yield from _differences(served.in_session, served.golden, "in a session")


def _companions_matter(served: Served) -> Iterator[str]:
    for alone in _by_signature(served.alone).values():
        yield from _differences(_ask_together(served.session, alone), alone, "asked beside others")
        yield from _differences(
            _ask_together(served.session, alone[::-1]), alone[::-1], "asked in reverse order"
        )
        for size in SIZES:
            rows = [alone[number % len(alone)] for number in range(size)]
            yield from _differences(_ask_together(served.session, rows), rows, f"asked in a batch of {size}")


def _empty_batch(served: Served) -> Iterator[str]:
    for signature, form in served.signatures.items():
        dtypes = {name: spec["dtype"] for name, spec in form["inputs"].items()}
        inputs = {name: np.zeros(0, object if dtype == "string" else dtype) for name, dtype in dtypes.items()}
        for way in (served.session, served.loaded):
            for name, value in way(signature, inputs).items():
                if value.shape[:1] != (0,):
                    yield f"{signature} answered no question with {name} of shape {value.shape}."


def _blank(served: Served) -> Iterator[str]:
    for signature in _text_signatures(served):
        for answer in _ask_together(served.session, _questions(served, signature, BLANK)):
            written = answer.outputs.get("text", np.array(b"", object))
            if any(text for text in written.ravel()):
                asked = answer.inputs[question_of(served.signatures[signature])].item()
                yield f"{signature} answered {asked!r} with {_brief(written)}."


def _unusual(served: Served) -> Iterator[str]:
    companions = _by_signature(served.alone)
    for signature in _text_signatures(served):
        alone = companions.get(signature, [])
        questions = [*_questions(served, signature, UNUSUAL), *_unusual_beside(served, alone)]
        answers = _ask_together(served.session, alone + questions)
        yield from _differences(answers[: len(alone)], alone, "asked beside unusual texts")
        yield from _unreadable(answers)


def _unusual_beside(served: Served, alone: Sequence[Example]) -> Iterator[Example]:
    """A golden question with an unusual text in the place of each text that goes with it."""
    for usual in alone[-1:]:
        form = served.signatures[usual.signature]
        texts = {name for name, spec in form["inputs"].items() if spec["dtype"] == "string"}
        for name in sorted(texts - {question_of(form)}):
            for text in UNUSUAL:
                yield usual._replace(inputs={**usual.inputs, name: np.array(text, object)})


def _unreadable(answers: Sequence[Example]) -> Iterator[str]:
    for answer in answers:
        for name, value in answer.outputs.items():
            if value.dtype.kind == "f" and not np.all(np.isfinite(value)):
                yield f"{name} of {answer.signature} holds {_brief(value)}, which is not finite."
            if value.dtype == object and not name.endswith("_bytes"):
                for text in value.ravel():
                    try:
                        text.decode("utf-8")
                    except UnicodeDecodeError:
                        yield f"{name} of {answer.signature} holds {_brief(text)}, which is not UTF-8."


RULES = (
    Rule(
        "forms",
        "answers have the dtypes and shapes that the signatures name",
        "Export again: the signatures are those of the exported functions.",
        _other_forms,
    ),
    Rule(
        "golden answers",
        "all questions are answered as they were before the export",
        "Export again; if that does not help, the exported functions depend on more than weights and inputs.",
        _other_answers,
    ),
    Rule(
        "batches",
        "an answer does not depend on what is asked beside it",
        "Let masks cover all padding, and let finished rows of a loop stay as they are.",
        _companions_matter,
    ),
    Rule("empty batch", "no questions get no answers", "Let the graph work for 0 rows.", _empty_batch),
    Rule(
        "blank texts",
        "nothing is said to empty and blank texts",
        "Give the empty text for a row without tokens.",
        _blank,
    ),
    Rule(
        "readable answers",
        "texts are UTF-8, numbers are finite",
        "End texts with tf.strings.unicode_transcode(..., errors='replace'); bound numbers.",
        lambda served: _unreadable(served.alone),
    ),
    Rule(
        "unusual texts",
        "long texts, emoji, invalid UTF-8 and the like do no harm to others and get readable answers",
        "Bound the length and replace invalid bytes when texts come in.",
        _unusual,
    ),
)
"""For a `Served`."""
