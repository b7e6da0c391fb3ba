"""What the command line shows, as tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.table import Table
from rich.text import Text

from zoo.serving.client import Hypothesis
from zoo.verify import Report

if TYPE_CHECKING:  # so that asking a server does not wait for TensorFlow
    from zoo.recipes import Recipe
    from zoo.runs import Evaluation
    from zoo.serving.versions import Version

__all__ = ["Answered", "answers_table", "evaluation_table", "recipes_table", "report_table", "versions_table"]


class Answered(NamedTuple):
    """One answered question."""

    question: str
    over: str
    """How it was asked, such as `REST beam`."""
    hypotheses: Sequence[Hypothesis]
    truth: str | None = None


def recipes_table(recipes: "Sequence[Recipe]") -> Table:
    """Names and descriptions."""
    table = Table("recipe", "what it learns")
    for recipe in recipes:
        table.add_row(recipe.name, recipe.description)
    return table


def evaluation_table(evaluation: "Evaluation") -> Table:
    """A row for each split and system, a column for each metric."""
    metrics = sorted(
        {name for systems in evaluation.figures.values() for m in systems.values() for name in m}
    )
    table = Table("test split", "pairs", "system", *(name.replace("_", " ") for name in metrics))
    for split, systems in evaluation.figures.items():
        for system, values in systems.items():
            shown = [f"{values[name]:.4f}" for name in metrics]
            table.add_row(split, f"{evaluation.sizes[split]:,}", system, *shown)
        table.add_section()
    return table


def report_table(report: Report) -> Table:
    """A row for each check of an export."""
    table = Table("check", "", "detail", title=Text(f"{report.path} under TensorFlow {report.tensorflow}"))
    for check in report.checks:
        outcome = Text("ok", "green") if check.ok else Text("failed", "red")
        table.add_row(Text(check.name), outcome, Text(check.detail))
    return table


def versions_table(versions: "Sequence[Version]") -> Table:
    """A row for each version of a model, the one that unnamed requests are answered by marked."""
    table = Table("version", "labels", "created", "MiB", "state")
    served = next((version.number for version in versions if version.servable), None)
    for version in versions:
        table.add_row(
            str(version.number),
            ", ".join(version.labels),
            version.created or "",
            f"{version.size / 2**20:.1f}",
            _state(version, served),
        )
    return table


def _state(version: "Version", served: int | None) -> Text:
    if version.problem:
        return Text(version.problem, "red")
    if version.withdrawn:
        return Text("withdrawn", "dim")
    return (
        Text("answers requests that name no version", "green") if version.number == served else Text("whole")
    )


def answers_table(answered: Sequence[Answered]) -> Table:
    """A row for each hypothesis, best first; the best one is marked right or wrong where the truth is known.

    What they are ranked by has a column where it is not the score.
    """
    with_truth = any(answer.truth is not None for answer in answered)
    ranked = any(one.ranked_score != one.score for answer in answered for one in answer.hypotheses)
    more = [*(["ranked by"] if ranked else []), *(["truth"] if with_truth else [])]
    table = Table("text", "asked by", "answer", "score", "length", *more)
    for answer in answered:
        for rank, hypothesis in enumerate(answer.hypotheses):
            first = rank == 0
            truth = _marked(hypothesis.text, answer.truth) if first and answer.truth is not None else ""
            table.add_row(
                Text(answer.question if first else ""),
                answer.over if first else "",
                Text(hypothesis.text) if hypothesis.text else Text("(empty)", "dim"),
                f"{hypothesis.score:.4f}",
                str(hypothesis.length),
                *([f"{hypothesis.ranked_score:.4f}"] if ranked else []),
                *([truth] if with_truth else []),
            )
        table.add_section()
    return table


def _marked(text: str, truth: str) -> Text:
    right = text == truth
    return Text(truth if right else f"{truth}, so this is wrong", "green" if right else "bold red")
