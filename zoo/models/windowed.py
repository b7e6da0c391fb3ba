"""The baseline that looks at a fixed window, and beyond it never."""

import keras
from keras import ops

from zoo.layers import Pooling, padding_mask
from zoo.layers.sizes import require_positive, require_rate
from zoo.models.encoded import Encoded
from zoo.tokenizers.specials import PAD

__all__ = ["WindowedEncoder"]


@keras.saving.register_keras_serializable("zoo")
class WindowedEncoder(keras.layers.Layer):
    """Token ids through fully connected layers, each position with its neighbours and no others.

    The window approach of Collobert et al. (2011), "Natural language processing (almost) from scratch",
    section 3.3.1, and on both sides what Bengio et al. (2003) do on one. With r = (window - 1) / 2::

        x_t = [e(t - r); ...; e(t); ...; e(t + r)]         embedded tokens side by side
        h_t = tanh(W x_t + b)                              and so on, `depth` times

    Before the first token and after the last one, and at padding, e is zero. All positions share W. What
    stands more than r positions away cannot change h_t, however large the layers are and however long they
    are trained: this is the limit that recurrence and attention lift.

    Args:
        vocab_size: number of source ids; id 0 is padding.
        units: size of each hidden layer, D in shapes.
        embedding_dim: size of the embeddings.
        window: number of positions that are seen, the own one in the middle; odd.
        depth: number of hidden layers; further ones see no further.
        dropout: rate of dropout on the embeddings.

    Call arguments:
        source: (B, S) int, S at least 1.

    Returns:
        `Encoded`; its summary is the mean of the values, (B, D).

    Raises:
        ValueError: the window is not a positive odd number, a size is less than 1, or the dropout is no rate.
    """

    def __init__(
        self,
        vocab_size: int,
        units: int,
        *,
        embedding_dim: int,
        window: int = 5,
        depth: int = 1,
        dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        if window < 1 or window % 2 == 0:
            raise ValueError(f"A window has a middle, so its size is 1, 3, 5 or so on; got window={window}.")
        require_positive(vocab_size=vocab_size, units=units, embedding_dim=embedding_dim, depth=depth)
        require_rate(dropout=dropout)
        self.vocab_size = vocab_size
        self.units = units
        self.embedding_dim = embedding_dim
        self.window = window
        self.depth = depth
        self.dropout = dropout
        policy = self.dtype_policy
        self.embedding = keras.layers.Embedding(vocab_size, embedding_dim, dtype=policy, name="embedding")
        self.embedding_dropout = keras.layers.Dropout(dropout, dtype=policy, name="embedding_dropout")
        self.hidden = [
            keras.layers.Dense(units, activation="tanh", dtype=policy, name=f"hidden_{number}")
            for number in range(depth)
        ]
        self.mean = Pooling("mean", dtype=policy, name="mean")

    def build(self, source_shape=None) -> None:
        self.embedding.build((None, None))
        for number, layer in enumerate(self.hidden):
            layer.build((None, None, self.units if number else self.window * self.embedding_dim))
        self.built = True

    @property
    def width(self) -> int:
        """Size of the values, D."""
        return self.units

    @property
    def summary_width(self) -> int:
        """Size of the summary."""
        return self.units

    def call(self, source, training=False) -> Encoded:
        mask = padding_mask(source, PAD)
        embedded = self.embedding_dropout(self.embedding(source), training=training)
        values = self.windows(ops.where(mask[..., None], embedded, ops.zeros_like(embedded)))
        for layer in self.hidden:
            values = layer(values)
        values = ops.where(mask[..., None], values, ops.zeros_like(values))
        return Encoded(values, mask, self.mean(values, mask))

    def windows(self, embedded):
        """Vectors (B, S, E) to those of each position's window side by side, (B, S, window * E)."""
        radius = self.window // 2
        wide = ops.pad(embedded, ((0, 0), (radius, radius), (0, 0)))
        shifted = [wide[:, place : place - 2 * radius or None] for place in range(self.window)]
        return ops.concatenate(shifted, axis=-1)

    def get_config(self):
        own = ("vocab_size", "units", "embedding_dim", "window", "depth", "dropout")
        return {**super().get_config(), **{name: getattr(self, name) for name in own}}
