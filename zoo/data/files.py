"""Pairs of one's own: from a tab-separated file, or from two files in parallel."""

import hashlib
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from zoo.data.pairs import Pairs

__all__ = ["Parts", "divide", "parts_of", "read_pairs"]

SHOWN = 60

PACKED = {
    b"\x1f\x8b": "Unpack it: gunzip -c",
    b"PK\x03\x04": "Save a spreadsheet as text with tabs, or unpack an archive: unzip -p",
}
"""What packed files begin with, and what to do; a command that writes to standard output is last."""

UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""The byte order marks of UTF-16, in which some programs of Windows write texts."""


class Line(NamedTuple):
    """A line of a file."""

    number: int
    """From 1."""
    text: str


class Parts(NamedTuple):
    """Pairs to learn from, and those kept from it. No source is in two parts."""

    train: Pairs
    validation: Pairs
    test: Pairs


def read_pairs(path: Path | str, targets: Path | str | None = None) -> Pairs:
    """Read parallel texts.

    One file has a source, a tab and its target in each line; what follows a second tab is left out, as it
    often tells where a sentence is from. Two files have a text in each line, and line n of both belong
    together. Files are UTF-8, with line feeds; a byte order mark is no part of the text.

    Args:
        path: a tab-separated file, or one of sources.
        targets: a file of targets.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a file is empty, or a line is not as it should be; the message says which and what to do.
    """
    files = [Path(file) for file in (path, targets) if file is not None]
    lines = _lines(files[0])
    if targets is None:
        entries = [_split(files[0], line) for line in lines]
    else:
        entries = _parallel(files[0], lines, files[1], _lines(files[1]))
    _require_texts(files[0], files[-1], lines, entries)
    _refuse_duplicates(files, lines, entries)
    return Pairs([source for source, _ in entries], [target for _, target in entries])


def divide(pairs: Pairs, *, share: int = 20) -> Parts:
    """Keep pairs for validation and for a test: of the sources, one in `share` for each.

    A checksum of the source decides, so a source stays in its part when the file grows.

    Raises:
        ValueError: there are too few sources for three parts.
    """
    part_of = parts_of(pairs.sources, share=share)
    parts: list[list[tuple[str, str]]] = [[], [], []]
    for source, target in zip(pairs.sources, pairs.targets, strict=True):
        parts[part_of[source]].append((source, target))
    train, validation, test = (Pairs(*map(list, zip(*part, strict=True))) for part in parts)
    return Parts(train, validation, test)


def parts_of(sources: Iterable[str], *, share: int = 20) -> dict[str, int]:
    """The part of each source: 0 to learn from, 1 for validation, 2 for a test; see `divide`.

    Raises:
        ValueError: there are too few sources for three parts.
    """
    order = sorted(set(sources), key=lambda text: hashlib.sha256(text.encode()).digest())
    if len(order) < 3:
        raise ValueError(
            f"Training, validation and test need sources of their own, at least 3, got {len(order)}. Add "
            "lines with other sources."
        )
    kept = max(1, len(order) // share)
    return {text: (1, 2, 0)[min(2, place // kept)] for place, text in enumerate(order)}


def _lines(path: Path) -> list[Line]:
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Give the path of a text file, such as one in it.")
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}. Give the path of a text file.")
    content = path.read_bytes()
    _require_plain(path, content)
    if not content.strip():
        what = "has 0 bytes" if not content else "holds nothing but white space"
        raise ValueError(f"{path} {what}. Write a pair of texts into each line, with a tab between them.")
    lines = []
    for number, line in enumerate(content.removesuffix(b"\n").split(b"\n"), 1):
        if line.endswith(b"\r"):
            raise ValueError(
                f"{path}, line {number}: it ends in CR LF, as on Windows, expected LF alone. Convert the "
                f"file: tr -d '\\r' < {_quoted(path)} > new.tsv"
            )
        lines.append(Line(number, _decoded(path, number, line)))
    return [Line(1, lines[0].text.removeprefix("\ufeff")), *lines[1:]]


def _require_plain(path: Path, content: bytes) -> None:
    """Refuse what is no UTF-8 text with line feeds as a whole, where no line would tell what to do."""
    for magic, remedy in PACKED.items():
        if content.startswith(magic):
            raise ValueError(
                f"{path}, line 1: it is packed, expected plain text. {remedy} {_quoted(path)} > new.tsv"
            )
    if content.startswith(UTF_16):
        raise ValueError(
            f"{path}, line 1: it is UTF-16, by the mark that it begins with, expected UTF-8. Convert the "
            f"file: iconv -f UTF-16 -t UTF-8 {_quoted(path)} > new.tsv"
        )
    if b"\r" in content and b"\n" not in content:
        raise ValueError(
            f"{path}, line 1: it ends in CR alone, as on old Macs, expected LF. Convert the file: "
            f"tr '\\r' '\\n' < {_quoted(path)} > new.tsv"
        )


def _quoted(path: Path) -> str:
    """As a shell takes it."""
    return shlex.quote(str(path))


def _decoded(path: Path, number: int, line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}, line {number}: byte {error.start + 1} of it, 0x{line[error.start]:02X}, is not UTF-8. "
            f"Convert the file from what it is in, such as Latin-1: iconv -f LATIN1 -t UTF-8 "
            f"{_quoted(path)} > new.tsv"
        ) from None


def _split(path: Path, line: Line) -> tuple[str, str]:
    fields = line.text.split("\t")
    if len(fields) < 2:
        raise ValueError(
            f"{path}, line {line.number}: expected a source, a tab and a target, got no tab in "
            f"{line.text[:SHOWN]!r}. Put a tab between them, or give sources and targets in two files."
        )
    return fields[0].strip(), fields[1].strip()


def _parallel(
    path: Path, sources: Sequence[Line], targets_path: Path, targets: Sequence[Line]
) -> list[tuple[str, str]]:
    if len(sources) != len(targets):
        raise ValueError(
            f"{path} has {len(sources)} lines and {targets_path} has {len(targets)}: line "
            f"{min(len(sources), len(targets)) + 1} has no counterpart. Line n of both must belong together."
        )
    return [
        (source.text.strip(), target.text.strip()) for source, target in zip(sources, targets, strict=True)
    ]


def _require_texts(
    path: Path, targets_path: Path, lines: Sequence[Line], entries: Sequence[tuple[str, str]]
) -> None:
    for line, (source, target) in zip(lines, entries, strict=True):
        for name, text, where in (("source", source, path), ("target", target, targets_path)):
            if not text:
                raise ValueError(
                    f"{where}, line {line.number}: the {name} is empty. Fill it in, or delete the line."
                )


def _refuse_duplicates(
    files: Sequence[Path], lines: Sequence[Line], entries: Sequence[tuple[str, str]]
) -> None:
    """A pair that is there twice would be in training and in a test, and weigh more than others."""
    named = " ".join(map(_quoted, files))
    once = (
        f"awk -F ' *\\t *' '!seen[$1 FS $2]++' {named}"
        if len(files) == 1
        else f"paste {named} | awk '!seen[$0]++'"
    )
    seen: dict[tuple[str, str], int] = {}
    for line, entry in zip(lines, entries, strict=True):
        if entry in seen:
            raise ValueError(
                f"{files[0]}, line {line.number}: the pair of line {seen[entry]} again, "
                f"{entry[0][:SHOWN]!r}. Delete the line; or keep one of each pair, in one file: "
                f"{once} > new.tsv"
            )
        seen[entry] = line.number
