"""Version folders on disk: which there are, whether one is complete, and whether one has changed.

A version is a child of a model's base path whose name is an integer, `saved_models/dates/1`. TensorFlow
Serving loads such a folder as soon as it exists, complete or not; here it is checked first.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from tensorflow.core.protobuf.meta_graph_pb2 import MetaGraphDef
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

from zoo.verify.layout import MANIFEST, other_sizes, read_sizes, version_number

__all__ = ["BrokenVersionError", "Fingerprint", "check", "find_models", "find_versions", "fingerprint"]

Fingerprint = tuple[tuple[str, int, int], ...]
"""Relative path, size in bytes and time of change of every file below a folder."""

_REMEDY = "publish the version again: write it beside its place, then rename it to its number"
_VARIABLE_OPS = {"VarHandleOp", "VariableV2", "Variable"}
_SERVE = "serve"
_SHARD = re.compile(r"variables\.data-[0-9]{5,}-of-([0-9]{5,})")


class BrokenVersionError(ValueError):
    """A version that must not be served: names its folder, the reason and the remedy.

    Attributes:
        code: the canonical status code that the version's status tells.
    """

    def __init__(
        self, path: Path, reason: str, remedy: str = _REMEDY, *, code: str = "FAILED_PRECONDITION"
    ) -> None:
        super().__init__(f"{path} is not served: {reason}. Remedy: {remedy}.")
        self.path = path
        self.reason = reason
        self.code = code


def find_models(folder: Path) -> dict[str, Path]:
    """The models below a folder, name to base path: its sub-folders that have a version."""
    children = sorted(folder.iterdir()) if folder.is_dir() else []
    return {child.name: child for child in children if child.is_dir() and find_versions(child)}


def find_versions(base_path: Path) -> dict[int, Path]:
    """The versions below a base path, number to folder, complete or not; highest first.

    Raises:
        OSError: the base path is missing or cannot be listed.
    """
    named = {child: version_number(child.name) for child in sorted(base_path.iterdir(), reverse=True)}
    numbered = {number: child for child, number in named.items() if number is not None}
    return dict(sorted(numbered.items(), reverse=True))


def fingerprint(folder: Path) -> Fingerprint | None:
    """What tells two contents of a folder apart without reading them; None while it is being rewritten."""
    try:
        return tuple(
            (str(path.relative_to(folder)), status.st_size, status.st_mtime_ns)
            for path in sorted(folder.rglob("*"))
            if (status := path.stat())
        )
    except OSError:
        # A file went away while the folder was listed.
        return None


def check(folder: Path) -> MetaGraphDef:
    """The graph of a version, after everything that it needs was found on disk.

    Raises:
        BrokenVersionError: something is missing, cut off, or not a SavedModel for serving. Nothing else is
            raised: one broken version must not end a server, nor its watch over the others.
    """
    try:
        return _checked(folder)
    except BrokenVersionError:
        raise
    except Exception as error:
        raise BrokenVersionError(folder, f"it cannot be checked ({error!r})") from error


def _checked(folder: Path) -> MetaGraphDef:
    if not folder.is_dir():
        raise BrokenVersionError(folder, "it is a file, and a folder with a SavedModel was expected")
    model_file = folder / "saved_model.pb"
    if not model_file.is_file():
        raise BrokenVersionError(folder, "it has no saved_model.pb", code="NOT_FOUND")
    for problem in _manifest_problems(folder):
        raise BrokenVersionError(folder, problem)
    meta_graph = _serving_graph(folder, model_file)
    for problem in _missing_files(folder, meta_graph):
        raise BrokenVersionError(folder, problem)
    return meta_graph


def _serving_graph(folder: Path, model_file: Path) -> MetaGraphDef:
    saved_model = SavedModel()
    try:
        saved_model.ParseFromString(model_file.read_bytes())
    except Exception as error:
        # protobuf's own error class differs between its implementations
        raise BrokenVersionError(folder, f"saved_model.pb cannot be read ({error})") from error
    for meta_graph in saved_model.meta_graphs:
        if set(meta_graph.meta_info_def.tags) == {_SERVE}:
            return meta_graph
    found = [sorted(graph.meta_info_def.tags) for graph in saved_model.meta_graphs]
    raise BrokenVersionError(folder, f"saved_model.pb has no graph tagged {_SERVE!r}, only {found}")


def _manifest_problems(folder: Path) -> Iterator[str]:
    """Differences from the sizes that the exporter noted in `assets.extra/zoo.json`, where it did."""
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return
    try:
        sizes = read_sizes(json.loads(manifest.read_bytes()))
    except ValueError as error:
        yield f"{MANIFEST} is not a manifest ({error})"
        return
    yield from other_sizes(folder, sizes)


def _missing_files(folder: Path, meta_graph: MetaGraphDef) -> Iterator[str]:
    """Files that the graph reads at loading and that are not there."""
    if any(node.op in _VARIABLE_OPS for node in meta_graph.graph_def.node):
        yield from _missing_variables(folder / "variables")
    for asset in meta_graph.asset_file_def:
        if not (folder / "assets" / asset.filename).is_file():
            yield f"assets/{asset.filename} is missing"


def _missing_variables(variables: Path) -> Iterator[str]:
    if not (variables / "variables.index").is_file():
        yield "the graph has variables, and variables/variables.index is missing"
        return
    shards = filter(None, (_SHARD.fullmatch(path.name) for path in sorted(variables.iterdir())))
    count = next((int(shard[1]) for shard in shards), 0)
    if not count:
        yield "the graph has variables, and there is no variables/variables.data-* file"
    for number in range(count):
        name = f"variables.data-{number:05d}-of-{count:05d}"
        if not (variables / name).is_file():
            yield f"variables/{name} is missing"
