"""Every model of the zoo that generates: the next one joins by a row."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import keras
import numpy as np

from zoo.models import RecurrentSeq2Seq

SOURCE = np.array([[4, 5, 6, 7, 2], [6, 2, 0, 0, 0], [4, 4, 9, 2, 0], [2, 0, 0, 0, 0]], "int32")
TARGET = np.array([[1, 5, 6, 7, 4], [1, 6, 5, 2, 0], [1, 2, 0, 0, 0], [1, 4, 4, 4, 4]], "int32")


class ModelCase(NamedTuple):
    model: type[keras.Model]
    arguments: Mapping[str, Any]
    """All of its own arguments, each with a value that is not its default; dropout among them."""
    source: Any = SOURCE
    target_ids: Any = TARGET
    zero_gradients: tuple[str, ...] = ()
    """Weights whose gradient is zero by theory."""

    def make(self, **kwargs):
        """With weights larger than a new model has, so that answers differ and lengths vary."""
        keras.utils.set_random_seed(1)
        model = self.model(**self.arguments, **kwargs)
        model.set_weights([weight * 2.5 for weight in model.get_weights()])
        return model


MODELS = {
    "RecurrentSeq2Seq": ModelCase(
        RecurrentSeq2Seq,
        {
            "source_vocab_size": 10,
            "vocab_size": 8,
            "embedding_dim": 6,
            "encoder_units": 5,
            "decoder_units": 7,
            "attention_units": 4,
            "readout_units": 3,
            "dropout": 0.3,
        },
    ),
}
