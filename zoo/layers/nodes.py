"""Sets of nodes joined by edges, such as the atoms of a molecule.

Nodes enter a model as tokens do: kinds of atoms by `OneHot` or an embedding, given features as they are, and
without positions. Their edges enter attention: as a mask, `adjacency_mask`, or as the bias below. Attention
is then equivariant: nodes in another order give the same vectors in that order.
"""

import keras
from keras import ops

from zoo.layers.sizes import require_positive

__all__ = ["AdjacencyBias"]


@keras.saving.register_keras_serializable("zoo")
class AdjacencyBias(keras.layers.Layer):
    """A number for each head and each kind of edge, added to attention scores, by Ying et al. (2021),
    section 3.1.2, equation 6::

        score_h(i, j) = q_i . k_j / sqrt(d) + b[edge_type(i, j), h]

    The kinds are the caller's: bonds, with a kind for `none` and one for a node with itself, or numbers of
    steps from node to node, as in the paper. The bias hides nothing; which nodes are there is the mask's.

    Args:
        num_edge_types: number of kinds of edges.
        heads: number of attention heads, H in shapes.

    Call arguments:
        edge_types: (B, N, N) int, each from 0 to `num_edge_types` - 1; from the node that looks, axis 1, to
            the one that is looked at.

    Returns:
        (B, H, N, N) to add to scores before the softmax.

    Raises:
        ValueError: there is no kind of edges, or no head.
    """

    def __init__(self, num_edge_types: int, *, heads: int, **kwargs) -> None:
        super().__init__(**kwargs)
        require_positive(num_edge_types=num_edge_types, heads=heads)
        self.num_edge_types = num_edge_types
        self.heads = heads

    def build(self, edge_types_shape) -> None:
        self.biases = self.add_weight(
            shape=(self.num_edge_types, self.heads),
            initializer=keras.initializers.RandomNormal(stddev=0.02),
            name="biases",
        )
        self.built = True

    def call(self, edge_types):
        biases = ops.cast(self.biases, self.compute_dtype)
        return ops.transpose(ops.take(biases, edge_types, axis=0), (0, 3, 1, 2))

    def get_config(self):
        return {**super().get_config(), "num_edge_types": self.num_edge_types, "heads": self.heads}
