"""Answers judged as strings: equal or not, and by how many edits."""

from collections.abc import Callable, Sequence
from typing import Any

__all__ = [
    "character_error_rate",
    "edit_distance",
    "exact_match",
    "phoneme_error_rate",
    "require_pairs",
    "string_error_rate",
    "word_error_rate",
]


def exact_match(predictions: Sequence[str], references: Sequence[str]) -> float:
    """Share of predictions that equal their reference, from 0 to 1: higher is better.

        number of pairs with prediction = reference / number of pairs

    Raises:
        ValueError: there are none, or not as many predictions as references.
    """
    require_pairs(predictions, references)
    return sum(map(str.__eq__, predictions, references)) / len(references)


def string_error_rate(predictions: Sequence[str], references: Sequence[str]) -> float:
    """Share of predictions that differ from their reference at all, 1 - `exact_match`: lower is better.

    Where each string is how one word is said, this is what papers call the word error rate.

    Raises:
        ValueError: there are none, or not as many predictions as references.
    """
    return 1 - exact_match(predictions, references)


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
    return _error_rate(predictions, references, list, "character")


def word_error_rate(predictions: Sequence[str], references: Sequence[str]) -> float:
    """Edits per word of the references, words being what stands between white space: 0 is perfect.

        sum over all pairs of edit_distance(words of prediction, words of reference)
        / sum of the references' numbers of words

    Raises:
        ValueError: there are none, not as many predictions as references, or only empty references.
    """
    return _error_rate(predictions, references, str.split, "word")


def phoneme_error_rate(predictions: Sequence[str], references: Sequence[str]) -> float:
    """Edits per phoneme of the references, `word_error_rate` where a string is phonemes with spaces between.

    Raises:
        ValueError: there are none, not as many predictions as references, or only empty references.
    """
    return _error_rate(predictions, references, str.split, "phoneme")


def _error_rate(
    predictions: Sequence[str], references: Sequence[str], cut: Callable[[str], list[str]], item: str
) -> float:
    require_pairs(predictions, references)
    right = [cut(reference) for reference in references]
    total = sum(map(len, right))
    if total == 0:
        raise ValueError(f"an error rate per {item} needs a reference that is not empty, got only empty ones")
    return sum(map(edit_distance, map(cut, predictions), right)) / total


def require_pairs(predictions: Sequence[Any], references: Sequence[Any]) -> None:
    """Make sure that there is something to judge, and a reference for each of them.

    Raises:
        ValueError: there are none, or not as many predictions as references.
    """
    if len(predictions) != len(references):
        raise ValueError(
            f"every prediction needs one reference, got {len(predictions)} predictions and "
            f"{len(references)} references; pass both in the same order and of the same number"
        )
    if len(references) == 0:
        raise ValueError("a metric needs at least one pair, got none; check that the split is not empty")
