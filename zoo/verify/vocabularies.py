"""Whether the lists that people can review are those that the graph works with."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from zoo.verify.layout import EXTRA
from zoo.verify.operations import nodes
from zoo.verify.report import Rule

__all__ = ["RULES", "Reviewed"]

VOCABULARIES, LABELS = "*_vocabulary.json", "labels.txt"

OWN = ("source_vocabulary.json", "target_vocabulary.json")
"""Of the zoo's predictors; one of your own may call its files otherwise and write them as it likes."""

MEMBERS = ("characters", "words", "pieces")
"""Under which a vocabulary lists its tokens, in the order of ids."""

GLUE, SPACE = "##", "\u2581"
"""Signs of a token that follows what is before it without a space, and of a space in one."""

SPECIAL = frozenset({"", "\0", "\ufffd", " \ufffd", "<s>", "</s>", "<unk>"})
"""What a graph has in place of the special ids: what they are written as, or what they are called."""

SINGLE_BYTES = (
    [bytes([byte]).decode("utf-8", "replace") for byte in range(256)],
    [f"<0x{byte:02X}>" for byte in range(256)],
)
"""What follows them where a tokenizer has bytes for what no piece covers: as they are written, or called."""

OF_BYTES = 260
"""Ids of a vocabulary of bytes, the special ones counted: there is no other."""

LEAST_BYTES = 4
"""Bytes that a model of word pieces has at least for each piece."""

LAST_CHARACTER = 0x10FFFF

PIECE, NAME, KIND, NORMAL = 1, 1, 3, 1
"""Numbers of fields in a model of SentencePiece: of a piece, and in it of its name and its kind; and the kind
of a piece that stands for the text that it is named after."""


class Reviewed(NamedTuple):
    """What is compared: an export's folder, and its `MetaGraphDef`."""

    path: Path
    meta_graph: Message


class _Held(NamedTuple):
    """What of a graph can be read as lists."""

    lists: list[list[str]]
    """Constants of strings, or of numbers of characters."""
    orders: list[np.ndarray]
    """Constants of the numbers from 0 up, each once: the places of sorted strings."""
    models: list[bytes]
    """Of SentencePiece."""
    sealed: int
    """Bytes of the largest model of word pieces, which names none of them; 0 where there is none."""
    strings: list[list[bytes]]
    """Constants of strings as they are, UTF-8 or not."""


def _other_lists(reviewed: Reviewed) -> Iterator[str]:
    extra, held = reviewed.path / EXTRA, _held(reviewed.meta_graph)
    for name, entries in _vocabularies(extra):
        if not entries:
            yield f"{name} lists no entries, expected {', '.join(MEMBERS[:-1])} or {MEMBERS[-1]}."
        elif not _is_held(entries, held) and held.sealed < LEAST_BYTES * len(entries):
            yield _sentence(name, entries)
    if (extra / LABELS).is_file():
        labels = (extra / LABELS).read_text(encoding="utf-8").splitlines()
        if [label.encode() for label in labels] not in held.strings:
            yield _sentence(LABELS, labels)


def _sentence(name: str, entries: Sequence[str]) -> str:
    shown = ", ".join(map(repr, entries[:3]))
    return f"{name} lists {len(entries)} entries ({shown} ...), and the graph holds no such list."


def _vocabularies(extra: Path) -> Iterator[tuple[str, list[str]]]:
    """The files of tokenizers with what they list; those of the zoo's own that should list something and do
    not come with an empty list."""
    for file in sorted(extra.glob(VOCABULARIES)):
        read = json.loads(file.read_text(encoding="utf-8"))
        content = read if isinstance(read, dict) else {}
        listed = [list(content[name]) for name in MEMBERS if name in content]
        if not listed and file.name in OWN and content.get("vocab_size") != OF_BYTES:
            listed = [[]]
        yield from ((file.name, entries) for entries in listed)


def _held(meta_graph: Any) -> _Held:
    found = list(nodes(meta_graph))
    constants = [
        tf.make_ndarray(node.attr["value"].tensor)
        for node in found
        if node.op == "Const" and len(node.attr["value"].tensor.tensor_shape.dim) == 1
    ]
    strings = [list(constant) for constant in constants if constant.dtype == object]
    numbers = [constant for constant in constants if _are_characters(constant)]
    return _Held(
        [
            *([chr(number) for number in constant] for constant in numbers),
            *([text.decode("utf-8", "replace") for text in constant] for constant in strings),
        ],
        [constant for constant in numbers if np.array_equal(np.sort(constant), np.arange(len(constant)))],
        [node.attr["model"].s for node in found if node.op == "SentencepieceOp"],
        max((len(constant) for constant in constants if constant.dtype == np.uint8), default=0),
        strings,
    )


def _are_characters(values: np.ndarray) -> bool:
    return (
        values.dtype.kind == "i" and values.size > 0 and values.min() >= 0 and values.max() <= LAST_CHARACTER
    )


def _is_held(entries: Sequence[str], held: _Held) -> bool:
    """Whether tokens are there: after the special ids, or sorted and with their order, or inside a model."""
    forms = [list(map(form, entries)) for form in (str, _piece, _surface)]
    lists = [values for values in held.lists if len(values) >= len(entries)]
    return (
        any(_behind_special_ids(values, len(entries)) in forms for values in lists)
        or any(ordered in forms for values in lists for ordered in _orderings(values, held.orders))
        or any(list(entries) == _pieces(model) for model in held.models)
    )


def _behind_special_ids(values: Sequence[str], count: int) -> Sequence[str]:
    """So many values at the end, if those before them stand for special ids and bytes; otherwise all."""
    first = len(values) - count
    before = values[: first - 256] if values[first - 256 : first] in SINGLE_BYTES else values[:first]
    return values[first:] if SPECIAL.issuperset(before) else values


def _piece(word: str) -> str:
    """A word or a piece of one with the space before it; its name has a sign where there is none."""
    return word.removeprefix(GLUE) if len(word) > len(GLUE) and word.startswith(GLUE) else f" {word}"


def _surface(subword: str) -> str:
    """What a subword is written as."""
    return subword.replace(SPACE, " ")


def _orderings(values: Sequence[str], orders: Iterable[np.ndarray]) -> Iterator[list[str]]:
    """Sorted strings, each at its place, by every order that may be theirs."""
    for order in orders:
        if len(order) == len(values):
            yield [values[number] for number in np.argsort(order)]


def _pieces(model: bytes) -> list[str]:
    """The tokens of a model of SentencePiece in the order of ids, those that stand for no text left out."""
    pieces = [dict(_fields(content)) for number, content in _fields(model) if number == PIECE]
    return [piece[NAME].decode("utf-8", "replace") for piece in pieces if piece.get(KIND, NORMAL) == NORMAL]


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Number and content of each field of a protocol buffer whose messages are not at hand."""
    yield from ((field.field_number, field.data) for field in UnknownFieldSet(Empty.FromString(message)))


RULES = (
    Rule(
        "vocabularies",
        "the vocabularies and labels that people can review are those of the graph",
        "Export again: both are written of one tokenizer.",
        _other_lists,
    ),
)
"""For a `Reviewed`."""
