import keras
import numpy as np
import pytest

from zoo.layers import AdjacencyBias, OneHot, adjacency_mask, masked_softmax

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


class Round:
    """One round of attention over a molecule, in as few words as it takes."""

    def __init__(self, bias):
        self.one_hot, self.bias = OneHot(4), bias
        self.query, self.value = keras.layers.Dense(4), keras.layers.Dense(3)

    def __call__(self, atoms, mask, bonds):
        nodes = self.one_hot(atoms)
        scores = self.query(nodes) @ keras.ops.transpose(nodes, (0, 2, 1))
        weights = masked_softmax(scores[:, None] + self.bias(bonds), mask[:, None])
        return (weights @ self.value(nodes)[:, None]).numpy()


MASKS = {
    "neighbours": adjacency_mask,
    "all": lambda bonds, exists: exists[:, None, :] & exists[:, :, None],
}
each_mask = pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())


@each_mask
def test_nodes_in_another_order_give_the_same_vectors_in_that_order(bias, mask):
    layer = Round(bias)
    found = layer(ATOMS, mask(BONDS, EXISTS), BONDS)
    for order in (random.permutation(5) for _ in range(5)):
        bonds = BONDS[:, order][:, :, order]
        moved = layer(ATOMS[:, order], mask(bonds, EXISTS[:, order]), bonds)
        np.testing.assert_allclose(moved, found[:, :, order], atol=1e-6)


@each_mask
def test_what_is_no_node_changes_nothing(bias, mask):
    layer = Round(bias)
    found = layer(ATOMS, mask(BONDS, EXISTS), BONDS)
    atoms, bonds = ATOMS.copy(), BONDS.copy()
    atoms[1, 3:] = 2
    bonds[1, 3:, :] = bonds[1, :, 3:] = 3
    np.testing.assert_allclose(layer(atoms, mask(bonds, EXISTS), bonds), found, atol=1e-6)
    assert not found[1, :, 3:].any()


def test_the_mask_hides_and_the_bias_does_not(bias):
    layer = Round(bias)
    atoms = ATOMS.copy()
    atoms[0, 3] = 3  # two bonds away from node 1
    for name, sees_it in (("neighbours", False), ("all", True)):
        mask = MASKS[name](BONDS, EXISTS)
        moved = layer(atoms, mask, BONDS) - layer(ATOMS, mask, BONDS)
        assert np.any(np.abs(moved[0, :, 1]) > 1e-3) == sees_it


@each_mask
def test_bonds_matter(bias, mask):
    layer = Round(bias)
    fewer = BONDS.copy()
    fewer[0, 1, 4] = fewer[0, 4, 1] = 0
    moved = layer(ATOMS, mask(fewer, EXISTS), fewer) - layer(ATOMS, mask(BONDS, EXISTS), BONDS)
    assert np.any(np.abs(moved[0, :, 1]) > 1e-3)
    np.testing.assert_allclose(moved[1], 0, atol=1e-6)
