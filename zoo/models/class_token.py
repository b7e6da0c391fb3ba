"""A token that stands for the whole."""

from typing import Any

import keras
from keras import ops

from zoo.models.encoded import Encoded
from zoo.tokenizers.specials import START

__all__ = ["ClassToken"]


@keras.saving.register_keras_serializable("zoo")
class ClassToken(keras.layers.Layer):
    """An encoder that is given one token more, before all others: the [CLS] of Devlin et al. (2019).

    What such an encoder says of position 0 belongs to no token of the text, so `Pooling("first")` can read
    the whole there. The token is START: every vocabulary has it, and no source holds it otherwise. The
    position is one more than the source has, so this is for whole-sequence labels, not for taggers.

    Args:
        encoder: token ids to `zoo.models.Encoded`; one whose first position looks at all others, such as
            `TransformerEncoder`.

    Call arguments:
        source: (B, S) int.

    Returns:
        `Encoded`, with values (B, 1 + S, D) and a mask (B, 1 + S).
    """

    def __init__(self, encoder: Any, **kwargs) -> None:
        super().__init__(**kwargs)
        self.encoder = encoder

    def build(self, source_shape=None) -> None:
        if not self.encoder.built:
            self.encoder.build()
        self.built = True

    @property
    def vocab_size(self) -> int:
        """Number of source ids."""
        return self.encoder.vocab_size

    @property
    def width(self) -> int:
        """Size of the values, D."""
        return self.encoder.width

    @property
    def summary_width(self) -> Any:
        """Size of the summary, of each direction if the encoder has several."""
        return self.encoder.summary_width

    def call(self, source, training=False) -> Encoded:
        marked = ops.pad(source, ((0, 0), (1, 0)), constant_values=START)
        return self.encoder(marked, training=training)

    def get_config(self):
        return {**super().get_config(), "encoder": keras.saving.serialize_keras_object(self.encoder)}

    @classmethod
    def from_config(cls, config):
        return cls(**{**config, "encoder": keras.saving.deserialize_keras_object(config["encoder"])})
