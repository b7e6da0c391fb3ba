"""Whether all files of an export are there, and hold what was written."""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from zoo.verify.layout import MANIFEST, other_sizes, read_manifest, version_number
from zoo.verify.report import Check, Rule

__all__ = ["CONTENTS", "check_files", "checksum"]

PATTERN = re.compile(r"[\[\\]")
"""What in a path stands for something else where TensorFlow looks for the files of variables by a pattern."""

LEAST_PARTS = 3
"""Of a folder that is looked for: what is shorter, such as `/models`, can be a word of a text."""


def checksum(file: Path) -> str:
    """SHA-256 of what a file holds, in hexadecimal digits."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def check_files(path: Path) -> Check:
    """Whether every file of the manifest is there, whole, and no other; if so, it says how large all is."""
    check = FILES.check(path)
    return replace(check, detail=f"{check.detail}; {_size(path)}") if check.ok else check


def _missing_or_cut(path: Path) -> Iterator[str]:
    if not (path / MANIFEST).is_file():
        yield _what_it_is_instead(path)
        return
    if PATTERN.search(str(path.resolve())):
        yield (
            f"{path.resolve()} has [ or \\ in it, which TensorFlow takes for a pattern of many paths: move "
            "it to a folder without."
        )
    sizes = read_manifest(path)["files"]
    there = {file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file()}
    for name in sorted(there - set(sizes) - {MANIFEST}):
        yield f"{name} is not listed in {MANIFEST}."
    for problem in other_sizes(path, sizes):
        yield f"{problem}."
    for name in sizes:
        if (path / name).is_file() and not os.access(path / name, os.R_OK):
            yield f"{name} may not be read by this user."


def _what_it_is_instead(path: Path) -> str:
    """Why a folder without a manifest has none."""
    if not path.is_dir():
        return f"Expected a folder NAME/VERSION with the file {MANIFEST} in it, got {path}, which is none."
    if (path / "saved_model.pb").is_file():
        return (
            f"{path} is a SavedModel without the file {MANIFEST}: it was not written by the zoo, or not "
            "copied whole. A server may well load it, but nobody knows what it should answer. Write exports "
            "with zoo.export.write or `zoo export`."
        )
    versions = sorted(
        number for child in path.iterdir() if (number := version_number(child.name)) is not None
    )
    if versions:
        return f"{path} is the folder of a model, not of a version: give {path / str(versions[-1])}."
    return f"Expected a folder NAME/VERSION with the file {MANIFEST} in it, got {path}, which has none."


def _size(path: Path) -> str:
    files = [file for file in path.rglob("*") if file.is_file()]
    return f"{sum(file.stat().st_size for file in files) / 1e6:.1f} MB in {len(files)} files"


FILES = Rule(
    "files",
    "every file of the manifest is there, with its size, and no other",
    "Copy the whole folder again, so that it can be read, or export again.",
    _missing_or_cut,
)
"""For the folder of an export."""


def _changed(path: Path) -> Iterator[str]:
    manifest = read_manifest(path)
    listed: Mapping[str, Any] = manifest.get("sha256", {})
    for name in manifest["files"]:
        if name not in listed:
            yield f"{MANIFEST} has no SHA-256 of {name}."
        elif checksum(path / name) != listed[name]:
            yield f"{name} holds something else than when it was written."


def _bound_to_one_place(path: Path) -> Iterator[str]:
    """Links, and files that name the folder that they lie in; a word may follow that only begins like it."""
    for entry in sorted(path.rglob("*")):
        if entry.is_symlink():
            name = entry.relative_to(path).as_posix()
            yield f"{name} is a link to {entry.readlink()}, which a copy may leave behind."
    folder = path.resolve().parent
    if len(folder.parts) < LEAST_PARTS:
        return
    here = re.compile(re.escape(str(folder).encode()) + rb"(?![\w.-])")
    for name in read_manifest(path)["files"]:
        if here.search((path / name).read_bytes()):
            yield f"{name} names the folder {folder}."


CONTENTS = (
    Rule(
        "contents",
        "every file holds what was written, such as the vocabularies",
        "A published version is never changed: export again, as the next version.",
        _changed,
    ),
    Rule(
        "movable",
        "no file names the folder that it lies in, and none is a link",
        "Give the model what it reads as variables, constants or assets, not by a path; let files be "
        "where links are, as `cp -rL` copies them.",
        _bound_to_one_place,
    ),
)
"""For the folder of an export whose files are there."""
