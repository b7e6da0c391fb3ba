"""From parallel texts to the batches that `model.fit` takes."""

import logging
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tensorflow as tf

from zoo.data.buckets import Bucket, Plan, fill_buckets, plan_epoch
from zoo.data.encoding import Bounds, Counts, Rows, encode
from zoo.data.pairs import Pairs
from zoo.tokenizers import PAD, Tokenizer
from zoo.tokenizers.sequences import teacher_forced

__all__ = ["AHEAD", "Batches", "batches", "make_batches", "untuned"]

log = logging.getLogger(__name__)

AHEAD = 2
"""Batches that are made at the same time, and kept ready."""


@dataclass(frozen=True)
class Batches:
    """The batches of every epoch; `batches` makes them, and `zoo.data.records.read_shards` from files.

    Each is what `model.fit` takes, `({"source": (B, S), "target_ids": (B, T)}, labels (B, T), weights
    (B, T))`; ids int32, weights float32, 1 at tokens and 0 at PAD. The decoder reads START and the target,
    and is to say the target and END.

    Attributes:
        rows: the pairs as ids.
        buckets: the pairs that may meet in a batch.
        seed: of the order; None keeps it.
        index, count: this is part `index` of `count`; see `shard`.
    """

    rows: Rows
    buckets: tuple[Bucket, ...]
    seed: int | None
    index: int = 0
    count: int = 1

    @property
    def steps(self) -> int:
        """Batches in an epoch, the same in every epoch."""
        return sum(bucket.batches for bucket in self.buckets)

    @property
    def counts(self) -> Counts:
        """What became of the pairs: kept, cut, left out."""
        return self.rows.counts

    @property
    def element_spec(self) -> Any:
        """What a batch looks like."""
        ids, weights = tf.TensorSpec((None, None), tf.int32), tf.TensorSpec((None, None), tf.float32)
        return {"source": ids, "target_ids": ids}, ids, weights

    def epoch(self, epoch: int, first_step: int = 0) -> tf.data.Dataset:
        """The batches of one epoch, which are a pure function of (seed, epoch, step).

        Args:
            epoch: its number, from 0.
            first_step: the first so many batches are left out.

        Raises:
            ValueError: there is no such epoch or step.
        """
        if epoch < 0 or not 0 <= first_step <= self.steps:
            raise ValueError(
                f"Epochs count from 0, and steps from 0 to {self.steps}, got epoch {epoch} and step "
                f"{first_step}."
            )
        plan = plan_epoch(self.buckets, self.seed, epoch)
        return self._dataset(Plan(plan.pairs, plan.splits[first_step:]))

    def dataset(self, epochs: int = 1) -> tf.data.Dataset:
        """The batches of epochs one after another, for a plain `fit`::

            model.fit(data.dataset(12), epochs=12, steps_per_epoch=data.steps, shuffle=False)

        Raises:
            ValueError: there are no epochs.
        """
        if epochs < 1:
            raise ValueError(f"A training has 1 epoch or more, got {epochs}.")
        plans = [plan_epoch(self.buckets, self.seed, epoch) for epoch in range(epochs)]
        starts = np.concatenate([plan.splits[:-1] + i * len(plan.pairs) for i, plan in enumerate(plans)])
        pairs = np.concatenate([plan.pairs for plan in plans])
        return self._dataset(Plan(pairs, np.append(starts, len(pairs))))

    def shard(self, index: int, count: int) -> "Batches":
        """Part `index` of `count`, for as many workers: of every batch each `count`-th pair.

        All parts have as many steps. The parts of a step make up the whole batch, and those of an epoch hold
        every pair once; all are padded to the lengths of the whole. Where a batch has fewer than `count`
        pairs, some parts have no row.

        Raises:
            ValueError: there is no such part, or these batches are a part already.
        """
        if self.count > 1 or not 0 <= index < count:
            raise ValueError(
                f"Whole batches have parts from 0 to count - 1, got part {index} of {count} of "
                f"part {self.index} of {self.count}."
            )
        return replace(self, index=index, count=count)

    def _dataset(self, plan: Plan) -> tf.data.Dataset:
        widths = [
            np.maximum.reduceat(lengths[plan.pairs], plan.splits[:-1])
            for lengths in (self.rows.source_lengths, self.rows.target_lengths)
        ]
        with tf.device("CPU:0"):
            order, read = tf.constant(plan.pairs), self.rows.reader()
            steps = tf.data.Dataset.from_tensor_slices((plan.splits[:-1], plan.splits[1:], *widths))

        def batch(start: tf.Tensor, end: tf.Tensor, source_width: tf.Tensor, target_width: tf.Tensor):
            # All parts of a batch have the lengths of the whole, those without a row too.
            sources, targets = read(order[start:end][self.index :: self.count])
            source, labels = _padded(sources, source_width), _padded(targets, target_width)
            weights = tf.cast(labels != PAD, tf.float32)
            return {"source": source, "target_ids": teacher_forced(labels)}, labels, weights

        return untuned(steps.map(batch, num_parallel_calls=AHEAD).prefetch(AHEAD))


def _padded(ids: tf.RaggedTensor, width: tf.Tensor) -> tf.Tensor:
    return tf.ensure_shape(ids.to_tensor(PAD, shape=tf.stack([-1, width])), (None, None))


def untuned(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """The same elements, without TensorFlow's tuner of pipelines.

    The tuner looks after 10 ms, again after 20 ms, then after 40 ms, up to once a minute, and whoever ends an
    iteration waits until it has looked: an epoch of 85 s took 142 s.
    """
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.with_options(options)


def batches(
    pairs: Pairs,
    source: Tokenizer,
    target: Tokenizer,
    *,
    max_source_length: int,
    max_length: int,
    batch_size: int | None = None,
    batch_tokens: int | None = None,
    too_long: str = "cut",
    max_ratio: float | None = None,
    seed: int | None = None,
) -> Batches:
    """Encode once, filter, and put pairs of like length together.

    What was cut or left out is logged as a warning; `Batches.counts` has the numbers.

    Args:
        pairs: parallel texts.
        source: tokenizer of the sources.
        target: tokenizer of the targets.
        max_source_length: greatest number of source ids, END counted.
        max_length: greatest number of target ids, END counted.
        batch_size: greatest number of pairs of a batch, B; or else
        batch_tokens: greatest number of ids of a batch, B * (S + T), padding counted.
        too_long: what becomes of a pair with a sequence beyond its bound, `cut` or `left_out`.
        max_ratio: leaves out pairs of which one side has more than so many times the ids of the other.
        seed: shuffles the pairs, anew in each epoch; None keeps their order within a bucket.

    Raises:
        ValueError: there are no pairs, or none is left, or not as many sources as targets; not exactly one of
            the bounds of a batch is given, or a bound is less than 1, or an option is not known.
    """
    bounds = Bounds(max_source_length, max_length, too_long, max_ratio)
    encoded = encode(pairs, source, target, bounds)
    bounds.require_some(encoded.counts)
    return make_batches(encoded, batch_size=batch_size, batch_tokens=batch_tokens, seed=seed)


def make_batches(
    rows: Rows, *, batch_size: int | None, batch_tokens: int | None, seed: int | None
) -> Batches:
    """Put rows of like length together, wherever they are kept; see `batches`."""
    if rows.counts.kept < rows.counts.pairs or rows.counts.cut:
        log.warning("Of the data: %s", rows.counts)
    buckets = fill_buckets(
        rows.source_lengths, rows.target_lengths, batch_size=batch_size, batch_tokens=batch_tokens
    )
    return Batches(rows, buckets, seed)
