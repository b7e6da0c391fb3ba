"""Ensembles: their probabilities are the mean of the members', and they go wherever a model goes."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.decoders import Beam, Greedy, decode, score
from zoo.models import Ensemble, RecurrentLM, RecurrentSeq2Seq, TransformerLM, TransformerSeq2Seq
from zoo.predictor import Predictor
from zoo.tokenizers import Characters

SOURCE = np.array([[4, 5, 6, 2], [6, 2, 0, 0], [2, 0, 0, 0], [5, 5, 2, 0]])
TARGET = np.array([[1, 5, 6], [1, 6, 2], [1, 3, 4], [1, 1, 7]])
INPUTS = {"source": SOURCE, "target_ids": TARGET}


def make_recurrent(attention="bahdanau", vocab_size=9):
    sizes = {"embedding_dim": 3, "encoder_units": 4, "decoder_units": 5}
    return enlarged(RecurrentSeq2Seq(8, vocab_size, attention=attention, **sizes))


def make_transformer():
    return enlarged(TransformerSeq2Seq(8, 9, width=8, depth=1, heads=2, units=8))


def log_softmax(logits):
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


def enlarged(model):
    model.set_weights([weight * 2 for weight in model.get_weights()])
    return model


@pytest.fixture(scope="module")
def members():
    keras.utils.set_random_seed(4)
    return [make_recurrent(), make_transformer(), make_recurrent("none")]


def test_equals_the_equations(members):
    """Logits of both combinations, by numpy, are log probabilities; those of a product up to a number."""
    log_probs = log_softmax(np.stack([model(INPUTS).numpy().astype("float64") for model in members]))
    mixture = Ensemble(members)(INPUTS).numpy()
    np.testing.assert_allclose(mixture, np.log(np.mean(np.exp(log_probs), axis=0)), atol=1e-5)
    np.testing.assert_allclose(np.exp(mixture).sum(axis=-1), 1, atol=1e-5)

    product = Ensemble(members, combination="mean_log_probability")(INPUTS).numpy()
    np.testing.assert_allclose(product, np.mean(log_probs, axis=0), atol=1e-5)
    geometric = np.prod(np.exp(log_probs), axis=0) ** (1 / len(members))
    expected = geometric / geometric.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(np.exp(log_softmax(product)), expected, atol=1e-5)


@pytest.mark.parametrize("combination", ["mean_probability", "mean_log_probability"])
def test_a_model_with_itself_is_that_model(members, combination):
    """To the last bit, but for the softmax that an ensemble has taken already."""
    model = members[0]
    twice = Ensemble([model, model], combination=combination)
    assert len(twice.weights) == len(model.weights)
    np.testing.assert_array_equal(twice(INPUTS), keras.ops.log_softmax(model(INPUTS)))
    np.testing.assert_array_equal(twice.alignment(SOURCE, TARGET), model.alignment(SOURCE, TARGET))
    for strategy in (Greedy(), Beam(3, 0.6)):
        expected = decode(model, SOURCE, strategy, max_length=5)
        found = decode(twice, SOURCE, strategy, max_length=5)
        np.testing.assert_array_equal(found.token_ids, expected.token_ids)
        np.testing.assert_allclose(found.scores, expected.scores, atol=1e-5)


def test_order_and_grouping_of_members_do_not_matter(members):
    ensemble = Ensemble(members)
    np.testing.assert_allclose(Ensemble(members[::-1])(INPUTS), ensemble(INPUTS), atol=1e-6)
    pairs = Ensemble([Ensemble([members[0], members[1]]), Ensemble([members[0], members[1]])])
    np.testing.assert_allclose(pairs(INPUTS), Ensemble(members[:2])(INPUTS), atol=1e-6)


def test_what_a_member_rules_out(members):
    """What is impossible for one is possible in the mixture and out in the product; for all, it is out."""

    class Sure(keras.Model):
        vocab_size = 4

        def __init__(self, logits):
            super().__init__()
            self.row = logits

        def call(self, inputs, training=False):
            return keras.ops.ones((*inputs["target_ids"].shape, 1)) * np.array(self.row, "float32")

    never = -np.inf
    pair = [Sure([0.0, never, 0.0, never]), Sure([never, 0.0, 0.0, never])]
    inputs = {"target_ids": np.ones((1, 1))}
    mixture = keras.ops.softmax(Ensemble(pair)(inputs))
    np.testing.assert_allclose(mixture[0, 0], [0.25, 0.25, 0.5, 0], atol=1e-6)
    product = keras.ops.softmax(Ensemble(pair, combination="mean_log_probability")(inputs))
    np.testing.assert_allclose(product[0, 0], [0, 0, 1, 0], atol=1e-6)


def test_alignment_is_the_mean_where_all_members_have_one(members):
    both = Ensemble(members[:2])
    expected = np.mean([model.alignment(SOURCE, TARGET) for model in members[:2]], axis=0)
    np.testing.assert_allclose(both.alignment(SOURCE, TARGET), expected, atol=1e-6)
    assert not hasattr(Ensemble(members), "alignment")
    with pytest.raises(AttributeError, match="alignment"):
        _ = Ensemble(members).alignment


def test_memory_and_state_are_those_of_the_members(members):
    ensemble = Ensemble(members)
    memory = ensemble.encode(SOURCE)
    state = ensemble.init_state(memory, 2, 5)
    assert [type(own) for own in memory] == [type(model.encode(SOURCE)) for model in members]
    assert len(state) == len(members)
    _, after = ensemble.step(tf.ones([4, 2], tf.int32), tf.constant(0), state, memory)
    assert [type(own) for own in after] == [type(own) for own in state]


@pytest.mark.parametrize("twice", [False, True])
def test_round_trip_through_a_file(members, twice, tmp_path):
    ensemble = Ensemble(members[:1] * 2 if twice else members, combination="mean_log_probability")
    ensemble.save(tmp_path / "ensemble.keras")
    loaded = keras.models.load_model(tmp_path / "ensemble.keras")
    assert loaded.combination == "mean_log_probability"
    np.testing.assert_array_equal(loaded(INPUTS), ensemble(INPUTS))


def test_members_of_different_precision_agree_in_that_of_the_ensemble():
    keras.utils.set_random_seed(5)
    full = RecurrentLM(9, embedding_dim=3, units=4)
    half = RecurrentLM(9, embedding_dim=3, units=4, dtype="mixed_bfloat16")
    half.set_weights(full.get_weights())
    logits = Ensemble([full, half])(INPUTS)
    assert logits.dtype == tf.float32
    np.testing.assert_allclose(logits, keras.ops.log_softmax(full(INPUTS)), atol=0.05)


def test_language_models_together_answer_texts():
    """Through the predictor: the score of an answer is what `score` says of it."""
    keras.utils.set_random_seed(6)
    tokenizer = Characters("abc")
    size = tokenizer.vocab_size
    models = [RecurrentLM(size, units=8), TransformerLM(size, width=8, heads=2, units=8)]
    ensemble = Ensemble([enlarged(model) for model in models])
    predictor = Predictor(ensemble, tokenizer, tokenizer, max_length=4)
    answers = predictor.answer(["abc", "", "c"], Beam(2))
    assert answers.text.numpy()[1].tolist() == [b"", b""]
    ids = decode(ensemble, [[4, 5, 6, 2]], Beam(2), max_length=4).token_ids[0]
    scored = score(ensemble, np.array([[4, 5, 6, 2]] * 2), ids)
    np.testing.assert_allclose(scored.scores, answers.score[0], atol=1e-5)


def test_what_cannot_be_put_together_is_refused(members):
    with pytest.raises(ValueError, match=r"one size, got sizes \[9, 10\]. Train its members with one"):
        Ensemble([members[0], make_recurrent(vocab_size=10)])
    with pytest.raises(ValueError, match=r"at least one, .* got sizes \[\]"):
        Ensemble([])
    with pytest.raises(ValueError, match=r"combination must be one of .*, got 'median'"):
        Ensemble(members, combination="median")
