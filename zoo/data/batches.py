"""From parallel texts to the batches that `model.fit` takes."""

from bisect import bisect_right
from collections import Counter

import tensorflow as tf

from zoo.data.pairs import Pairs
from zoo.tokenizers import PAD, Tokenizer
from zoo.tokenizers.sequences import read_sources, read_targets, teacher_forced

__all__ = ["batches"]

BUCKET_WIDTH = 8
"""Texts of a batch differ by less than so many characters, so that little of it is padding."""


def batches(
    pairs: Pairs,
    source: Tokenizer,
    target: Tokenizer,
    *,
    batch_size: int,
    max_source_length: int,
    max_length: int,
    seed: int | None = None,
) -> tf.data.Dataset:
    """Encode, bucket by source length, pad and shift.

    Each batch is what `model.fit` takes: inputs, labels and weights. The decoder reads START and the
    target, and is to say the target and END. Padding weighs nothing. A sequence beyond its bound is cut
    there.

    Args:
        pairs: parallel texts.
        source: tokenizer of the sources.
        target: tokenizer of the targets.
        batch_size: B, number of pairs of a batch; the last of a bucket may be smaller.
        max_source_length: greatest number of source ids, END counted.
        max_length: greatest number of target ids, END counted.
        seed: shuffles the pairs, anew in each epoch; the same seed gives the same order (TensorFlow's global
            seed being the same, if it is set). None keeps the order within a bucket.

    Returns:
        A dataset of `({"source": (B, S), "target_ids": (B, T)}, labels (B, T), weights (B, T))`; ids int32,
        weights float32, 1 at tokens and 0 at PAD. Its cardinality is known.

    Raises:
        ValueError: there are no pairs, or not as many sources as targets, or a size is less than 1.
    """
    if batch_size < 1:
        raise ValueError(f"A batch has 1 pair or more, got batch_size={batch_size}.")
    if not pairs.sources or len(pairs.sources) != len(pairs.targets):
        raise ValueError(
            f"Pairs must be parallel texts, at least one, got {len(pairs.sources)} sources and "
            f"{len(pairs.targets)} targets."
        )
    texts = tf.data.Dataset.from_tensor_slices((list(pairs.sources), list(pairs.targets)))
    if seed is not None:
        texts = texts.shuffle(len(pairs.sources), seed=seed, reshuffle_each_iteration=True)

    def encode(sources: tf.Tensor, targets: tf.Tensor):
        source_ids = read_sources(source, sources, max_source_length).ids
        labels = read_targets(target, targets, max_length)
        weights = tf.cast(labels != PAD, tf.float32)
        return {"source": source_ids, "target_ids": teacher_forced(labels)}, labels, weights

    # Characters stand for tokens here: what is long in one is long in the other.
    lengths = [min(len(text), max_source_length) for text in pairs.sources]
    bounds = list(range(BUCKET_WIDTH, max(lengths) + BUCKET_WIDTH, BUCKET_WIDTH))
    in_buckets = Counter(bisect_right(bounds, length) for length in lengths).values()
    count = sum(-(-pairs_in_bucket // batch_size) for pairs_in_bucket in in_buckets)

    bucketed = texts.bucket_by_sequence_length(
        lambda sources, targets: tf.minimum(tf.strings.length(sources, unit="UTF8_CHAR"), max_source_length),
        bucket_boundaries=bounds,
        bucket_batch_sizes=[batch_size] * (len(bounds) + 1),
        no_padding=True,
    )
    encoded = bucketed.map(encode, num_parallel_calls=tf.data.AUTOTUNE)
    return encoded.apply(tf.data.experimental.assert_cardinality(count)).prefetch(tf.data.AUTOTUNE)
