"""The ops of a graph and of its functions, and what there is meant for XLA, which TensorFlow Serving has
switched off: neither an export nor a server should let that pass."""

from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["is_of_xla", "nodes", "operations", "parts", "parts_for_xla"]

_MARKS = ("_XlaMustCompile", "_XlaCompile")


def parts(meta_graph: Any) -> Iterator[Iterable[Any]]:
    """The nodes of a `MetaGraphDef` itself, and those of each function; a name is its part's own."""
    yield meta_graph.graph_def.node
    for function in meta_graph.graph_def.library.function:
        yield function.node_def


def nodes(meta_graph: Any) -> Iterator[Any]:
    """Every `NodeDef` of a `MetaGraphDef`, those in its functions too."""
    for part in parts(meta_graph):
        yield from part


def operations(meta_graph: Any) -> set[str]:
    """Names of all ops in a graph and in its functions, calls of its own functions left out."""
    own = {function.signature.name for function in meta_graph.graph_def.library.function}
    return {node.op for node in nodes(meta_graph)} - own


def is_of_xla(operation: str) -> bool:
    """Whether an op is made for XLA, or for the TPUs behind it."""
    return "Xla" in operation or "TPU" in operation


def parts_for_xla(meta_graph: Any) -> Iterator[str]:
    """What of a graph is made for XLA, or is to be compiled with it, each in a sentence."""
    for name in sorted(operations(meta_graph)):
        if is_of_xla(name):
            yield f"The op {name} belongs to XLA."
    for function in meta_graph.graph_def.library.function:
        if _is_marked(function.attr):
            yield f"The function {function.signature.name} is compiled with XLA."
    for node in nodes(meta_graph):
        if _is_marked(node.attr):
            yield f"The call {node.name} asks for XLA."


def _is_marked(attributes: Any) -> bool:
    """Whether a function or call is marked so, or a function that it names is."""
    marked = any(name in attributes and attributes[name].b for name in _MARKS)
    named = [named.attr for value in attributes.values() for named in (value.func, *value.list.func)]
    return marked or any(_is_marked(other) for other in named)
