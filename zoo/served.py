"""Whether a server answers as the run does whose export it serves."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import tensorflow as tf

from zoo.runs import Run
from zoo.serving.answers import best_first
from zoo.serving.client import Client, Hypothesis
from zoo.tasks.task import Task

__all__ = ["Comparison", "compare"]

BATCH = 64
"""Texts of a request."""

TOLERANCE = 1e-5
"""How far scores may differ, absolutely, or as a part of ours where that is more: in float32 they depend on
the order in which numbers are added up."""

Search = Callable[[Sequence[str]], list[list[Hypothesis]]]


class Comparison(NamedTuple):
    """How far two beam searches agree on the sources of a test split."""

    split: str
    sources: int
    different: Sequence[str]
    """Sources whose hypotheses are not the same texts with the same scores, in the same order except ties."""


def compare(run: Run, task: Task, client: Client) -> Iterator[Comparison]:
    """Ask a server for the beams of all sources of the test splits, and search for them in this process too.

    Args:
        run: what was trained, and exported.
        task: its task.
        client: asks the model that is served of that export.

    Yields:
        A comparison for each test split.

    Raises:
        zoo.serving.client.ServingError: the server has no answer.
    """
    here = _search(run)
    for split, pairs in task.tests.items():
        parts = [pairs.sources[start : start + BATCH] for start in range(0, len(pairs.sources), BATCH)]
        different = [
            source
            for part in parts
            for source, ours, theirs in zip(part, here(part), client.beam(part), strict=True)
            if not _same(ours, theirs)
        ]
        yield Comparison(split, len(pairs.sources), different)


def _search(run: Run) -> Search:
    """The beam search of a run, in this process."""
    beam = tf.function(
        lambda text: run.predictor.answer(text, run.recipe.beam)._asdict(),
        input_signature=[tf.TensorSpec([None], tf.string)],
        autograph=False,
    )

    def search(texts: Sequence[str]) -> list[list[Hypothesis]]:
        found = {name: value.numpy().tolist() for name, value in beam(tf.constant(texts)).items()}
        decoded = [[text.decode("utf-8") for text in row] for row in found["text"]]
        return best_first({**found, "text": decoded})

    return search


def _same(ours: Sequence[Hypothesis], theirs: Sequence[Hypothesis]) -> bool:
    """Whether each place has our rank, and a text that we have with that score: ties may change places."""
    return len(ours) == len(theirs) and all(
        _near(one.ranked_score, other.ranked_score)
        and any(own.text == other.text and _near(own.score, other.score) for own in ours)
        for one, other in zip(ours, theirs, strict=True)
    )


def _near(own: float, other: float) -> bool:
    return abs(own - other) <= TOLERANCE * max(1.0, abs(own))
