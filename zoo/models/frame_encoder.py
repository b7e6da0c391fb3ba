"""A recurrent encoder of frames, such as those of speech, in place of token ids."""

import keras
from keras import ops

from zoo.layers import FrameNormalization, RecurrentStack, padding_mask
from zoo.layers.sizes import require_positive
from zoo.models.encoded import Encoded

__all__ = ["RecurrentFrameEncoder"]


@keras.saving.register_keras_serializable("zoo")
class RecurrentFrameEncoder(keras.layers.Layer):
    """Frames, normalised, through recurrent layers: what `RecurrentEncoder` is for token ids.

    As id 0 is padding there, a frame of zeros is here: that is what `zoo.layers.LogMel` gives where no frame
    counts, and never elsewhere, since the logarithm of the least energy is not 0. To normalise by what the
    frames of the training recordings are like: `encoder.normalization.set_statistics(...)`, before `fit`.

    Args:
        features: numbers in a frame, I in shapes: the bands of `LogMel`.
        units: size of each state.
        cell, depth, direction: see `zoo.layers.RecurrentStack`.
        dropout: rate of dropout between layers.

    Call arguments:
        source: (B, T, I) float, T at least 1, zeros where there is no frame.

    Returns:
        `Encoded`; its summary is the final states of all layers, (B, depth * units) of each direction.

    Raises:
        ValueError: a size is less than 1, the dropout is no rate, or a name is not known.
    """

    def __init__(
        self,
        features: int,
        units: int,
        *,
        cell: str = "lstm",
        depth: int = 1,
        direction: str = "bidirectional",
        dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        require_positive(features=features)
        self.features = features
        self.units = units
        self.cell = cell
        self.depth = depth
        self.direction = direction
        self.dropout = dropout
        policy = self.dtype_policy
        self.normalization = FrameNormalization(dtype=policy, name="normalization")
        self.stack = RecurrentStack(
            units, cell=cell, depth=depth, direction=direction, dropout=dropout, dtype=policy, name="stack"
        )

    def build(self, source_shape=None) -> None:
        frames = (None, None, self.features)
        if not self.normalization.built:
            self.normalization.build(frames)
        self.stack.build(frames)
        self.built = True

    @property
    def width(self) -> int:
        """Size of the values, D."""
        return self.stack.width

    @property
    def summary_width(self) -> tuple[int, ...]:
        """Size of the summary of each direction."""
        return self.stack.summary_width

    def call(self, source, training=False) -> Encoded:
        mask = ops.any(padding_mask(source), axis=-1)
        values, summary = self.stack(self.normalization(source, mask=mask), mask, training=training)
        return Encoded(values, mask, summary)

    def get_config(self):
        own = ("features", "units", "cell", "depth", "direction", "dropout")
        return {**super().get_config(), **{name: getattr(self, name) for name in own}}
