"""Whether all files of an export are there."""

import json
from collections.abc import Iterator
from pathlib import Path

from zoo.verify.layout import MANIFEST
from zoo.verify.report import Rule

__all__ = ["RULES"]


def _missing_or_cut(path: Path) -> Iterator[str]:
    if not (path / MANIFEST).is_file():
        yield f"Expected a folder NAME/VERSION with the file {MANIFEST} in it, got {path}."
        return
    manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    if not isinstance(manifest["card"]["name"], str):
        yield f"The card in {MANIFEST} has no name."
    there = {file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file()}
    for name in sorted(there - set(manifest["files"]) - {MANIFEST}):
        yield f"{name} is not listed in {MANIFEST}."
    for name, size in manifest["files"].items():
        file = path / name
        if not file.is_file():
            yield f"{name} is missing."
        elif file.stat().st_size != size:
            yield f"{name} has {file.stat().st_size} bytes instead of {size}."


RULES = (
    Rule(
        "files",
        "every file of the manifest is there, with its size, and no other",
        "Copy the whole folder again, or export again.",
        _missing_or_cut,
    ),
)
"""For the folder of an export."""
