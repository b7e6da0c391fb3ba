"""Export a small model that was never trained, for another version of TensorFlow to check.

    python tests/compat/make_export.py FOLDER

writes FOLDER/tiny/1 and prints where that is. Its answers are nonsense, but the same nonsense everywhere.
"""

import argparse
from pathlib import Path

import keras

from zoo.export import Card, write
from zoo.models import RecurrentSeq2Seq
from zoo.predictor import Predictor
from zoo.tokenizers import Characters

QUESTIONS = ("Friday, February 15, 2019", "15 февраля 2019", "2019年2月15日", "1 May")

CARD = Card(
    name="tiny",
    description="Knows nothing: its weights are random.",
    task="none",
    recipe="none",
    languages=("en", "ru", "zh"),
    licence="CC0-1.0",
)

CONTRAST = 4.0
"""Random weights of the usual size make all answers almost equally likely, so that rounding could choose."""


def tiny_predictor() -> Predictor:
    """A predictor with random weights, the same each time."""
    keras.utils.set_random_seed(7)
    source = Characters.learn(QUESTIONS)
    target = Characters("0123456789-")
    model = RecurrentSeq2Seq(
        source.vocab_size,
        target.vocab_size,
        embedding_dim=8,
        encoder_units=8,
        decoder_units=16,
    )
    for weight in model.trainable_variables:
        weight.assign(weight * CONTRAST)
    return Predictor(model, source, target, max_source_length=64, max_length=16)


def main() -> None:
    parser = argparse.ArgumentParser(description="Export a small model that was never trained.")
    parser.add_argument("folder", type=Path, help="where to write tiny/1")
    folder = parser.parse_args().folder
    print(write(tiny_predictor(), folder, card=CARD, questions=QUESTIONS, version=1))


if __name__ == "__main__":
    main()
