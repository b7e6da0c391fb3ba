"""Sets of nodes joined by edges, such as the atoms of a molecule, written as lines of text.

    C C O | 0-1 1-2:1

First the kinds of the nodes, by name. After a bar the edges: numbers of two nodes, counted from 0, and after
a colon a kind of edge, a number from 1 up; 1 where none is given. An edge joins its nodes in both directions.
A line can be asked over REST and gRPC as any text can, and no line makes the graph fail: one that is not
written so has no nodes, and says why.
"""

from typing import Any, NamedTuple

import tensorflow as tf

from zoo.predictors.records import Read
from zoo.tokenizers import PAD, Tokenizer

__all__ = ["NodeSetReader", "NodeSets", "read_node_sets"]

EDGE = r"([0-9]{1,6})-([0-9]{1,6})(?::([0-9]{1,6}))?"


class NodeSets(NamedTuple):
    """Sets of nodes, filled up to the largest of the batch."""

    ids: tf.Tensor
    """(B, N) int32: the kind of each node, then PAD; N is at least 1."""
    edge_types: tf.Tensor
    """(B, N, N) int32: the kind of the edge between two nodes, 0 where there is none."""
    problem: tf.Tensor
    """(B,) strings: why a row has no nodes; empty where it has some."""


class NodeSetReader:
    """Reads lines of nodes and edges.

    The model gets `source`, ids (B, N) int32, and `edge_types` (B, N, N) int32, as `zoo.layers.AdjacencyBias`
    and `zoo.layers.adjacency_mask` take them.

    Args:
        tokenizer: of the names of the nodes, such as `zoo.tokenizers.Words`, one token each.
        edge_types: number of kinds of edges, that for `none`, 0, counted.
        max_nodes: a larger set is refused: without the rest it would be another one.

    Raises:
        ValueError: there is no kind of edges but none, or no node is allowed.
    """

    name = "nodes"

    def __init__(self, tokenizer: Tokenizer, *, edge_types: int = 2, max_nodes: int = 128) -> None:
        if edge_types < 2 or max_nodes < 1:
            raise ValueError(
                "Node sets have two kinds of edges at least, one of them none, and a node at least, got "
                f"edge_types {edge_types} and max_nodes {max_nodes}."
            )
        self.tokenizer = tokenizer
        self.edge_types = edge_types
        self.max_nodes = max_nodes

    def read(self, records: Any) -> Read:
        """Lines (B,) to nodes and edges."""
        sets = read_node_sets(records, self.tokenizer, edge_types=self.edge_types, max_nodes=self.max_nodes)
        return Read({"source": sets.ids, "edge_types": sets.edge_types}, sets.problem)

    def describe(self) -> dict[str, str]:
        """The names of the nodes."""
        return {"source_vocabulary.json": self.tokenizer.describe()}


def read_node_sets(nodes: Any, tokenizer: Tokenizer, *, edge_types: int, max_nodes: int) -> NodeSets:
    """Lines of text as node sets.

    Args:
        nodes: (B,) strings. Invalid UTF-8 is read as U+FFFD.
        tokenizer: of the names of the nodes, such as `zoo.tokenizers.Words`, one token each.
        edge_types: number of kinds of edges, that for `none` counted.
        max_nodes: a larger set is refused: without the rest it would be another one.
    """
    text = tf.strings.unicode_transcode(nodes, "UTF-8", "UTF-8", errors="replace")
    names = tf.strings.regex_replace(tf.strings.regex_replace(text, r"(?s)\|.*", ""), r"\s+", " ")
    ids = tokenizer.encode(tf.strings.strip(names))
    edges = tf.strings.split(tf.strings.regex_replace(text, r"(?s)^[^|]*\|?", ""))
    counts = tf.cast(ids.row_lengths(), tf.int32)
    rows = tf.cast(edges.value_rowids(), tf.int32)
    starts, ends, kinds, fit = _edges(edges.values, tf.gather(counts, rows), edge_types)
    bad = tf.math.unsorted_segment_sum(tf.cast(~fit, tf.int32), rows, tf.size(counts)) > 0
    many = counts > max_nodes
    problem = tf.where(
        bad, f"an edge is not i-j or i-j:k, of nodes of the set and k from 1 to {edge_types - 1}", ""
    )
    problem = tf.where(many, f"more than {max_nodes} nodes", problem)
    problem = tf.where(counts == 0, "there are no nodes", problem)
    good = problem == ""
    size = tf.maximum(1, tf.reduce_max(tf.where(good, counts, 0)))
    kept = tf.boolean_mask(tf.stack([rows, starts, ends, kinds], axis=1), fit & tf.gather(good, rows))
    return NodeSets(
        tf.where(good[:, None], ids.to_tensor(PAD, shape=[None, max_nodes])[:, :size], PAD),
        _matrices(kept, tf.size(counts), size),
        problem,
    )


def _edges(
    written: tf.Tensor, counts: tf.Tensor, edge_types: int
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
    """Both nodes and the kind of each edge, and whether it fits a set of so many nodes; all (E,)."""
    matched = tf.strings.regex_full_match(written, EDGE)
    start, end, kind = (
        tf.strings.to_number(
            tf.where(matched, tf.strings.regex_replace(written, EDGE, rf"0\{group}"), "0"), tf.int32
        )
        for group in (1, 2, 3)
    )
    kind = tf.where(tf.strings.regex_full_match(written, ".*:.*"), kind, 1)
    fit = matched & (start < counts) & (end < counts) & (kind >= 1) & (kind < edge_types)
    return start, end, kind, fit


def _matrices(edges: tf.Tensor, count: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
    """Edges (E, 4), each a row of the batch, two nodes and a kind, as (B, N, N); of two, the greater kind."""
    both = tf.concat([edges, tf.gather(edges, [0, 2, 1, 3], axis=1)], axis=0)
    nothing = tf.zeros(tf.stack([count, size, size]), tf.int32)
    return tf.tensor_scatter_nd_max(nothing, both[:, :3], both[:, 3])
