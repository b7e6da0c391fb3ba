"""The zoo at one piece of work: `python -m benchmarks.ours WORK [--repeats N]`.

Prints a line of JSON for each variant of the model, in training for each way to train it.
"""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from benchmarks.measure import tell, time_runs
from benchmarks.models import VARIANTS, make
from benchmarks.work import MODELS, STEPS, THREADS, WORK, Work
from zoo.data.batches import untuned
from zoo.decoders import Beam, Greedy, decode, in_parts
from zoo.serving.loader import load
from zoo.training.losses import TokenCrossEntropy

__all__ = ["by_fit", "by_step", "main", "measure", "served", "use_threads_as_the_server"]

PACKAGES = ("tensorflow", "keras", "numpy")


def random_ids(work: Work, length: int) -> np.ndarray:
    """(B, length) int32 of ordinary tokens."""
    vocab_size = MODELS[work.model].vocab_size
    return np.random.default_rng(length).integers(4, vocab_size, (work.batch, length), dtype="int32")


def training_batches(work: Work, steps: int) -> tf.data.Dataset:
    """Batches as the zoo's pipeline gives them: inputs, labels, weights, of lengths not known before."""
    source, target_ids, labels = (random_ids(work, n) for n in (work.source, work.target, work.target))
    batch = ({"source": source, "target_ids": target_ids}, labels, np.ones(labels.shape, "float32"))

    def forget_shapes(*batch):
        return tf.nest.map_structure(lambda x: tf.compat.v1.placeholder_with_default(x, (None, None)), batch)

    return untuned(tf.data.Dataset.from_tensors(batch).repeat(steps).map(forget_shapes).prefetch(1))


def by_fit(model: keras.Model, work: Work, steps: int = STEPS) -> Callable[[], Any]:
    """A run is so many training steps in one call of `fit`."""
    model.compile(optimizer=keras.optimizers.Adam(), loss=TokenCrossEntropy())
    batches = training_batches(work, steps)
    return lambda: model.fit(batches, shuffle=False, verbose=0)


def by_step(model: keras.Model, work: Work, steps: int = STEPS) -> Callable[[], Any]:
    """A run is so many training steps of a function written for the purpose."""
    optimizer, cross_entropy = keras.optimizers.Adam(), TokenCrossEntropy()
    optimizer.build(model.trainable_variables)
    batches = training_batches(work, steps)

    @tf.function(input_signature=[batches.element_spec])
    def step(batch):
        inputs, labels, weights = batch
        with tf.GradientTape() as tape:
            loss = cross_entropy(labels, model(inputs, training=True), sample_weight=weights)
        optimizer.apply(tape.gradient(loss, model.trainable_weights), model.trainable_weights)
        return loss

    return lambda: [float(step(batch)) for batch in batches]


def forbid_end(following, token_ids, index):
    """So that every hypothesis is as long as it may be, and every system takes the same number of steps."""
    return following.without_end(tf.constant(True))


def served(model: keras.Model, work: Work) -> Callable[[], dict[str, np.ndarray]]:
    """A run is one request of a batch to an exported search, ids to ids, loaded as the server does."""
    strategy = Greedy() if work.hypotheses == 1 else Beam(width=work.hypotheses)

    @tf.function(input_signature=[tf.TensorSpec((None, None), tf.int32, name="source")], autograph=False)
    def search(source):
        found = in_parts(
            lambda source: decode(model, source, strategy, max_length=work.target, transforms=[forbid_end]),
            {"source": source},
            most=THREADS,
        )
        return {"token_ids": found.token_ids, "scores": found.scores}

    exported = tf.Module()
    with tempfile.TemporaryDirectory() as folder:
        with model.packed():
            function = search.get_concrete_function()
            exported.weights = list(function.variables)
            tf.saved_model.save(exported, folder, signatures={"serving_default": function})
        servable = load(Path(folder))
    signature = servable.signatures["serving_default"]
    source = random_ids(work, work.source)
    return lambda: servable.run(signature, {"source": source}, ["token_ids", "scores"])


def use_threads_as_the_server(work: Work) -> None:
    """Operations of a search beside each other, none in pieces; before TensorFlow runs the first of them."""
    if not work.trains:
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(THREADS)


def measure(work: Work, repeats: int) -> None:
    """Tell how fast each variant of the zoo is, the one that goals speak of first."""
    for system in VARIANTS[work.model]:
        model = make(work.model, system)
        if not work.trains:
            ways = {system: (served(model, work), 1)}
        else:
            ways = {system: (by_fit(model, work), STEPS), f"{system}-step": (by_step(model, work), STEPS)}
        for name, (run, steps) in ways.items():
            tell(name, work.name, time_runs(run, tokens=steps * work.tokens, repeats=repeats), PACKAGES)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", choices=WORK)
    parser.add_argument("--repeats", type=int, default=5, help="timed runs")
    arguments = parser.parse_args()
    use_threads_as_the_server(WORK[arguments.work])
    measure(WORK[arguments.work], arguments.repeats)


if __name__ == "__main__":
    main()
