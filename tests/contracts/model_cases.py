"""Every model of the zoo that generates: the next one joins by a row."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np

from zoo.models import (
    Ensemble,
    LuongDecoder,
    RecurrentEncoder,
    RecurrentLM,
    RecurrentSeq2Seq,
    Seq2Seq,
    TransformerDecoder,
    TransformerEncoder,
    TransformerLM,
    TransformerSeq2Seq,
)

SOURCE = np.array([[4, 5, 6, 7, 2], [6, 2, 0, 0, 0], [4, 4, 9, 2, 0], [2, 0, 0, 0, 0]], "int32")
TARGET = np.array([[1, 5, 6, 7, 4], [1, 6, 5, 2, 0], [1, 2, 0, 0, 0], [1, 4, 4, 4, 4]], "int32")
SOURCE_VOCAB_SIZE, VOCAB_SIZE = 10, 8


class ModelCase(NamedTuple):
    model: type[keras.Model]
    arguments: Mapping[str, Any]
    """Its own arguments; dropout among them. In some row each has a value that is not its default."""
    parts: Mapping[str, tuple[type[keras.layers.Layer], Mapping[str, Any]]] = {}
    """Arguments that are layers: what they are made of."""
    members: Sequence["ModelCase"] = ()
    """Of an ensemble: the cases of its models."""
    scale: float = 1.0
    """By how much weights are larger than those of a new model, so that answers differ and lengths vary."""
    source: Any = SOURCE
    target_ids: Any = TARGET
    zero_gradients: tuple[str, ...] = ()
    """Weights whose gradient is zero by theory."""
    joins_inputs: bool = False
    """Its first layer reads source and target in one row, so no audit can put noise at the padding of one."""
    representative: bool = False
    """It stands for its kind in the tests that take seconds a model, such as those of XLA."""

    def new(self, **kwargs):
        """As a user makes it."""
        dtype = kwargs.get("dtype")
        parts = {
            name: part(**arguments, dtype=dtype, name=name) for name, (part, arguments) in self.parts.items()
        }
        members = [member.new(dtype=dtype) for member in self.members]
        return self.model(*([members] if members else []), **self.arguments, **parts, **kwargs)

    def make(self, **kwargs):
        """With the weights of the case."""
        keras.utils.set_random_seed(1)
        model = self.new(**kwargs)
        model.set_weights([weight * self.scale for weight in model.get_weights()])
        return model


def _recurrent(representative=False, **own):
    arguments = {
        "source_vocab_size": SOURCE_VOCAB_SIZE,
        "vocab_size": VOCAB_SIZE,
        "embedding_dim": 6,
        "encoder_units": 5,
        "decoder_units": 7,
        "dropout": 0.3,
        **own,
    }
    return ModelCase(RecurrentSeq2Seq, arguments, scale=2.5, representative=representative)


def _transformer_arguments(**own):
    rates = {"dropout": 0.3, "attention_dropout": 0.2, "activation_dropout": 0.1}
    return {"width": 8, "depth": 1, "heads": 2, "units": 12, **rates, **own}


def _transformer(representative=False, **own):
    sizes = {"source_vocab_size": SOURCE_VOCAB_SIZE, "vocab_size": VOCAB_SIZE}
    arguments = {**sizes, **_transformer_arguments(**own)}
    return ModelCase(TransformerSeq2Seq, arguments, representative=representative)


def _recurrent_lm(representative=False, **own):
    arguments = {"vocab_size": SOURCE_VOCAB_SIZE, "embedding_dim": 6, "units": 7, "dropout": 0.3, **own}
    return ModelCase(RecurrentLM, arguments, scale=2.5, joins_inputs=True, representative=representative)


def _transformer_lm(representative=False, **own):
    arguments = {"vocab_size": SOURCE_VOCAB_SIZE, **_transformer_arguments(**own)}
    return ModelCase(TransformerLM, arguments, joins_inputs=True, representative=representative)


MODELS = {
    "rnn": _recurrent(representative=True, cell="rnn", direction="forward", attention="none"),
    "gru": _recurrent(cell="gru", direction="forward", attention="none", depth=2),
    "lstm-reversed-source": _recurrent(direction="backward", attention="none", depth=2),
    "lstm-bidirectional": _recurrent(attention="none"),
    "gru-bidirectional-deep": _recurrent(cell="gru", attention="none", depth=2),
    "lstm-bahdanau": _recurrent(attention="bahdanau"),
    "gru-bahdanau": _recurrent(representative=True, cell="gru", attention="bahdanau", depth=2),
    "rnn-luong-dot": _recurrent(cell="rnn", direction="backward", attention="luong_dot", decoder_units=5),
    "gru-luong-scaled-dot": _recurrent(cell="gru", attention="luong_scaled_dot", decoder_units=10),
    "lstm-luong-general": _recurrent(
        representative=True, direction="forward", attention="luong_general", depth=2
    ),
    "lstm-luong-concat": _recurrent(attention="luong_concat"),
    "transformer-sinusoidal": _transformer(depth=3),
    "transformer-learned": _transformer(positions="learned", activation="gelu", norm="pre", max_length=20),
    "transformer-rotary": _transformer(representative=True, positions="rotary", activation="glu", norm="pre"),
    "transformer-shared-embedding": _transformer(vocab_size=SOURCE_VOCAB_SIZE, shared_embedding=True),
    "transformer-no-positions": _transformer(positions="none", activation="glu"),
    "transformer-under-luong": ModelCase(
        Seq2Seq,
        {},
        {
            "encoder": (
                TransformerEncoder,
                _transformer_arguments(vocab_size=SOURCE_VOCAB_SIZE, max_length=16, positions="learned"),
            ),
            "decoder": (
                LuongDecoder,
                {
                    "vocab_size": VOCAB_SIZE,
                    "units": 7,
                    "embedding_dim": 6,
                    "cell": "gru",
                    "depth": 2,
                    "dropout": 0.3,
                    "score": "concat",
                },
            ),
        },
        scale=1.5,
    ),
    "lstm-under-transformer": ModelCase(
        Seq2Seq,
        {},
        {
            "encoder": (
                RecurrentEncoder,
                {
                    "vocab_size": SOURCE_VOCAB_SIZE,
                    "units": 5,
                    "embedding_dim": 6,
                    "depth": 2,
                    "direction": "forward",
                    "dropout": 0.3,
                },
            ),
            "decoder": (
                TransformerDecoder,
                _transformer_arguments(vocab_size=VOCAB_SIZE, positions="rotary", max_length=16),
            ),
        },
        representative=True,
    ),
    "language-model-lstm": _recurrent_lm(representative=True),
    "language-model-gru": _recurrent_lm(cell="gru", depth=2),
    "language-model-transformer": _transformer_lm(),
    "language-model-learned": _transformer_lm(
        positions="learned", activation="relu", norm="post", max_length=20
    ),
    "language-model-rotary": _transformer_lm(
        representative=True, positions="rotary", activation="glu", depth=1
    ),
    "language-model-no-positions": _transformer_lm(positions="none", heads=4),
    "ensemble": ModelCase(
        Ensemble,
        {"combination": "mean_log_probability"},
        members=(_recurrent(attention="bahdanau"), _transformer(positions="rotary")),
        scale=2.0,
    ),
    "ensemble-of-language-models": ModelCase(
        Ensemble,
        {},
        members=(_recurrent_lm(cell="gru"), _transformer_lm(depth=1)),
        joins_inputs=True,
        representative=True,
    ),
}
