"""The versions of a model on disk, for those who run it: which there are, which are named, going back to one.

A server that watches a model's folder serves the highest number that it finds there. To go back, the higher
versions are withdrawn: renamed, so that no server takes them for versions, and nothing is lost. Labels such
as `stable` and `canary` stand in a file beside the versions; `zoo serve` hands them to the server.
"""

import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from zoo.serving.folders import BrokenVersionError, check, find_versions
from zoo.verify.layout import MANIFEST, WITHDRAWN, version_number

__all__ = ["LABELS", "Version", "label", "labels", "prune", "roll_back", "versions"]

LABELS = "labels.json"
"""Beside the versions: label to number."""

DELETED = ".tmp-deleted-"
"""What a version is renamed to before its files go; the next export removes what an interruption left."""


class Version(NamedTuple):
    """A version of a model, whole or not."""

    number: int
    path: Path
    labels: tuple[str, ...]
    withdrawn: bool
    problem: str | None
    """Why no server should have it; None where it is whole."""

    @property
    def servable(self) -> bool:
        """Whether a server may take it: it is whole, and not withdrawn."""
        return not self.withdrawn and self.problem is None

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.stat().st_size for file in self.path.rglob("*") if file.is_file())

    @property
    def created(self) -> str | None:
        """When it was exported, ISO 8601; None where its manifest does not say."""
        manifest = self.path / MANIFEST
        if self.problem or not manifest.is_file():
            return None
        created = json.loads(manifest.read_text(encoding="utf-8")).get("created")
        return created if isinstance(created, str) else None


def versions(home: Path) -> list[Version]:
    """All versions below a model's folder, highest first, withdrawn ones too.

    Raises:
        FileNotFoundError: there is no such folder, or no version in it.
    """
    if not home.is_dir():
        raise FileNotFoundError(f"There is no model in {home}. Give the folder NAME that holds NAME/VERSION.")
    named = labels(home)
    withdrawn = _withdrawn(home)
    found = {**withdrawn, **find_versions(home)}
    if not found:
        raise FileNotFoundError(f"{home} has no version: expected {home / '1'} with a SavedModel.")
    return [
        Version(
            number,
            path,
            tuple(sorted(name for name, labelled in named.items() if labelled == number)),
            path.name.startswith(WITHDRAWN),
            _problem(path),
        )
        for number, path in sorted(found.items(), reverse=True)
    ]


def roll_back(home: Path, to: int | None = None) -> list[Version]:
    """Make a version the highest: withdraw those above it, and bring it back if it was withdrawn itself.

    Each rename is one step, from the lowest up: until the last one the highest is the highest as before, so a
    server that looks meanwhile goes from that to the target, and loads none of those between. Whoever is
    interrupted has what was served before, and can go back again.

    Args:
        home: the model's folder.
        to: number of the version; None: the highest whole one below the one that is served now.

    Returns:
        The versions as they are now.

    Raises:
        ValueError: there is no such version, it is broken, or a label names one that would be withdrawn.
        FileNotFoundError: see `versions`.
    """
    known = versions(home)
    target = _target(home, known, to)
    above = [version for version in known if version.number > target.number and not version.withdrawn]
    for version in above:
        if version.labels:
            raise ValueError(
                f"Version {version.number} is labelled {', '.join(version.labels)}, and requests for that "
                f"would fail. Move the label first: zoo label {home} {version.labels[0]} {target.number}"
            )
        if (aside := home / f"{WITHDRAWN}{version.number}").exists():
            raise ValueError(
                f"Version {version.number} cannot be withdrawn: {aside} is there already. Move one of them."
            )
    if target.withdrawn:
        target.path.rename(home / str(target.number))
    for version in reversed(above):
        version.path.rename(home / f"{WITHDRAWN}{version.number}")
    return versions(home)


def prune(home: Path, keep: int) -> list[int]:
    """Delete all but the highest versions that are whole, not withdrawn, and those that have a label.

    Returns:
        The numbers that are gone.

    Raises:
        ValueError: fewer than one is to be kept, or there is none that is whole and not withdrawn.
        FileNotFoundError: see `versions`.
    """
    if keep < 1:
        raise ValueError(f"At least one version must be kept, got {keep}.")
    known = versions(home)
    served = [version.number for version in known if version.servable]
    if not served:
        raise ValueError(
            f"{home} has no version that is whole and not withdrawn, so that nothing would be left. "
            f"`zoo versions {home}` shows what is wrong with each."
        )
    gone = [version for version in known if version.number not in served[:keep] and not version.labels]
    for version in gone:
        aside = home / f"{DELETED}{version.number}-{os.getpid()}"
        version.path.rename(aside)
        _delete(aside)
    return [version.number for version in gone]


def _delete(path: Path) -> None:
    """A version is a folder, unless somebody put a file or a link in its place."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def labels(home: Path) -> dict[str, int]:
    """Label to version number.

    Raises:
        ValueError: the file of labels holds something else.
    """
    path = home / LABELS
    if not path.is_file():
        return {}
    try:
        named = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not JSON ({error}). Delete it, and label the versions again.") from error
    if not isinstance(named, dict) or any(type(number) is not int for number in named.values()):
        raise ValueError(f'{path} should map labels to numbers, such as {{"stable": 3}}. Got {named!r}.')
    return named


def label(home: Path, name: str, number: int | None) -> dict[str, int]:
    """Let a label name a version, or none.

    A server that `zoo serve` starts afterwards answers at `/v1/models/NAME/labels/LABEL:predict`. It serves
    the labelled versions and the highest, and keeps to them: it looks for no newer one.

    Args:
        home: the model's folder.
        name: such as `stable` or `canary`.
        number: of the version; None takes the label away.

    Returns:
        All labels as they are now.

    Raises:
        ValueError: the name cannot be part of a URL, there is no such version or label, or it is broken.
        FileNotFoundError: see `versions`.
    """
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", name):
        raise ValueError(
            f"A label is made of letters, digits, '_', '-' and '.', the last two not first, got {name!r}."
        )
    named, known = labels(home), versions(home)
    if number is None:
        if name not in named:
            raise ValueError(f"{home.name} has no label {name}, only {', '.join(named) or 'none at all'}.")
        return _write_labels(home, {other: value for other, value in named.items() if other != name})
    chosen = _whole(home, known, number)
    if chosen.withdrawn:
        raise ValueError(f"Version {number} was withdrawn. Bring it back: zoo rollback {home} --to {number}")
    return _write_labels(home, {**named, name: number})


def _target(home: Path, known: list[Version], to: int | None) -> Version:
    if to is not None:
        return _whole(home, known, to)
    served = [version for version in known if version.servable]
    if len(served) < 2:
        there = ", ".join(str(version.number) for version in known)
        raise ValueError(
            f"{home.name} has no earlier version that is whole and not withdrawn: there is {there}. "
            f"`zoo versions {home}` shows what is wrong with each."
        )
    return served[1]


def _whole(home: Path, known: list[Version], number: int) -> Version:
    for version in known:
        if version.number == number:
            if version.problem:
                raise ValueError(version.problem)
            return version
    numbers = ", ".join(str(version.number) for version in known)
    raise ValueError(f"{home.name} has no version {number}, only {numbers}.")


def _withdrawn(home: Path) -> dict[int, Path]:
    named = {path: version_number(path.name.removeprefix(WITHDRAWN)) for path in home.glob(f"{WITHDRAWN}*")}
    return {number: path for path, number in named.items() if number is not None}


def _problem(path: Path) -> str | None:
    try:
        check(path)
    except BrokenVersionError as error:
        return str(error)
    return None


def _write_labels(home: Path, named: Mapping[str, int]) -> dict[str, int]:
    """Whole or not at all."""
    beside = home / f".tmp-{LABELS}-{os.getpid()}"
    beside.write_text(json.dumps(named, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    beside.replace(home / LABELS)
    return dict(named)
