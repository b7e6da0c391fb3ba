"""Lines of nodes and edges, good and bad in one batch, and what a predictor answers to them."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from broken_exports import failing
from served_answers import ask, assert_same, clients

import zoo.export
from zoo.predictors import NodeSetReader, RecordRegressingPredictor
from zoo.predictors.node_sets import read_node_sets
from zoo.serving.server import Server
from zoo.tokenizers import Words

ATOMS = Words(["C", "N", "O"])
C, N, O, UNKNOWN = 4, 5, 6, 3  # noqa: E741 - the symbols of the elements
WRONG = "an edge is not i-j or i-j:k, of nodes of the set and k from 1 to 2"

READ = {
    "C": ([C], {}),
    "C C O | 0-1 1-2": ([C, C, O], {(0, 1): 1, (1, 2): 1}),
    "  C  O|0-1:2 ": ([C, O], {(0, 1): 2}),
    "C O |": ([C, O], {}),
    "N N | 1-0:2 0-1": ([N, N], {(0, 1): 2}),
    "C X O | 0-0 2-2": ([C, UNKNOWN, O], {(0, 0): 1, (2, 2): 1}),
    "C C C C C | 000003-000004": ([C] * 5, {(3, 4): 1}),
}

NOT_READ = {
    "": "there are no nodes",
    "   ": "there are no nodes",
    "| 0-1": "there are no nodes",
    "C C C C C C": "more than 5 nodes",
    "C C | 0-2": WRONG,
    "C C | 0-1:3": WRONG,
    "C C | 0-1:0": WRONG,
    "C C | 0-1:": WRONG,
    "C C | 0-1 zero-one": WRONG,
    "C C | -1-0": WRONG,
    "C C | 9999999-0": WRONG,
    "C C | 0-1 | 0-1": WRONG,
    b"C C | 0\xff1": WRONG,
}


@pytest.fixture(scope="module")
def together():
    function = tf.function(
        lambda nodes: read_node_sets(nodes, ATOMS, edge_types=3, max_nodes=5)._asdict(),
        input_signature=[tf.TensorSpec([None], tf.string)],
        autograph=False,
    )
    lines = tf.constant([*READ, *NOT_READ])
    return {name: value.numpy() for name, value in function(lines).items()}


@pytest.mark.parametrize("line", READ)
def test_a_line_is_read_beside_others(together, line):
    row, (ids, edges) = list(READ).index(line), READ[line]
    assert together["problem"][row] == b""
    assert together["ids"][row].tolist() == ids + [0] * (5 - len(ids))
    expected = np.zeros([5, 5], int)
    for (start, end), kind in edges.items():
        expected[start, end] = expected[end, start] = kind
    np.testing.assert_array_equal(together["edge_types"][row], expected)


@pytest.mark.parametrize("line", NOT_READ)
def test_what_is_no_node_set_is_empty_and_says_why(together, line):
    row = len(READ) + list(NOT_READ).index(line)
    assert together["problem"][row].decode() == NOT_READ[line]
    assert not together["ids"][row].any()
    assert not together["edge_types"][row].any()


@pytest.mark.parametrize("lines", [[], [""], ["C | 0-9"]])
def test_a_batch_with_nothing_in_it(lines):
    sets = read_node_sets(tf.constant(lines, tf.string), ATOMS, edge_types=3, max_nodes=5)
    assert sets.ids.shape == (len(lines), 1)
    assert sets.edge_types.shape == (len(lines), 1, 1)


@pytest.mark.parametrize("sizes", [{"edge_types": 1}, {"max_nodes": 0}])
def test_sizes_that_leave_nothing(sizes):
    with pytest.raises(ValueError, match="two kinds of edges at least"):
        NodeSetReader(ATOMS, **sizes)


class OxygenNeighbours(keras.Model):
    """How many edges lead to oxygen, twice as many for edges of kind 2; so of known answers."""

    def call(self, inputs):
        oxygen = keras.ops.cast(keras.ops.equal(inputs["source"], O), "float32")
        edges = keras.ops.cast(inputs["edge_types"], "float32")
        return keras.ops.sum(edges * oxygen[:, None, :], axis=(1, 2))[:, None]


def test_an_export_answers_as_it_should_over_both_protocols(tmp_path):
    predictor = RecordRegressingPredictor(
        OxygenNeighbours(), NodeSetReader(ATOMS, edge_types=3, max_nodes=5), blank_value=-1.0
    )
    card = zoo.export.Card("oxygen", "Counts neighbours.", "toy", "none", (), "CC0-1.0")
    path = zoo.export.write(predictor, tmp_path, card=card, questions=list(READ))
    assert failing(path) == {}
    lines = [*READ, *NOT_READ]
    values = [0.0, 1.0, 2.0, 0.0, 0.0, 1.0, 0.0]
    expected = ask(predictor.signatures()["regress"], {"nodes": lines})
    assert expected["value"] == values + [-1.0] * len(NOT_READ)
    assert expected["problem"] == [""] * len(READ) + list(NOT_READ.values())
    with Server({"oxygen": path.parent}, grpc_port=0, rest_port=0) as running:
        for client in clients(running, "oxygen"):
            assert_same(client.predict({"nodes": lines}, signature="regress"), expected, "served")
            assert_same(client.predict({"nodes": lines}), {"value": expected["value"]}, "default")
            assert client.regress(lines) == expected["value"]
