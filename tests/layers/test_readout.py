import numpy as np
from equations import maxout_readout

from zoo.layers import MaxoutReadout


def test_equals_the_equation():
    random = np.random.default_rng(0)
    inputs = random.normal(size=(2, 3, 5)).astype("float32")
    layer = MaxoutReadout(7, units=4)
    logits = layer(inputs)
    weights = [random.normal(size=w.shape).astype("float32") for w in layer.weights]
    layer.set_weights(weights)

    np.testing.assert_allclose(layer(inputs), maxout_readout(inputs, *weights), atol=1e-5)
    assert logits.shape == (2, 3, 7)


def test_each_unit_is_the_larger_of_two():
    layer = MaxoutReadout(1, units=2)
    layer.build((None, 1))
    layer.set_weights(
        [np.array([[1.0, 2.0, -1.0, 5.0]]), np.zeros(4), np.array([[1.0], [10.0]]), np.zeros(1)]
    )

    np.testing.assert_allclose(layer(np.array([[1.0], [-1.0]])), [[51.0], [-19.0]])
