import keras
import numpy as np
import pytest

from zoo.layers import LayerNorm

random = np.random.default_rng(4)
GAMMA, BETA = random.normal(size=(2, 6)).astype("float32")


def made(layer, dtype="float32"):
    layer = layer(epsilon=1e-3, dtype=dtype)
    layer.build((None, None, 6))
    layer.set_weights([GAMMA, BETA])
    return layer


def test_equals_the_equation_and_keras_own_layer():
    inputs = random.normal(2.0, 3.0, size=(4, 5, 6)).astype("float32")
    mean, variance = inputs.mean(-1, keepdims=True), inputs.var(-1, keepdims=True)
    expected = (inputs - mean) / np.sqrt(variance + 1e-3) * GAMMA + BETA
    found = made(LayerNorm)(inputs)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    np.testing.assert_allclose(found, made(keras.layers.LayerNormalization)(inputs), atol=1e-5)


@pytest.mark.parametrize("dtype", ["mixed_float16", "float16"])
def test_large_numbers_in_half_precision(dtype):
    """Their squares are beyond what 16 bits hold, and only their differences count."""
    inputs = (30_000 + 100 * random.normal(size=(3, 6))).astype("float16")
    found = made(LayerNorm, dtype)(inputs)
    assert found.dtype == "float16"
    whole = inputs.astype("float64")
    centered = whole - whole.mean(-1, keepdims=True)
    expected = centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-3) * GAMMA + BETA
    np.testing.assert_allclose(np.asarray(found, "float32"), expected, atol=0.01)
