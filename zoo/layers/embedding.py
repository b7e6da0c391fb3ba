"""From ids to vectors.

A learned table alone is `keras.layers.Embedding`. It takes `weights=` to begin with, such as word vectors
trained elsewhere, and `trainable=False` to leave them as they are.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import keras
from keras import ops

from zoo.layers.sizes import require_positive

__all__ = ["OneHot", "TiedEmbedding"]

SCALINGS = ("none", "sqrt_width")


@keras.saving.register_keras_serializable("zoo")
class OneHot(keras.layers.Layer):
    """Id i as the i-th unit vector: nothing is learned, and no two ids are nearer than others.

    Args:
        vocab_size: number of ids, V in shapes.

    Call arguments:
        ids: (...) int, each from 0 to V-1; any other gives zeros.

    Returns:
        (..., V).

    Raises:
        ValueError: there is no id.
    """

    def __init__(self, vocab_size: int, **kwargs) -> None:
        super().__init__(**kwargs)
        require_positive(vocab_size=vocab_size)
        self.supports_masking = True
        self.vocab_size = vocab_size

    def call(self, ids):
        return ops.one_hot(ids, self.vocab_size, dtype=self.compute_dtype)

    def get_config(self):
        return {**super().get_config(), "vocab_size": self.vocab_size}


class _Packed:
    """Holds a matrix that is no weight of the layer: Keras neither tracks nor saves it."""

    matrix: Any = None


@keras.saving.register_keras_serializable("zoo")
class TiedEmbedding(keras.layers.Layer):
    """One matrix E to read tokens and to say them, by Press & Wolf (2017) and
    Vaswani et al. (2017), section 3.4::

        x = sqrt(D) E[id]        with scaling `sqrt_width`; E[id] with `none`
        logits = E h

    E begins with deviation 1 / sqrt(D), so that states of unit variance give logits of unit variance, and the
    scaled vectors have it too.

    Args:
        vocab_size: number of ids, V in shapes.
        width: size of a vector, D in shapes.
        scaling: `sqrt_width` or `none`.

    Call arguments:
        ids: (...) int, each from 0 to V-1.

    Returns:
        (..., D).

    Raises:
        ValueError: a size is less than 1, or the scaling is neither of the two.
    """

    def __init__(self, vocab_size: int, *, width: int, scaling: str = "sqrt_width", **kwargs) -> None:
        super().__init__(autocast=False, **kwargs)  # rows are cast once they are looked up, not all of them
        require_positive(vocab_size=vocab_size, width=width)
        if scaling not in SCALINGS:
            raise ValueError(f"scaling must be one of {', '.join(SCALINGS)}, got {scaling!r}.")
        self.supports_masking = True
        self.vocab_size = vocab_size
        self.width = width
        self.scaling = scaling
        self._packed = _Packed()

    def build(self, ids_shape=None) -> None:
        self.embeddings = self.add_weight(
            shape=(self.vocab_size, self.width),
            initializer=keras.initializers.RandomNormal(stddev=self.width**-0.5),
            name="embeddings",
        )
        self.built = True

    def call(self, ids):
        embedded = ops.cast(ops.take(self.embeddings, ids, axis=0), self.compute_dtype)
        return embedded * self.width**0.5 if self.scaling == "sqrt_width" else embedded

    def logits(self, states):
        """States (..., D) to the score of every id, (..., V)."""
        if not self.built:
            self.build()
        states = ops.cast(states, self.compute_dtype)
        if self._packed.matrix is not None:
            return ops.matmul(states, self._packed.matrix)
        return ops.matmul(states, ops.transpose(ops.cast(self.embeddings, self.compute_dtype)))

    @contextmanager
    def packed(self) -> Iterator[None]:
        """Within, logits come from a second copy of E, (D, V): products read it faster than E (V, D).

        For exports: the copy is made now, and does not follow E.
        """
        matrix = ops.transpose(ops.cast(self.embeddings, self.compute_dtype))
        self._packed.matrix = keras.Variable(matrix, trainable=False, name="packed_embeddings")
        try:
            yield
        finally:
            self._packed.matrix = None

    def get_config(self):
        config = {"vocab_size": self.vocab_size, "width": self.width, "scaling": self.scaling}
        return {**super().get_config(), **config}
