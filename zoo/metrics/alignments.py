"""Word alignments judged against those that people made."""

from collections.abc import Collection, Sequence

from zoo.metrics.strings import require_pairs

__all__ = ["Links", "alignment_error_rate"]

Links = Collection[tuple[int, int]]
"""Which words of a sentence pair belong together: (source word, target word), counted from 0."""


def alignment_error_rate(
    predictions: Sequence[Links], sure: Sequence[Links], possible: Sequence[Links] | None = None
) -> float:
    """The alignment error rate of Och and Ney (2003): 0 is perfect, 1 the worst.

    With the links A that were predicted, S that are sure, and P that are possible, summed over all pairs of
    sentences::

        AER = 1 - (|A n S| + |A n P|) / (|A| + |S|)

    What is sure is possible as well, whether `possible` repeats it or not.

    Args:
        predictions: the predicted links of each pair of sentences.
        sure: those that must be there.
        possible: those that may be there; without them, those that are sure.

    Raises:
        ValueError: there are none, or not as many of each, or there is neither a predicted nor a sure link.
    """
    possible = sure if possible is None else possible
    require_pairs(predictions, sure)
    require_pairs(predictions, possible)
    hits = total = 0
    for found, must, may in zip(map(set, predictions), map(set, sure), map(set, possible), strict=True):
        hits += len(found & must) + len(found & (may | must))
        total += len(found) + len(must)
    if total == 0:
        raise ValueError("an alignment error rate needs a predicted or a sure link, got none of either")
    return 1 - hits / total
