"""N to 1: a label or a number for a whole sequence."""

from typing import Any

import keras

from zoo.layers.sizes import require_positive
from zoo.models.encoder_readout import EncoderReadout

__all__ = ["SequenceClassifier", "SequenceRegressor"]


class _PooledReadout(EncoderReadout):
    """An encoder, a pooling, and a readout of the pooled vector."""

    PARTS = ("encoder", "pooling")

    def __init__(self, encoder: Any, outputs: int, *, pooling: Any, dropout: float, **kwargs) -> None:
        super().__init__(encoder, outputs, dropout=dropout, **kwargs)
        self.pooling = pooling

    def build(self, input_shape=None) -> None:
        if not self.pooling.built:
            self.pooling.build((None, None, self.encoder.width))
        super().build()

    def call(self, inputs, training=False):
        encoded = self.encoder(inputs["source"], training=training)
        return self.read(self.pooling(encoded.values, encoded.mask), training)


@keras.saving.register_keras_serializable("zoo")
class SequenceClassifier(_PooledReadout):
    """A label for the whole: what the encoder says of all positions, pooled, to the logits of all classes.

    The END of a source takes part in the pooling. So `Pooling("last")` reads at END, which all sources have
    that are not cut; `Pooling("first")` over an encoder in a `ClassToken` reads at a token of its own, the
    [CLS] of Devlin et al. (2019).

    Args:
        encoder: token ids to `zoo.models.Encoded`, such as `RecurrentEncoder` or `TransformerEncoder`.
        classes: number of labels, C in shapes.
        pooling: `zoo.layers.Pooling` of some kind, or `zoo.layers.AttentionPooling`.
        dropout: rate of dropout before the readout.

    Call arguments:
        inputs: a dictionary of `source`, (B, S) int, S at least 1.

    Returns:
        (B, C) logits.

    Raises:
        ValueError: there is no label, or the dropout is no rate.
    """

    def __init__(self, encoder: Any, *, classes: int, pooling: Any, dropout: float = 0.0, **kwargs) -> None:
        require_positive(classes=classes)
        super().__init__(encoder, classes, pooling=pooling, dropout=dropout, **kwargs)
        self.classes = classes
        self.build()

    def get_config(self):
        return {**super().get_config(), "classes": self.classes}


@keras.saving.register_keras_serializable("zoo")
class SequenceRegressor(_PooledReadout):
    """A number for the whole, with any pooling; as to END, see `SequenceClassifier`.

    Losses of Keras take the mean over the last axis before they weigh, so the numbers have one of their own:
    `fit` takes labels (B,) or (B, 1), and weights (B,).

    Args:
        encoder: token ids to `zoo.models.Encoded`.
        pooling: `zoo.layers.Pooling` of some kind, or `zoo.layers.AttentionPooling`.
        dropout: rate of dropout before the readout.

    Call arguments:
        inputs: a dictionary of `source`, (B, S) int, S at least 1.

    Returns:
        (B, 1) numbers.
    """

    def __init__(self, encoder: Any, *, pooling: Any, dropout: float = 0.0, **kwargs) -> None:
        super().__init__(encoder, 1, pooling=pooling, dropout=dropout, **kwargs)
        self.build()
