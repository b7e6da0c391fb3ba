"""N to N: a label or a number for every position of a sequence."""

from typing import Any

import keras
from keras import ops

from zoo.layers.sizes import require_positive
from zoo.models.encoder_readout import EncoderReadout

__all__ = ["SequenceTagger", "TokenRegressor"]


class _PositionReadout(EncoderReadout):
    """An encoder, and a readout of what it says of each position."""

    def call(self, inputs, training=False):
        encoded = self.encoder(inputs["source"], training=training)
        outputs = self.read(encoded.values, training)
        return ops.where(encoded.mask[..., None], outputs, ops.zeros_like(outputs))


@keras.saving.register_keras_serializable("zoo")
class SequenceTagger(_PositionReadout):
    """A label for every position: each one's vector to the logits of all classes.

    Over a bidirectional recurrent encoder this is the tagger of Graves & Schmidhuber (2005), over a
    Transformer encoder that of Devlin et al. (2019), over a `WindowedEncoder` that of Collobert et al.
    (2011). Each label is chosen by itself; none knows of its neighbours' labels.

    The END of a source is a position like any other for the encoder, and has logits. It has no label: give it
    a weight of zero in `fit`, as padding. `zoo.predictors.TaggingPredictor` leaves it out.

    Args:
        encoder: token ids to `zoo.models.Encoded`, such as `RecurrentEncoder` or `TransformerEncoder`.
        classes: number of labels, C in shapes.
        dropout: rate of dropout before the readout.

    Call arguments:
        inputs: a dictionary of `source`, (B, S) int, S at least 1.

    Returns:
        (B, S, C) logits; zeros at padding.

    Raises:
        ValueError: there is no label, or the dropout is no rate.
    """

    def __init__(self, encoder: Any, *, classes: int, dropout: float = 0.0, **kwargs) -> None:
        require_positive(classes=classes)
        super().__init__(encoder, classes, dropout=dropout, **kwargs)
        self.classes = classes
        self.build()

    def get_config(self):
        return {**super().get_config(), "classes": self.classes}


@keras.saving.register_keras_serializable("zoo")
class TokenRegressor(_PositionReadout):
    """A number for every position. As to END, see `SequenceTagger`.

    Losses of Keras take the mean over the last axis before they weigh, so the numbers have one of their own:
    `fit` wants labels (B, S, 1) and weights (B, S).

    Args:
        encoder: token ids to `zoo.models.Encoded`.
        dropout: rate of dropout before the readout.

    Call arguments:
        inputs: a dictionary of `source`, (B, S) int, S at least 1.

    Returns:
        (B, S, 1) numbers; zeros at padding.
    """

    def __init__(self, encoder: Any, *, dropout: float = 0.0, **kwargs) -> None:
        super().__init__(encoder, 1, dropout=dropout, **kwargs)
        self.build()
