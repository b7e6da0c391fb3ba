"""Which pairs share a batch: sequences of like length, in an order that seed and epoch decide."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

__all__ = ["Bucket", "Plan", "fill_buckets", "plan_epoch"]

BATCHES_OF_A_BUCKET = 4
"""A bucket takes in longer pairs until it has so many batches, so that chance decides who meets whom."""


class Bucket(NamedTuple):
    """Pairs of like length."""

    pairs: np.ndarray
    """Their indices, in the order of the corpus."""
    batches: int
    """Number of batches that they make, of sizes that differ by 1 at most."""


class Plan(NamedTuple):
    """The batches of an epoch."""

    pairs: np.ndarray
    """Indices of all pairs, batch after batch."""
    splits: np.ndarray
    """(steps + 1,): the batch of step i has `pairs[splits[i]:splits[i + 1]]`."""


def fill_buckets(
    source_lengths: np.ndarray,
    target_lengths: np.ndarray,
    *,
    batch_size: int | None = None,
    batch_tokens: int | None = None,
) -> tuple[Bucket, ...]:
    """Put pairs of like length together.

    Pairs are sorted by the length of their longer side, and a bucket spans as few lengths as make
    `BATCHES_OF_A_BUCKET` batches. Its pairs are then divided evenly, so no batch is much smaller than others
    of its bucket. How many batches there are depends on the lengths alone.

    Args:
        source_lengths, target_lengths: (N,) number of ids, all at least 1.
        batch_size: greatest number of pairs of a batch; or
        batch_tokens: greatest number of ids of a batch, padding and both sides counted.

    Raises:
        ValueError: not one of the two bounds is given, or not even one pair is within it.
    """
    bound = _bound(batch_size, batch_tokens)
    longest = np.maximum(source_lengths, target_lengths)
    order = np.argsort(longest, kind="stable")
    ends = np.flatnonzero(np.diff(longest[order], append=-1)) + 1
    buckets: list[Bucket] = []
    start = 0
    for end in ends:
        pairs = order[start:end]
        width = int(source_lengths[pairs].max() + target_lengths[pairs].max())
        size = batch_size or bound // width
        if size < 1:
            raise ValueError(
                f"The longest pair has {width} ids, more than batch_tokens={batch_tokens} has room for. "
                "Give more, or bound the lengths more tightly."
            )
        if len(pairs) >= BATCHES_OF_A_BUCKET * size or end == len(order):
            buckets.append(Bucket(np.sort(pairs), -(-len(pairs) // size)))
            start = int(end)
    return tuple(buckets)


def _bound(batch_size: int | None, batch_tokens: int | None) -> int:
    given = [bound for bound in (batch_size, batch_tokens) if bound is not None]
    if len(given) != 1 or given[0] < 1:
        raise ValueError(
            "A batch is bounded by batch_size or by batch_tokens, one of them, at least 1; got "
            f"batch_size={batch_size} and batch_tokens={batch_tokens}."
        )
    return given[0]


def plan_epoch(buckets: Sequence[Bucket], seed: int | None, epoch: int) -> Plan:
    """Which pairs make which batch of an epoch: a pure function of the arguments.

    Args:
        buckets: what `fill_buckets` gave.
        seed: shuffles the pairs of a bucket and all batches; None keeps the order of the corpus within a
            bucket, short pairs first.
        epoch: its number, from 0.

    Returns:
        Every pair once. The number of steps is the same in each epoch.
    """
    if seed is None:
        batches = [part for bucket in buckets for part in np.array_split(bucket.pairs, bucket.batches)]
    else:
        random = np.random.default_rng((seed, epoch))
        batches = [
            part
            for bucket in buckets
            for part in np.array_split(random.permutation(bucket.pairs), bucket.batches)
        ]
        batches = [batches[i] for i in random.permutation(len(batches))]
    return Plan(np.concatenate(batches), np.cumsum([0, *map(len, batches)]))
