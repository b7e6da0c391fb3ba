"""How answers are judged: `metric(predictions, references)` gives one number for the whole."""

from collections.abc import Sequence
from typing import Any

__all__ = ["character_error_rate", "edit_distance", "exact_match"]


def exact_match(predictions: Sequence[str], references: Sequence[str]) -> float:
    """Share of predictions that equal their reference, from 0 to 1: higher is better.

        number of pairs with prediction = reference / number of pairs


    Raises:
        ValueError: there are none, or not as many predictions as references.
    """
    _check(predictions, references)
    return sum(map(str.__eq__, predictions, references)) / len(references)


def edit_distance(left: Sequence[Any], right: Sequence[Any]) -> int:
    """Fewest insertions, deletions and substitutions of one item that turn one sequence into the other.

    Items are the characters of two strings, or whatever two sequences hold. The distance d(i, j) between the
    first i items of the one and the first j of the other is (Levenshtein 1966; Wagner and Fischer 1974)

        d(i, 0) = i,  d(0, j) = j,
        d(i, j) = min(d(i - 1, j) + 1, d(i, j - 1) + 1, d(i - 1, j - 1) + [left_i differs from right_j]).
    """
    above = list(range(len(right) + 1))
    for i, item in enumerate(left, start=1):
        row = [i]
        for j, other in enumerate(right, start=1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (item != other)))
        above = row
    return above[-1]


def character_error_rate(predictions: Sequence[str], references: Sequence[str]) -> float:
    """Edits per character of the references: 0 is perfect, lower is better, and more than 1 is possible.

        sum over all pairs of edit_distance(prediction, reference) / sum of the references' lengths

    Sums come before the division, so a long reference weighs more than a short one. Characters are
    code points.

    Raises:
        ValueError: there are none, not as many predictions as references, or only empty references.
    """
    _check(predictions, references)
    characters = sum(map(len, references))
    if characters == 0:
        raise ValueError(
            "an error rate per character needs a reference that is not empty, got only empty ones"
        )
    return sum(map(edit_distance, predictions, references)) / characters


def _check(predictions: Sequence[str], references: Sequence[str]) -> None:
    if len(predictions) != len(references):
        raise ValueError(
            f"every prediction needs one reference, got {len(predictions)} predictions and "
            f"{len(references)} references; pass both in the same order and of the same number"
        )
    if len(references) == 0:
        raise ValueError("a metric needs at least one pair, got none; check that the split is not empty")
