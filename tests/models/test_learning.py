"""Encoders under decoders learn to copy and to reverse, by plain compile and fit, in seconds.

`make test` trains the six of `BY_DEFAULT`, `make test-learning` every row of `LEARNERS`, and prints a table.
"""

import os
import time
from collections.abc import Callable
from typing import NamedTuple

import keras
import numpy as np
import pytest

from zoo.decoders import Greedy, decode
from zoo.models import (
    BahdanauDecoder,
    LuongDecoder,
    RecurrentEncoder,
    RecurrentSeq2Seq,
    Seq2Seq,
    TransformerDecoder,
    TransformerEncoder,
    TransformerSeq2Seq,
)

START, END = 1, 2
SYMBOLS = np.arange(4, 12)
VOCAB_SIZE, LENGTH = 12, 5
BATCH, EPOCHS, TESTED = 64, 2, 500

TASKS = {"copy": lambda row: row, "reverse": lambda row: row[::-1], "sort": sorted}


class Learner(NamedTuple):
    make: Callable[[], keras.Model]
    task: str
    steps: int = 400
    learning_rate: float = 0.01


def recurrent(task, steps=400, **own):
    sizes = {"embedding_dim": 32, "encoder_units": 32, "decoder_units": 64, **own}
    return Learner(lambda: RecurrentSeq2Seq(VOCAB_SIZE, VOCAB_SIZE, **sizes), task, steps)


SMALL = {"width": 32, "depth": 1, "heads": 4, "units": 64}


def transformer(task, steps=500, **own):
    make = lambda: TransformerSeq2Seq(VOCAB_SIZE, VOCAB_SIZE, **{**SMALL, **own})  # noqa: E731
    return Learner(make, task, steps, 0.005)


def pair(task, encoder, decoder, steps=500):
    return Learner(lambda: Seq2Seq(encoder(), decoder()), task, steps, 0.005)


LEARNERS = {
    "rnn": recurrent("copy", 800, cell="rnn", direction="backward", attention="none", encoder_units=64),
    "gru": recurrent("reverse", 800, cell="gru", direction="forward", attention="none", encoder_units=64),
    "lstm": recurrent("copy", 800, direction="backward", attention="none", encoder_units=64),
    "gru-bidirectional": recurrent("copy", 800, cell="gru", attention="none"),
    "lstm-bidirectional": recurrent("reverse", 800, attention="none"),
    "rnn-bahdanau": recurrent("reverse", cell="rnn"),
    "gru-bahdanau": recurrent("reverse", cell="gru"),
    "lstm-bahdanau": recurrent("copy"),
    "lstm-bahdanau-deep": recurrent("reverse", depth=2),
    "lstm-luong-dot": recurrent("reverse", attention="luong_dot"),
    "gru-luong-scaled-dot": recurrent("copy", cell="gru", attention="luong_scaled_dot"),
    "rnn-luong-general": recurrent("reverse", cell="rnn", attention="luong_general"),
    "gru-luong-general-deep": recurrent("copy", cell="gru", attention="luong_general", depth=2),
    "lstm-luong-concat": recurrent("reverse", direction="forward", attention="luong_concat"),
    "transformer-sinusoidal": transformer("reverse"),
    "transformer-sinusoidal-pre": transformer("copy", norm="pre", activation="gelu"),
    "transformer-learned": transformer("copy", positions="learned"),
    "transformer-learned-pre": transformer("reverse", positions="learned", norm="pre", activation="gelu"),
    "transformer-rotary": transformer("reverse", positions="rotary"),
    "transformer-rotary-pre": transformer("copy", positions="rotary", norm="pre", activation="glu"),
    "transformer-under-luong": pair(
        "copy",
        lambda: TransformerEncoder(VOCAB_SIZE, **SMALL),
        lambda: LuongDecoder(VOCAB_SIZE, 64, embedding_dim=32, cell="gru"),
    ),
    "transformer-under-bahdanau": pair(
        "reverse",
        lambda: TransformerEncoder(VOCAB_SIZE, **SMALL, norm="pre"),
        lambda: BahdanauDecoder(VOCAB_SIZE, 64, embedding_dim=32),
    ),
    "gru-under-transformer": pair(
        "reverse",
        lambda: RecurrentEncoder(VOCAB_SIZE, 32, embedding_dim=32, cell="gru"),
        lambda: TransformerDecoder(VOCAB_SIZE, **SMALL, norm="pre"),
    ),
    # To an encoder without positions a source is a bag: it can neither be copied nor reversed, but sorted.
    "transformer-no-positions": transformer("sort", positions="none", norm="pre"),
}

BY_DEFAULT = (
    "lstm",
    "gru-bahdanau",
    "lstm-luong-dot",
    "transformer-sinusoidal",
    "transformer-rotary-pre",
    "gru-under-transformer",
)

CHOSEN = tuple(LEARNERS) if os.environ.get("LEARN") == "all" else BY_DEFAULT


def padded(rows):
    return np.array([[*row, *[0] * (LENGTH + 1 - len(row))] for row in rows], "int32")


def sequences(count, seed, unlike=frozenset()):
    """Distinct rows of 2 to 5 symbols, none of them in the set `unlike`."""
    random, rows = np.random.default_rng(seed), {}
    while len(rows) < count:
        row = tuple(random.choice(SYMBOLS, random.integers(2, LENGTH + 1)).tolist())
        if row not in unlike:
            rows[row] = None
    return list(rows)


def arrays(rows, task):
    source = padded([(*row, END) for row in rows])
    labels = padded([(*TASKS[task](row), END) for row in rows])
    target_ids = np.pad(labels[:, :-1], [(0, 0), (1, 0)], constant_values=START)
    return {"source": source, "target_ids": target_ids}, labels


def train(learner):
    model = learner.make()
    rows = sequences(learner.steps * BATCH // EPOCHS, seed=1)
    inputs, labels = arrays(rows, learner.task)
    model.compile(
        keras.optimizers.Adam(
            keras.optimizers.schedules.CosineDecay(learner.learning_rate, learner.steps), global_clipnorm=1.0
        ),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="mean_with_sample_weight"),
    )
    weights = (labels > 0).astype("float32")
    model.fit(inputs, labels, sample_weight=weights, batch_size=BATCH, epochs=EPOCHS, verbose=0)
    return model, set(rows)


@pytest.mark.parametrize("name", CHOSEN)
def test_learns(name):
    keras.utils.set_random_seed(0)
    learner, began = LEARNERS[name], time.perf_counter()
    model, seen = train(learner)
    inputs, labels = arrays(sequences(TESTED, seed=2, unlike=seen), learner.task)
    found = decode(model, inputs["source"], Greedy(), max_length=LENGTH + 1).token_ids[:, 0].numpy()
    exact = (found == labels).all(axis=1).mean()
    print(f"\n{name:30s} {learner.task:8s} {time.perf_counter() - began:6.1f} s {exact:8.1%}", end=" ")
    assert exact >= 0.99


def test_the_table_covers_what_it_must():
    assert len(LEARNERS) >= 16
    assert len(set(BY_DEFAULT)) == 6
    assert set(BY_DEFAULT) <= set(LEARNERS)
    assert {LEARNERS[name].task for name in BY_DEFAULT} == {"copy", "reverse"}
