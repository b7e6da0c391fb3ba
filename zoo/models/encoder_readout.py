"""What taggers, classifiers and regressors share: an encoder, and numbers that are read off what it says."""

from typing import Any

import keras

from zoo.layers import Projection
from zoo.layers.sizes import require_rate
from zoo.models.composed import ComposedModel

__all__ = ["EncoderReadout"]


@keras.saving.register_keras_serializable("zoo")
class EncoderReadout(ComposedModel):
    """An encoder under one linear layer; subclasses say what that layer reads.

    Args:
        encoder: token ids to `zoo.models.Encoded`.
        outputs: number of numbers that are read off one vector.
        dropout: rate of dropout before the readout.

    Raises:
        ValueError: the dropout is no rate.
    """

    PARTS: tuple[str, ...] = ("encoder",)

    def __init__(self, encoder: Any, outputs: int, *, dropout: float, **kwargs) -> None:
        super().__init__(**kwargs)
        require_rate(dropout=dropout)
        self.encoder = encoder
        self.dropout = dropout
        policy = self.dtype_policy
        self.readout_dropout = keras.layers.Dropout(dropout, dtype=policy, name="readout_dropout")
        self.readout = Projection(outputs, dtype=policy, name="readout")

    def build(self, input_shape=None) -> None:
        """Make all weights: their shapes follow from the parts alone."""
        if not self.encoder.built:
            self.encoder.build()
        self.readout.build((None, None, self.encoder.width))
        self.built = True

    def read(self, features, training=False):
        """Features (..., D) to numbers (..., outputs)."""
        return self.readout(self.readout_dropout(features, training=training))

    def get_config(self):
        return {**super().get_config(), "dropout": self.dropout}
