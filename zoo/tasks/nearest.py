"""Answers of which any of several is right."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from zoo.metrics import edit_distance
from zoo.tasks.task import Metric

__all__ = ["OR", "AgainstNearest", "any_of"]

OR = " | "
"""What stands between the answers that are right, in the text of a reference."""


def any_of(answers: Iterable[str]) -> str:
    """A reference of which any of the answers is right.

    Raises:
        ValueError: an answer has the sign of `OR` in it.
    """
    listed = list(answers)
    if any(OR.strip() in answer for answer in listed):
        raise ValueError(f"{OR.strip()} stands between answers, so none may have it, got {listed}.")
    return OR.join(listed)


@dataclass(frozen=True)
class AgainstNearest:
    """A metric over words between spaces, against that answer of each reference which is nearest.

    Nearest means fewest edits of words; of several, the first. An error rate is then the edits to the nearest
    answers, per word of those.

    Attributes:
        metric: judges predictions against one reference each.
    """

    metric: Metric

    def __call__(self, predictions: Sequence[str], references: Sequence[str]) -> float:
        """The figure.

        Args:
            predictions: an answer each.
            references: what `any_of` gives, or the one right answer.

        Raises:
            ValueError: there are none, or not as many predictions as references.
        """
        nearest = [*map(_nearest, predictions, references), *references[len(predictions) :]]
        return self.metric(predictions, nearest)


def _nearest(prediction: str, reference: str) -> str:
    words = prediction.split()
    return min(reference.split(OR), key=lambda answer: edit_distance(words, answer.split()))
