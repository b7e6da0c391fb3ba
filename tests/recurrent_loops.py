"""Recurrent layers whose two loops, our scan and Keras' own, are to agree; on a GPU the latter is cuDNN."""

from collections import Counter

import numpy as np
import tensorflow as tf
from keras import tree

from zoo.layers import Recurrent, RecurrentStack

UNITS, WIDTH = 4, 3
INPUTS = np.random.default_rng(4).normal(size=(3, 6, WIDTH)).astype("float32")
MASKS = {
    "full": np.ones((3, 6), bool),
    "lengths 5 and 0": np.array([[1, 1, 1, 1, 1], [0, 0, 0, 0, 0]], bool),
    "right": np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0]], bool),
    "left": np.array([[1, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 1]], bool),
    "holes": np.array([[1, 0, 1, 0, 1, 1], [0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 1, 0]], bool),
    "nothing": np.zeros((2, 3), bool),
}
LAYERS = {
    "lstm": (Recurrent, {"cell": "lstm"}),
    "lstm, backward": (Recurrent, {"cell": "lstm", "direction": "backward"}),
    "gru": (Recurrent, {"cell": "gru"}),
    "gru, backward": (Recurrent, {"cell": "gru", "direction": "backward"}),
    "lstm, depth 2, bidirectional": (
        RecurrentStack,
        {"cell": "lstm", "depth": 2, "direction": "bidirectional"},
    ),
    "gru, depth 2, bidirectional": (
        RecurrentStack,
        {"cell": "gru", "depth": 2, "direction": "bidirectional", "residual": True, "layer_norm": True},
    ),
}


def make(name, loop, *, units=UNITS, width=WIDTH, **kwargs):
    """A layer of the table, with weights that depend on its row and size alone."""
    kind, arguments = LAYERS[name]
    layer = kind(units, **arguments, loop=loop, **kwargs)
    layer.build((None, None, width))
    random = np.random.default_rng(5)
    shapes = [weight.shape for weight in layer.weights]
    layer.set_weights([1.4 * random.normal(size=shape) / np.sqrt(shape[0]) for shape in shapes])
    return layer


def inputs_for(mask):
    return INPUTS[: mask.shape[0], : mask.shape[1]]


def training_step(layer, width=WIDTH):
    """A graph, over any lengths, to outputs and states, and to gradients for inputs and weights."""

    @tf.function(input_signature=[tf.TensorSpec((None, None, width)), tf.TensorSpec((None, None), tf.bool)])
    def step(inputs, mask):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            results = tree.flatten(layer(inputs, mask, training=True))
            flat = [tf.reshape(tf.cast(leaf, tf.float32), [-1]) for leaf in results]
            total = sum(tf.reduce_sum(x * tf.cos(tf.range(tf.size(x), dtype=x.dtype))) for x in flat)
        variables = [variable.value for variable in layer.trainable_variables]
        gradients = tape.gradient(total, [inputs, *variables])
        return results, [tf.convert_to_tensor(gradient) for gradient in gradients]

    return step


def prediction(layer):
    """A graph to outputs and states, as they are exported."""
    return tf.function(
        lambda inputs, mask: tree.flatten(layer(inputs, mask)),
        input_signature=[tf.TensorSpec((None, None, WIDTH)), tf.TensorSpec((None, None), tf.bool)],
    )


def operations(function):
    """How many operations of each type a traced function holds, those inside its loops too."""
    graph = function.get_concrete_function().graph.as_graph_def()
    inside = (node for function in graph.library.function for node in function.node_def)
    return Counter(node.op for nodes in (graph.node, inside) for node in nodes)


def assert_close(found, expected, **tolerance):
    for leaf, other in zip(tree.flatten(found), tree.flatten(expected), strict=True):
        np.testing.assert_allclose(tf.cast(leaf, tf.float32), tf.cast(other, tf.float32), **tolerance)
