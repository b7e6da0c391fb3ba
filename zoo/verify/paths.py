"""Whether a graph depends on where something lies on a disk: by a path that it holds, or by a file that it
opens. What TensorFlow copies into an export, such as the file of a lookup table, is found by the export."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from zoo.verify.graph import Written
from zoo.verify.operations import nodes, parts
from zoo.verify.report import Rule

__all__ = ["RULES"]

ROOT = re.compile(r"(?:hash_table_)?(?:(?:file|gs|s3|hdfs|viewfs|ram)://|/|[A-Za-z]:[\\/]|\\\\)")
"""How a path begins that stands for the same place wherever it is used; the name of a table may hold one."""

PART = re.compile(r"[\w.@+~#%,=&'()-]+(?: +[\w.@+~#%,=&'()-]+)*")

LEAST_PARTS = 2
"""Of a path without a scheme, so that texts such as `/` and `/x` are none."""

OPENS_FILES = re.compile(
    r"(?:Read|Write)File|MatchingFiles(?:Dataset.*)?|WholeFileReader.*|(?:TextLine|TFRecord|FixedLengthRecord)"
    r"(?:Dataset|Reader).*|(?:Load|Save|Snapshot|ListSnapshotChunks|CSV|Experimental(?:LMDB|CSV)|LMDB)"
    r"Dataset.*|LMDBReader|SqlDataset|ExperimentalSqlDataset|ImmutableConst|LookupTableExportToFile"
    r"|GenerateVocabRemapping|LoadAndRemapMatrix|Restore|RestoreSlice|Save|SaveSlices"
)
"""Ops that open files by names that they are given, but for those of `NAMED_FILE`."""

NAMED_FILE = {
    "RestoreV2": 0,
    "SaveV2": 0,
    "InitializeTableFromTextFile": 1,
    "InitializeTableFromTextFileV2": 1,
    "CacheDataset": 1,
    "CacheDatasetV2": 1,
}
"""Ops that open files in sound exports, too, and which input names the file."""


def _places(written: Written) -> Iterator[str]:
    for asset in written.meta_graph.asset_file_def:
        parts = PurePosixPath(asset.filename)
        if parts.is_absolute() or ".." in parts.parts:
            yield f"The asset {asset.filename} lies outside the folder of the export."
    for node in nodes(written.meta_graph):
        if OPENS_FILES.fullmatch(node.op):
            yield f"{node.name} is the op {node.op}, which opens files that no export brings along."
        for text in _single_texts(node):
            if path := _path_in(text):
                yield f"{node.name} holds the path {path}."
    yield from _named_files(written.meta_graph)


def _named_files(meta_graph: Any) -> Iterator[str]:
    """Files that a constant of the graph names, and that are no assets."""
    assets = {_node_of(asset.tensor_info.name) for asset in meta_graph.asset_file_def}
    for part in parts(meta_graph):
        texts = {
            node.name: b"".join(node.attr["value"].tensor.string_val[:1])
            for node in part
            if node.op == "Const" and node.name not in assets
        }
        for node in (node for node in part if node.op in NAMED_FILE):
            if text := texts.get(_node_of(node.input[NAMED_FILE[node.op]])):
                name = text.decode("utf-8", "replace")
                yield f"{node.name} is the op {node.op}, which opens {name}, a file that is no asset."


def _node_of(tensor: str) -> str:
    """The name of the node that a tensor comes from."""
    return tensor.partition(":")[0]


def _single_texts(node: Any) -> Iterator[bytes]:
    """The names and other texts that a node is given, and a constant of one string; those of many are the
    words of a vocabulary, or labels, and may be anything."""
    for value in node.attr.values():
        yield value.s
        if len(value.tensor.string_val) == 1:
            yield value.tensor.string_val[0]


def _path_in(text: bytes) -> str:
    """The path that a text is, or that the name of a table is made of; empty if it is none."""
    path = text.decode("utf-8", "replace")
    root = ROOT.match(path)
    if root is None:
        return ""
    names = [name for name in re.split(r"[/\\]", path[root.end() :]) if name]
    least = 1 if "://" in root[0] else LEAST_PARTS
    is_path = len(names) >= least and all(map(PART.fullmatch, names))
    return path.removeprefix("hash_table_") if is_path else ""


RULES = (
    Rule(
        "paths",
        "the graph holds no absolute path and opens no files",
        "Give the graph what files hold, as in tf.lookup.KeyValueTensorInitializer, not where they lie.",
        _places,
    ),
)
"""For a `Written`."""
