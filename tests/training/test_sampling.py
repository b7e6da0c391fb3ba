"""Scheduled sampling, with models whose predictions are known."""

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf
from scripted import FIRST, Scripted, by_prefix
from tiny_training import SETTINGS, TinyModel, train

from zoo.data.batches import batches
from zoo.data.pairs import Pairs
from zoo.decoders import Greedy, decode
from zoo.models import RecurrentSeq2Seq, TransformerSeq2Seq
from zoo.tokenizers import Characters
from zoo.training.fit import fit
from zoo.training.resuming import Checkpoints
from zoo.training.sampling import ScheduledSampling, sampled
from zoo.training.settings import TrainingSettings

SCRIPT = Path(__file__).with_name("sampled_training.py")
PAD, START = 0, 1
A, B, C = FIRST, FIRST + 1, FIRST + 2


class Speaker(keras.Model):
    """A scripted model in Keras' clothes."""

    def __init__(self, script):
        super().__init__()
        self.script = script
        self.encode, self.init_state, self.step = script.encode, script.init_state, script.step

    def call(self, inputs, training=False):
        return self.script(inputs)


SCRIPT_OF_LETTERS = by_prefix(
    3,
    4,
    {A: 1.0},
    {
        (): {B: 0.9, A: 0.1},  # begins with B
        (A,): {C: 1.0},  # what follows the right A
        (B,): {B: 1.0},  # what follows its own B
        (A, A): {B: 1.0},
        (B, B): {C: 1.0},
    },
)
RIGHT = np.array([[START, A, A, A], [START, A, PAD, PAD]], "int32")
INPUTS = {"source": tf.zeros([2, 1], tf.int32), "target_ids": tf.constant(RIGHT)}


def mixed(rate, **how):
    model = sampled(
        Speaker(Scripted(SCRIPT_OF_LETTERS)), ScheduledSampling(rate, growth="constant", **how), seed=1
    )
    return tf.function(lambda: model.mixed(INPUTS, 0), autograph=False)().numpy().tolist()


@pytest.mark.parametrize("reading", ["two_passes", "one_by_one"])
def test_a_rate_of_0_is_teacher_forcing(reading):
    assert mixed(0.0, reading=reading) == RIGHT.tolist()


def test_a_rate_of_1_reads_its_own_tokens_one_by_one():
    """After START it says B, after its own B again B, after B B then C; padding and START stay."""
    assert mixed(1.0, reading="one_by_one") == [[START, B, B, C], [START, B, PAD, PAD]]


def test_a_rate_of_1_reads_what_two_passes_make_of_the_right_past():
    """After START it says B, after the right A it says C, after A A then B."""
    assert mixed(1.0, reading="two_passes") == [[START, B, C, B], [START, B, PAD, PAD]]


@pytest.mark.parametrize("reading", ["two_passes", "one_by_one"])
def test_what_is_drawn_follows_the_distribution(reading):
    rows = 4000
    inputs = {
        "source": tf.zeros([rows, 1], tf.int32),
        "target_ids": tf.constant(np.tile(RIGHT[:1, :2], (rows, 1))),
    }
    how = ScheduledSampling(1.0, growth="constant", reading=reading, pick="drawn")
    model = sampled(Speaker(Scripted(np.repeat(SCRIPT_OF_LETTERS, 1, axis=0))), how, seed=1)
    second = model.mixed(inputs, 0).numpy()[:, 1]
    assert set(second.tolist()) == {A, B}
    assert np.mean(second == B) == pytest.approx(0.9, abs=4 * np.sqrt(0.9 * 0.1 / rows))


def test_in_half_precision_the_loss_is_scaled_as_without_it():
    """Keras scales the loss of a model of that policy, and asks the one that is trained for it."""
    optimizers = []
    watch = keras.callbacks.LambdaCallback(
        on_train_begin=lambda logs: optimizers.append(watch.model.optimizer)
    )
    for how in (None, ScheduledSampling(1.0, growth="constant")):
        keras.config.set_dtype_policy("mixed_float16")
        try:
            model = TinyModel(0.0)
        finally:
            keras.config.set_dtype_policy("float32")
        _, fitted = train(replace(SETTINGS, sampling=how), model=model, callbacks=[watch])
        assert fitted.history["loss"][-1] < fitted.history["loss"][0]
    assert [type(optimizer) for optimizer in optimizers] == [keras.optimizers.LossScaleOptimizer] * 2


def test_a_share_of_the_tokens_is_replaced():
    rows = 3000
    inputs = {
        "source": tf.zeros([rows, 1], tf.int32),
        "target_ids": tf.constant(np.tile(RIGHT[:1, :2], (rows, 1))),
    }
    model = sampled(
        Speaker(Scripted(SCRIPT_OF_LETTERS)), ScheduledSampling(0.5, growth="linear", steps=10), seed=3
    )
    for update, share in ((0, 0.0), (4, 0.2), (10, 0.5), (99, 0.5)):
        second = model.mixed(inputs, update).numpy()[:, 1]
        assert np.mean(second == B) == pytest.approx(share, abs=0.04)


def test_a_transformer_reads_the_same_one_by_one_as_when_it_decodes():
    """At rate 1, the tokens after START are the greedy answer, whatever the right ones are."""
    keras.utils.set_random_seed(4)
    model = TransformerSeq2Seq(9, 9, width=16, depth=2, heads=2, units=16)
    source = tf.constant([[4, 5, 6, 2], [7, 8, 2, 0]])
    right = tf.constant([[START, 4, 4, 4, 4], [START, 5, 5, 5, 5]])
    how = ScheduledSampling(1.0, growth="constant", reading="one_by_one")
    read = sampled(model, how, seed=1).mixed({"source": source, "target_ids": right}, 0).numpy()
    for row, answer in zip(
        read, decode(model, source, Greedy(), max_length=4).token_ids[:, 0].numpy(), strict=True
    ):
        until_end = list(answer).index(2) + 1 if 2 in answer else 4
        assert row[1 : until_end + 1].tolist() == answer[:until_end].tolist()


MODELS = {
    "recurrent": lambda: RecurrentSeq2Seq(
        9, 9, embedding_dim=8, encoder_units=8, decoder_units=8, dropout=0.2
    ),
    "transformer": lambda: TransformerSeq2Seq(9, 9, width=16, depth=1, heads=2, units=16, dropout=0.2),
}


@pytest.mark.parametrize("reading", ["two_passes", "one_by_one"])
@pytest.mark.parametrize("model", MODELS)
def test_shapes_that_are_unknown_when_the_graph_is_made_change_nothing(model, reading):
    """As in `fit`, where batches have any number of rows and lengths; and there its dropout draws nothing."""
    keras.utils.set_random_seed(6)
    made = MODELS[model]()
    inputs = {
        "source": tf.constant([[4, 5, 6, 2], [7, 8, 2, 0]]),
        "target_ids": tf.constant([[START, 4, 5, 6, 7], [START, 5, 6, 0, 0]]),
    }
    found = sampled(made, ScheduledSampling(0.5, growth="constant", reading=reading), seed=1)
    again = sampled(made, found.how, seed=1)
    seeds = [state.numpy() for state in made.variables if "seed" in state.path]
    anything = {name: tf.TensorSpec((None, None), tf.int32) for name in inputs}
    graph = tf.function(lambda given: again.mixed(given, 0), input_signature=[anything], autograph=False)
    eager, read = found.mixed(inputs, 0).numpy(), graph(inputs).numpy()
    np.testing.assert_array_equal(read, eager)
    assert (read != inputs["target_ids"].numpy()).any()
    after = [state.numpy() for state in made.variables if "seed" in state.path]
    assert len(seeds) > 0
    np.testing.assert_array_equal(seeds, after)


@pytest.mark.parametrize("model", MODELS)
def test_plain_fit_trains_with_it(model):
    """Copying, from its own tokens: the loss falls."""
    keras.utils.set_random_seed(2)
    letters = Characters("abcde")
    texts = ["".join(np.random.default_rng(n).choice(list("abcde"), 1 + n % 4)) for n in range(64)]
    data = batches(
        Pairs(texts, texts), letters, letters, batch_size=16, max_source_length=6, max_length=6, seed=1
    )
    how = ScheduledSampling(0.3, steps=10, reading="one_by_one")
    settings = TrainingSettings(epochs=4, batch_size=16, learning_rate=0.02, sampling=how)
    fitted = fit(MODELS[model](), data, data.epoch(0), settings)
    assert fitted.history["loss"][-1] < fitted.history["loss"][0]


def test_a_target_that_does_not_fit_is_told():
    model = sampled(MODELS["transformer"](), ScheduledSampling(0.5, reading="one_by_one", longest=4), seed=1)
    inputs = {"source": tf.constant([[4, 2]]), "target_ids": tf.constant([[START, 4, 5, 6, 7]])}
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"ScheduledSampling\(longest=4\)"):
        tf.function(lambda: model.mixed(inputs, 0), autograph=False)()


def test_probabilities_are_those_of_the_paper():
    linear = ScheduledSampling(0.8, steps=10)
    assert [float(linear.probability(t)) for t in (0, 5, 10, 20)] == pytest.approx([0, 0.4, 0.8, 0.8])
    exponential = ScheduledSampling(1.0, growth="exponential", steps=10)
    assert float(exponential.probability(10)) == pytest.approx(1 - np.exp(-1))
    sigmoid = ScheduledSampling(1.0, growth="inverse_sigmoid", steps=10)
    assert float(sigmoid.probability(0)) == pytest.approx(1 - 10 / 11)
    assert float(sigmoid.probability(10 * np.log(10))) == pytest.approx(0.5)
    assert float(sigmoid.probability(100_000)) == 1.0
    assert float(ScheduledSampling(0.3, growth="constant").probability(0)) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"rate": 1.5}, "a probability from 0 to 1, got 1.5"),
        ({"rate": 0.5, "steps": 0}, "steps is a whole number of 1 or more, got 0"),
        ({"rate": 0.5, "longest": 0.5}, "longest is a whole number of 1 or more, got 0.5"),
        (
            {"rate": 0.5, "growth": "cubic"},
            "one of constant, linear, exponential, inverse_sigmoid, got 'cubic'",
        ),
        ({"rate": 0.5, "reading": "three"}, "one of two_passes, one_by_one, got 'three'"),
        ({"rate": 0.5, "pick": "worst"}, "one of best, drawn, got 'worst'"),
    ],
)
def test_what_cannot_be_is_told(given, told):
    with pytest.raises(ValueError, match=told):
        ScheduledSampling(**given)


def test_workers_are_refused():
    class Among:
        distribute_strategy = tf.distribute.MultiWorkerMirroredStrategy.__new__(
            tf.distribute.MultiWorkerMirroredStrategy
        )

    with pytest.raises(ValueError, match="leave `sampling` out"):
        sampled(Among(), ScheduledSampling(0.5), seed=0)


def ended(folder: Path, rate: str, *places: str) -> dict[str, np.ndarray]:
    """The variables of the model that the last process ends with."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    folder.mkdir()
    command = [sys.executable, str(SCRIPT), str(folder), rate, *places, "never"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    with np.load(folder / "end.npz") as content:
        return dict(content)


def test_bit_for_bit_with_rate_0_and_after_a_kill(tmp_path):
    forced = ended(tmp_path / "forced", "none")
    zero = ended(tmp_path / "zero", "0.0")
    half = ended(tmp_path / "half", "0.5")
    killed = ended(tmp_path / "killed", "0.5", "batch:3", "write:2", "epoch:1")
    assert set(forced) == set(zero) == set(half) == set(killed)
    for name in forced:
        np.testing.assert_array_equal(zero[name], forced[name], err_msg=name)
        np.testing.assert_array_equal(killed[name], half[name], err_msg=name)
    assert any((half[name] != forced[name]).any() for name in forced), "it did read its own tokens"


def test_a_training_from_before_there_were_these_settings_is_gone_on_with(tmp_path):
    """Its checkpoint holds settings without those fields."""
    later = {"sampling", "beta_2"}
    facts = SETTINGS.facts()
    assert facts == {name: value for name, value in asdict(SETTINGS).items() if name not in later}
    kept = Checkpoints(tmp_path, what={"settings": facts})
    kept._require_same({"settings": facts})
    other = replace(SETTINGS, sampling=ScheduledSampling(0.5)).facts()
    with pytest.raises(ValueError, match=r"zoo train \.\.\. --fresh"):
        Checkpoints(tmp_path, what={"settings": other})._require_same({"settings": facts})


def test_settings_with_sampling_come_back_from_json():
    facts = TrainingSettings(batch_size=8, sampling=ScheduledSampling(0.25)).facts()
    assert json.loads(json.dumps(facts)) == facts
    assert facts["sampling"]["rate"] == 0.25


def test_what_is_trained_can_be_called_and_evaluated_as_before():
    model, fitted = train(replace(SETTINGS, sampling=ScheduledSampling(0.3)))
    assert isinstance(model, TinyModel)
    assert len(fitted.history["val_loss"]) == SETTINGS.epochs
