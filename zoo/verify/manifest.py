"""What the manifest of an export holds, field by field; standard library only."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["manifest_faults"]


class _Kind(NamedTuple):
    """A kind of value: what it is called, and whether something is one."""

    name: str
    holds: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -math.inf < value < math.inf


def _are_texts(values: Any) -> bool:
    return all(isinstance(value, str) for value in values)


def _is_shape(value: Any) -> bool:
    return value is None or (
        isinstance(value, list) and all(size is None or type(size) is int for size in value)
    )


TEXT = _Kind("a text", lambda value: isinstance(value, str))
TEXTS = _Kind("a list of texts", lambda value: isinstance(value, list) and _are_texts(value))
NAMED = _Kind("an object", lambda value: isinstance(value, dict))
NAMED_TEXTS = _Kind(
    "an object of texts", lambda value: isinstance(value, dict) and _are_texts(value.values())
)
FIGURES = _Kind(
    "an object of finite numbers",
    lambda value: isinstance(value, dict) and all(map(_is_number, value.values())),
)
SHAPE = _Kind("a list of sizes, or null", _is_shape)

MANIFEST_FIELDS = {
    "files": NAMED,
    "card": NAMED,
    "created": TEXT,
    "versions": NAMED_TEXTS,
    "needs": TEXTS,
    "signatures": NAMED,
}
CARD_FIELDS = {
    **dict.fromkeys(("name", "description", "task", "recipe", "licence"), TEXT),
    "languages": TEXTS,
    "metrics": FIGURES,
    "notes": TEXTS,
}
CARD_EXTRAS = {"data": TEXT}
"""What a card need not have: exports made before the field was there do without it."""
SIGNATURE_FIELDS = {"inputs": NAMED, "outputs": NAMED}
SIGNATURE_EXTRAS = {"question": TEXT, "neutral": NAMED}
"""What a signature need not have."""
FORM_FIELDS = {"dtype": TEXT, "shape": SHAPE}


def manifest_faults(manifest: Mapping[str, Any]) -> Iterator[str]:
    """What of a manifest is missing or of another kind, in words without a full stop.

    Its `files` and `sha256` are left to those who compare them with the files.
    """
    faults = list(_faults("", manifest, MANIFEST_FIELDS))
    yield from faults
    if faults:
        return
    card = manifest["card"]
    yield from _faults("card", card, CARD_FIELDS | _given(card, CARD_EXTRAS))
    for name, signature in manifest["signatures"].items():
        yield from _signature_faults(f"signatures.{name}", signature)


def _signature_faults(place: str, signature: Any) -> Iterator[str]:
    faults = list(_faults(place, signature, SIGNATURE_FIELDS))
    yield from faults
    if faults:
        return
    yield from _faults(place, signature, _given(signature, SIGNATURE_EXTRAS))
    yield from _unknown_inputs(place, signature)
    for side in SIGNATURE_FIELDS:
        for name, form in signature[side].items():
            yield from _faults(f"{place}.{side}.{name}", form, FORM_FIELDS)


def _given(value: Mapping[str, Any], extras: Mapping[str, _Kind]) -> dict[str, _Kind]:
    """Those extras that are there, and so have to be of their kind."""
    return {name: kind for name, kind in extras.items() if name in value}


def _unknown_inputs(place: str, signature: Mapping[str, Any]) -> Iterator[str]:
    """What is said of inputs that a signature has not."""
    inputs = signature["inputs"]
    for extra, names in (
        ("question", [signature["question"]] if "question" in signature else []),
        ("neutral", signature.get("neutral", {})),
    ):
        for name in names:
            if inputs and name not in inputs:
                yield f"{place}.{extra} names {name!r}, which is none of the inputs {', '.join(inputs)}"


def _faults(place: str, value: Any, fields: Mapping[str, _Kind]) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{place} is no object"
        return
    for name, kind in fields.items():
        path = f"{place}.{name}".lstrip(".")
        if name not in value:
            yield f"{path} is missing"
        elif not kind.holds(value[name]):
            yield f"{path} is {str(value[name])[:60]!r}, expected {kind.name}"
