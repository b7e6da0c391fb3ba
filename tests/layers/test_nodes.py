import keras
import numpy as np
import pytest

from zoo.layers import AdjacencyBias, EncoderBlock, MultiHeadAttention, OneHot, adjacency_mask

random = np.random.default_rng(5)

ATOMS = np.array([[0, 1, 2, 1, 3], [2, 1, 1, 0, 0]])
EXISTS = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], bool)
BONDS = np.zeros((2, 5, 5), "int32")
for b, i, j, kind in [(0, 0, 1, 1), (0, 1, 2, 2), (0, 2, 3, 1), (0, 1, 4, 3), (1, 0, 1, 1), (1, 1, 2, 2)]:
    BONDS[b, i, j] = BONDS[b, j, i] = kind


@pytest.fixture(scope="module")
def bias():
    layer = AdjacencyBias(4, heads=2)
    layer.build(BONDS.shape)
    layer.set_weights([random.normal(size=(4, 2))])
    return layer


def test_bias_equals_the_equation(bias):
    found, learned = bias(BONDS).numpy(), bias.biases.numpy()
    assert found.shape == (2, 2, 5, 5)
    for b, h, i, j in np.ndindex(found.shape):
        assert found[b, h, i, j] == learned[BONDS[b, i, j], h]


def test_edges_have_a_direction(bias):
    one_way = np.zeros((1, 2, 2), "int32")
    one_way[0, 0, 1] = 2
    found, learned = bias(one_way).numpy(), bias.biases.numpy()
    np.testing.assert_array_equal(found[0, :, 0, 1], learned[2])
    np.testing.assert_array_equal(found[0, :, 1, 0], learned[0])


@pytest.fixture(scope="module", params=["attention", "block"])
def looks(request, bias):
    """Atoms that look at each other once, (B, N, 4)."""
    keras.utils.set_random_seed(3)
    one_hot = OneHot(4)
    attention, block = MultiHeadAttention(4, heads=2), EncoderBlock(4, heads=2, units=3)

    def look(atoms, mask, bonds):
        nodes, biases = one_hot(atoms), bias(bonds)
        if request.param == "block":
            return block(nodes, mask, bias=biases).numpy()
        return attention(nodes, attention.project(nodes), mask, bias=biases).numpy()

    return look


MASKS = {
    "neighbours": adjacency_mask,
    "all": lambda bonds, exists: exists[:, None, :] & exists[:, :, None],
}
each_mask = pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())


@each_mask
def test_nodes_in_another_order_give_the_same_vectors_in_that_order(looks, mask):
    found = looks(ATOMS, mask(BONDS, EXISTS), BONDS)
    for order in (random.permutation(5) for _ in range(5)):
        bonds = BONDS[:, order][:, :, order]
        moved = looks(ATOMS[:, order], mask(bonds, EXISTS[:, order]), bonds)
        np.testing.assert_allclose(moved, found[:, order], atol=1e-6)


@each_mask
def test_what_is_no_node_changes_nothing(looks, mask):
    found = looks(ATOMS, mask(BONDS, EXISTS), BONDS)
    atoms, bonds = ATOMS.copy(), BONDS.copy()
    atoms[1, 3:] = 2
    bonds[1, 3:, :] = bonds[1, :, 3:] = 3
    moved = looks(atoms, mask(bonds, EXISTS), bonds)
    np.testing.assert_allclose(moved[EXISTS], found[EXISTS], atol=1e-6)


def test_edges_draw_attention():
    """Queries of zeros: where a node looks is the softmax of the biases alone, by hand."""
    bias = AdjacencyBias(4, heads=2)
    bias.build((1, 3, 3))
    bias.set_weights([np.log([[1, 1], [3, 1], [1, 2], [1, 1]])])
    attention = MultiHeadAttention(4, heads=2)
    nodes = np.ones((1, 3, 4), "float32")
    keys = attention.project(nodes).keys
    attention.query_projection.set_weights([np.zeros((4, 4)), np.zeros(4)])
    edges = np.array([[[0, 1, 0], [1, 0, 2], [0, 2, 0]]])
    found = attention.alignment(nodes, keys, np.ones((1, 1, 3), bool), bias=bias(edges))
    np.testing.assert_allclose(found[0, 0], [[0.2, 0.6, 0.2], [0.6, 0.2, 0.2], [1 / 3] * 3], atol=1e-6)
    np.testing.assert_allclose(found[0, 1], [[1 / 3] * 3, [0.25, 0.25, 0.5], [0.25, 0.5, 0.25]], atol=1e-6)


def test_the_mask_hides_and_the_bias_does_not(looks):
    atoms = ATOMS.copy()
    atoms[0, 3] = 3  # two bonds away from node 1
    for name, sees_it in (("neighbours", False), ("all", True)):
        mask = MASKS[name](BONDS, EXISTS)
        moved = looks(atoms, mask, BONDS) - looks(ATOMS, mask, BONDS)
        assert np.any(np.abs(moved[0, 1]) > 1e-3) == sees_it


@each_mask
def test_bonds_matter(looks, mask):
    fewer = BONDS.copy()
    fewer[0, 1, 4] = fewer[0, 4, 1] = 0
    moved = looks(ATOMS, mask(fewer, EXISTS), fewer) - looks(ATOMS, mask(BONDS, EXISTS), BONDS)
    assert np.any(np.abs(moved[0, 1]) > 1e-3)
    np.testing.assert_allclose(moved[1], 0, atol=1e-6)
