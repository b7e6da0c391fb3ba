"""Caches are written in place: requests that are answered at the same time must not see each other's."""

from concurrent.futures import ThreadPoolExecutor

import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.decoders import Beam
from zoo.models import TransformerLM, TransformerSeq2Seq
from zoo.predictor import Predictor
from zoo.serving.loader import load
from zoo.tokenizers import Characters

LETTERS, LENGTH = "abcdefgh", 12
SIZES = {"width": 16, "depth": 2, "heads": 4, "units": 24, "positions": "rotary"}


def seq2seq(vocab_size):
    return TransformerSeq2Seq(vocab_size, vocab_size, **SIZES)


def language_model(vocab_size):
    return TransformerLM(vocab_size, **SIZES)


@pytest.fixture(scope="module", params=[seq2seq, language_model])
def ask(request, tmp_path_factory):
    """The signatures `greedy` and `beam` of an export, as a server runs them."""
    keras.utils.set_random_seed(4)
    tokenizer = Characters(LETTERS)
    model = request.param(tokenizer.vocab_size)
    model.set_weights([weight * 1.5 for weight in model.get_weights()])
    predictor = Predictor(model, tokenizer, tokenizer, beam=Beam(3), max_source_length=10, max_length=LENGTH)
    servable, folder = tf.Module(), tmp_path_factory.mktemp("export")
    with predictor.packed():
        functions = {
            name: tf.function(predictor.signatures()[name].function, autograph=False).get_concrete_function(
                text=tf.TensorSpec([None], tf.string, name="text")
            )
            for name in ("greedy", "beam")
        }
        servable.weights = [v for function in functions.values() for v in function.variables]
        tf.saved_model.save(servable, str(folder), signatures=functions)
    loaded = load(folder)

    def ask(name, texts):
        signature = loaded.signatures[name]
        rows = np.array([text.encode() for text in texts], object)
        return loaded.run(signature, {"text": rows}, ["text", "score", "length"])

    yield ask
    loaded.close()


def test_answers_at_the_same_time_are_those_one_after_the_other(ask):
    random = np.random.default_rng(0)
    batches = [
        ["".join(random.choice(list(LETTERS), random.integers(1, 10))) for _ in range(size)]
        for size in (1, 3, 8, 17, 1, 30, 2, 9)
    ]
    requests = [(name, texts) for texts in batches for name in ("greedy", "beam")]
    expected = [ask(*request) for request in requests]
    assert max(answer["length"].max() for answer in expected) > 3
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            found = list(pool.map(lambda request: ask(*request), requests))
            for answer, alone in zip(found, expected, strict=True):
                np.testing.assert_array_equal(answer["text"], alone["text"])
                np.testing.assert_allclose(answer["score"], alone["score"], rtol=1e-6, atol=1e-5)


def test_the_same_request_again_and_again(ask):
    """What an earlier request left in memory is never read."""
    texts = ["abc", "h", "hgfedcba", "a", "bb", "ccc", "dddd", "eeeee"]
    first = ask("beam", texts)
    for other in (["aaaaaaaaaa"] * 9, ["h"], texts[::-1]):
        ask("beam", other)
        again = ask("beam", texts)
        np.testing.assert_array_equal(again["text"], first["text"])
        np.testing.assert_allclose(again["score"], first["score"], rtol=1e-6, atol=1e-5)
