"""Scores of a corpus by the length of its sources: where a system fails, a mean over all hides."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from zoo.metrics.strings import require_pairs

__all__ = ["Bucket", "length_buckets", "scores_by_length"]


class Bucket(NamedTuple):
    """Sources of some lengths."""

    shortest: int
    longest: int
    pairs: int
    """How many there are."""


def length_buckets(lengths: Sequence[int], *, width: int, fewest: int = 1) -> list[Bucket]:
    """Lengths in buckets of equal width, from the shortest to the longest.

    A corpus' score over a handful of pairs says little: a bucket with fewer than `fewest` takes those of the
    next one too, and the last one goes to the one before it.

    Args:
        lengths: of each source.
        width: lengths that a bucket holds; the first one begins with 1 if a source has at least 1, and the
            buckets of a width are the same for every corpus but for those that are put together.
        fewest: pairs in a bucket.

    Raises:
        ValueError: there is no length, or one is negative, or width or fewest is less than 1.
    """
    if not lengths or min(lengths) < 0 or width < 1 or fewest < 1:
        raise ValueError(
            f"Buckets need lengths of 0 or more, and a width and a fewest of 1 or more; got {len(lengths)} "
            f"lengths, width={width} and fewest={fewest}."
        )
    numbers = Counter(max(length - 1, 0) // width for length in lengths)
    buckets: list[Bucket] = []
    for number in sorted(numbers):
        new = Bucket(number * width + 1, (number + 1) * width, numbers[number])
        small = bool(buckets) and buckets[-1].pairs < fewest
        buckets[-1:] = [_together(buckets[-1], new)] if small else [*buckets[-1:], new]
    if len(buckets) > 1 and buckets[-1].pairs < fewest:
        buckets[-2:] = [_together(*buckets[-2:])]
    first, last = buckets[0], buckets[-1]
    buckets[0] = first._replace(shortest=min(first.shortest, min(lengths)))
    buckets[-1] = buckets[-1]._replace(longest=min(last.longest, max(lengths)))
    return buckets


def _together(left: Bucket, right: Bucket) -> Bucket:
    return Bucket(left.shortest, right.longest, left.pairs + right.pairs)


def scores_by_length(
    metric: Callable[[Sequence[str], Sequence[str]], float],
    predictions: Sequence[str],
    references: Sequence[str],
    lengths: Sequence[int],
    buckets: Sequence[Bucket],
) -> list[float]:
    """What a metric says of the pairs of each bucket: one number for each.

    Args:
        metric: `metric(predictions, references)`, such as `zoo.metrics.Bleu()`.
        predictions, references: of N pairs.
        lengths: of their N sources.
        buckets: what `length_buckets` made of these lengths.

    Raises:
        ValueError: there are not as many of each, or a bucket holds none of these lengths.
    """
    require_pairs(predictions, references)
    require_pairs(predictions, lengths)
    scores = []
    for bucket in buckets:
        inside = [n for n, length in enumerate(lengths) if bucket.shortest <= length <= bucket.longest]
        scores.append(metric([predictions[n] for n in inside], [references[n] for n in inside]))
    return scores
