"""Labels: the texts that the classes of a model stand for."""

from collections.abc import Sequence

__all__ = ["LABELS", "check_labels", "describe_labels"]

LABELS = "labels.txt"
"""The file of an export that lists them, one a line; line i is class i, counted from 0."""


def check_labels(labels: Sequence[str], classes: int) -> tuple[str, ...]:
    """Labels in the order of a model's classes.

    Raises:
        ValueError: there are not as many labels as classes, one is there twice, or one is not a line of text.
    """
    if len(labels) != classes or len(set(labels)) != classes:
        raise ValueError(
            f"A model of {classes} classes needs as many different labels, in the order of its classes, "
            f"got {list(labels)}."
        )
    for label in labels:
        if not label.strip() or len(label.splitlines()) != 1:
            raise ValueError(f"A label is one line that is not blank, got {label!r}.")
    return tuple(labels)


def describe_labels(labels: Sequence[str]) -> str:
    """The content of `LABELS`."""
    return "".join(f"{label}\n" for label in labels)
