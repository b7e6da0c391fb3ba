"""Small models with masks: right ones, and ones made wrong on purpose."""

import keras
import numpy as np
from keras import layers, ops

IDS = np.array([[4, 5, 6, 7, 8], [6, 2, 0, 0, 0], [4, 4, 9, 3, 0]], "int32")
FLOATS = np.random.default_rng(1).normal(size=(3, 5, 4)).astype("float32") * (IDS > 0)[..., None]
VOCABULARY = 10


def embedding(mask=True, name="embedding", **kwargs):
    return layers.Embedding(
        VOCABULARY,
        6,
        embeddings_initializer=keras.initializers.RandomNormal(0, 1, 3),
        mask_zero=mask,
        name=name,
    )


def functional(body, *, mask=True, length=None):
    """A functional model from ids to what `body` makes of their embeddings and itself."""
    keras.utils.set_random_seed(0)
    ids = keras.Input((length,), dtype="int32", name="ids")
    return keras.Model(ids, body(embedding(mask)(ids)), name="model")


def sequential(*parts):
    keras.utils.set_random_seed(0)
    return keras.Sequential([*parts], name="model")


class NormalizedOverTime(layers.Layer):
    """Mean 0 over all positions, padding among them."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, inputs):
        return inputs - ops.mean(inputs, axis=1, keepdims=True)


class DotAttention(layers.Layer):
    """Every position looks at all, or at those of the mask."""

    def __init__(self, masked=True, causal=False, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.masked = masked
        self.causal = causal
        self.keys = layers.Dense(6, use_bias=False, name="keys")

    def build(self, input_shape):
        self.keys.build(input_shape)
        self.built = True

    def call(self, inputs, mask=None):
        scores = ops.matmul(inputs, ops.swapaxes(self.keys(inputs), 1, 2))
        if self.masked:
            scores = ops.where(mask[:, None, :], scores, -1e9)
        if self.causal:
            position = ops.arange(ops.shape(inputs)[1])
            scores = ops.where(position[:, None] >= position, scores, -1e9)
        return ops.matmul(ops.softmax(scores, axis=-1), inputs)


class Neighbour(layers.Layer):
    """Each row gets something of the row before it."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, inputs):
        return inputs + 0.1 * ops.roll(inputs, 1, axis=0)


class LargestOfBatch(layers.Layer):
    """Divides by a statistic of the batch that no order changes."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, inputs):
        return inputs / ops.max(ops.abs(inputs))


class HiddenGradient(layers.Layer):
    """A sum over tokens, whose value is right and whose gradient goes to padding too."""

    def call(self, inputs, mask=None):
        masked = ops.where(mask[:, :, None], inputs, ops.zeros_like(inputs))
        return ops.sum(masked + (inputs - ops.stop_gradient(inputs)), axis=1)

    def compute_mask(self, inputs, previous_mask=None):
        return None


class Pooled(keras.Model):
    """Mean over time in the code of the model itself, between its layers."""

    def __init__(self, masked, **kwargs):
        super().__init__(**kwargs)
        self.masked = masked
        self.embedding = embedding()
        self.answer = layers.Dense(3, name="answer")

    def call(self, ids):
        embedded = self.embedding(ids)
        weights = ops.cast(ids != 0, embedded.dtype) if self.masked else ops.ones_like(ids, embedded.dtype)
        total = ops.sum(embedded * weights[:, :, None], axis=1)
        return self.answer(total / ops.sum(weights, axis=1, keepdims=True))


class ByMask(keras.Model):
    """Reads features and a mask of their own, and sums up over time."""

    def __init__(self, masked=True, **kwargs):
        super().__init__(**kwargs)
        self.masked = masked
        self.inner = layers.Dense(4, activation="tanh", name="inner")

    def call(self, inputs):
        states = self.inner(inputs["features"])
        kept = ops.cast(inputs["present"], states.dtype)[:, :, None]
        return ops.sum(states * kept if self.masked else states, axis=1)
