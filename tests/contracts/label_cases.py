"""Every model of the zoo that gives labels or numbers: the next one joins by a row."""

from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import numpy as np

from zoo.layers import AttentionPooling, Pooling
from zoo.models import (
    ClassToken,
    RecurrentEncoder,
    RecurrentFrameEncoder,
    SequenceClassifier,
    SequenceRegressor,
    SequenceTagger,
    TokenRegressor,
    TransformerEncoder,
    WindowedEncoder,
)

VOCABULARY = 10
SOURCE = np.array([[4, 5, 6, 7, 2], [6, 2, 0, 0, 0], [4, 4, 9, 2, 0], [2, 0, 0, 0, 0]], "int32")


def frames(ids):
    """Each id as a frame of three numbers, padding as zeros."""
    table = np.random.default_rng(1).normal(size=(VOCABULARY, 3)).astype("float32")
    table[0] = 0
    return table[ids]


class LabelCase(NamedTuple):
    build: Callable[[Any], keras.Model]
    """From a dtype policy to a model; its arguments are not the defaults, dropout among them."""
    shape: tuple[int, ...]
    """What it gives for each source, `SOURCE` being five long."""
    scale: float = 3.0
    """Its weights are so much larger than those of a new model, for answers that differ."""
    reads: Callable[[np.ndarray], np.ndarray] = np.asarray
    """From ids to what the model takes as a source."""

    @property
    def source(self):
        return self.reads(SOURCE)

    def make(self, dtype="float32"):
        keras.utils.set_random_seed(1)
        model = self.build(dtype)
        model.set_weights([weight * self.scale for weight in model.get_weights()])
        return model


def _recurrent(dtype, **own):
    return RecurrentEncoder(VOCABULARY, 5, embedding_dim=4, cell="gru", dropout=0.3, dtype=dtype, **own)


def _transformer(dtype, **own):
    own = {"depth": 1, "heads": 2, "units": 7, "positions": "learned", "max_length": 20, **own}
    return TransformerEncoder(VOCABULARY, 6, norm="pre", activation="gelu", dropout=0.3, dtype=dtype, **own)


def _of_frames(dtype):
    return RecurrentFrameEncoder(3, 5, cell="gru", direction="forward", dropout=0.3, dtype=dtype)


def _windowed(dtype):
    return WindowedEncoder(VOCABULARY, 6, embedding_dim=4, window=3, depth=2, dropout=0.3, dtype=dtype)


def _tagger(encoder, **own):
    def build(dtype):
        return SequenceTagger(encoder(dtype), classes=3, dropout=0.2, dtype=dtype, name="tagger")

    return LabelCase(build, (5, 3), **own)


def _classifier(encoder, pooling, **own):
    def build(dtype):
        pooled = pooling(dtype=dtype)
        return SequenceClassifier(
            encoder(dtype), classes=3, pooling=pooled, dropout=0.2, dtype=dtype, name="classifier"
        )

    return LabelCase(build, (3,), **own)


def _numbers(dtype):
    return TokenRegressor(_windowed(dtype), dropout=0.2, dtype=dtype, name="numbers")


def _regressor(dtype):
    pooled = Pooling("mean", dtype=dtype)
    return SequenceRegressor(_recurrent(dtype), pooling=pooled, dropout=0.2, dtype=dtype, name="regressor")


LABEL_MODELS = {
    "SequenceTagger, recurrent": _tagger(_recurrent),
    "SequenceTagger, transformer": _tagger(_transformer, scale=1.5),
    "SequenceTagger, windowed": _tagger(_windowed),
    "TokenRegressor": LabelCase(_numbers, (5, 1)),
    "SequenceClassifier, last": _classifier(
        lambda dtype: _recurrent(dtype, direction="forward"), lambda dtype: Pooling("last", dtype=dtype)
    ),
    "SequenceClassifier, max": _classifier(_windowed, lambda dtype: Pooling("max", dtype=dtype)),
    "SequenceClassifier, attention": _classifier(_recurrent, lambda dtype: AttentionPooling(4, dtype=dtype)),
    "SequenceClassifier, class token": _classifier(
        lambda dtype: ClassToken(_transformer(dtype), dtype=dtype),
        lambda dtype: Pooling("first", dtype=dtype),
        scale=1.25,
    ),
    "SequenceClassifier, frames": _classifier(
        _of_frames, lambda dtype: Pooling("mean", dtype=dtype), reads=frames
    ),
    "SequenceRegressor": LabelCase(_regressor, (1,)),
}

OF_TEXTS = {name: case for name, case in LABEL_MODELS.items() if case.source.ndim == 2}
"""Those that read ids, as a tokenizer gives them."""
