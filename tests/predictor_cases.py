"""A predictor without training for the tests of `zoo.predictor`, and how they ask it."""

import functools

import keras
import numpy as np
import tensorflow as tf

from zoo.decoders import Beam
from zoo.models import RecurrentSeq2Seq
from zoo.predictor import Predictor
from zoo.tokenizers import Characters

LENGTH, SOURCE_LENGTH, WIDTH = 6, 12, 3
TEXTS = [
    "abc",
    "",
    "   ",
    "a" * 2000,
    "😀 👩\u200d👩\u200d👧",
    b"ab\xc2",
    "\u3000\t\r\n\v\x85\u2028",
    "b\r\na",
    "c\0c",
    "\ufeff",
    "bbbbbbbb",
    b"\xff",
    "cab cab",
]
BLANK = [1, 2, 6]


@functools.cache
def make_predictor():
    """A model without training, its weights so large that answers differ and some reach the bound."""
    source, target = Characters("abc \r\n"), Characters("xyz ")
    keras.utils.set_random_seed(5)
    model = RecurrentSeq2Seq(
        source.vocab_size,
        target.vocab_size,
        embedding_dim=6,
        encoder_units=6,
        decoder_units=8,
    )
    model.set_weights([weight * 3 for weight in model.get_weights()])
    model.decoder.readout.logits.bias.assign(
        [0, 0, 0, 0, 1.5, 0, 0, 0]
    )  # more spaces, so that answers begin with one
    return Predictor(
        model, source, target, beam=Beam(WIDTH, 0.6), max_source_length=SOURCE_LENGTH, max_length=LENGTH
    )


@functools.cache
def asking():
    """Signatures as an export has them: traced once, for a batch of any size."""
    predictor = make_predictor()
    traced = {
        name: tf.function(signature.function).get_concrete_function(**signature.inputs)
        for name, signature in predictor.signatures().items()
    }

    def ask(name, *texts, **own):
        signature = predictor.signatures()[name]
        knobs = {key: [value] * len(texts[0]) for key, value in signature.neutral.items()} | own
        inputs = dict(zip(signature.inputs, texts, strict=False)) | knobs
        answers = traced[name](
            **{key: tf.constant(value, signature.inputs[key].dtype) for key, value in inputs.items()}
        )
        return {key: value.numpy() for key, value in answers.items()}

    return ask


def assert_equal_rows(answers, row, other_row, other=None):
    """Texts and lengths equal, scores to 1e-5."""
    for key, value in answers.items():
        expected = (other or answers)[key][other_row]
        if value.dtype == np.float32:
            np.testing.assert_allclose(value[row], expected, atol=1e-5, rtol=1e-6)
        else:
            np.testing.assert_array_equal(value[row], expected)
