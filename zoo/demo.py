"""The main job from end to end: train, evaluate, export, verify, serve, ask."""

import random
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from zoo import recipes, runs, tables
from zoo.plots import alignment_heat_map
from zoo.runs import Evaluation
from zoo.serving.client import Client, GrpcClient, Hypothesis, RestClient
from zoo.serving.engines import Running, choose, serve
from zoo.tables import Answered
from zoo.tasks.task import Task
from zoo.verify import verify_in_fresh_process

__all__ = ["DemoError", "demo"]

QUESTIONS = 3
"""Held-out texts that the server is asked, of each test split."""

ENOUGH = 0.99
"""Exact match that the recipe promises on days that it was not trained on."""

REMEDY = "Train longer: `epochs` or `train_size` in zoo/recipes/dates.py."


class DemoError(RuntimeError):
    """Something that the demo showed is wrong."""


def demo(
    console: Console,
    *,
    runs_folder: Path,
    saved_models: Path,
    picture: Path,
    engine: str = "auto",
    seed: int = 0,
) -> None:
    """Train `dates`, evaluate, export, verify, serve, ask over REST and gRPC, draw, and stop the server.

    Args:
        console: where progress and results are shown.
        runs_folder: folder for the trained model.
        saved_models: folder for the export.
        picture: file for the drawing of an alignment.
        engine: what serves, see `zoo.serving.engines.serve`.
        seed: draws the questions.

    Raises:
        DemoError: a figure is below what the recipe promises, a check fails, or an answer is wrong.
    """
    choose(engine)  # a misspelt one is told now, not after the training
    recipe = recipes.find("dates")

    console.rule("1/6  data")
    task = recipe.task()
    for note in task.notes:
        console.print(f"- {note}")

    console.rule("2/6  train")
    console.print(f"{len(task.splits['train'].sources):,} pairs; two to three minutes on two quiet cores.")
    run = runs.train(recipe, task, runs_folder / recipe.name)
    console.print(f"Trained in {run.record['seconds']:.0f} seconds.")

    console.rule("3/6  evaluate")
    evaluation = runs.evaluate(run, task)
    console.print(tables.evaluation_table(evaluation))
    _require_figures(evaluation)

    console.rule("4/6  export and verify in a fresh process")
    path = runs.export(run, task, saved_models, figures=evaluation.flat())
    report = verify_in_fresh_process(path)
    console.print(tables.report_table(report))
    if not report.ok:
        raise DemoError(f"The export {path} does not keep its promises.")

    console.rule("5/6  serve and ask")
    with serve(saved_models, engine=engine, grpc_port=0, rest_port=0, names=[recipe.name]) as running:
        console.print(f"Engine: {running.engine}, since {running.reason}.")
        console.print(f"REST at {running.rest_url}, gRPC at {running.grpc_target}.")
        questions = _draw(task, seed)
        _ask(console, running, recipe.name, questions)

        console.rule("6/6  draw")
        _draw_alignment(running, recipe.name, questions[0][0], picture)
        console.print(f"Where the model looked for each character: {picture}")
    console.print("All that was shown is right. The server is stopped.", style="green")


def _require_figures(evaluation: Evaluation) -> None:
    figures = evaluation.flat()
    for search in ("greedy", "beam"):
        dates = figures[f"held_out_dates.{search}.exact_match"]
        if dates < ENOUGH:
            raise DemoError(
                f"Exact match of {search} on held-out dates is {dates:.4f}, not {ENOUGH}. {REMEDY}"
            )
        formats = figures[f"held_out_formats.{search}.exact_match"]
        rules = figures["held_out_formats.dateparser.exact_match"]
        if formats <= rules:
            raise DemoError(
                f"Exact match of {search} on held-out formats is {formats:.4f}, "
                f"not above the rules' {rules:.4f}. {REMEDY}"
            )


def _draw(task: Task, seed: int) -> list[tuple[str, str]]:
    """Some pairs of each test split."""
    draw = random.Random(seed)
    return [
        pair
        for pairs in task.tests.values()
        for pair in draw.sample(list(zip(pairs.sources, pairs.targets, strict=True)), QUESTIONS)
    ]


def _ask(console: Console, running: Running, model: str, questions: Sequence[tuple[str, str]]) -> None:
    """Ask both ways with both searches; all must be right, and both ways must agree."""
    texts = [text for text, _ in questions]
    answers: dict[str, list[Sequence[Hypothesis]]] = {}
    for protocol, client in _clients(running, model).items():
        with client:
            answers[f"{protocol} greedy"] = [[hypothesis] for hypothesis in client.greedy(texts)]
            answers[f"{protocol} beam"] = list(client.beam(texts))
    answered = [
        Answered(text, over, answers[over][row], truth)
        for row, (text, truth) in enumerate(questions)
        for over in answers
    ]
    console.print(tables.answers_table(answered))
    for answer in answered:
        if answer.hypotheses[0].text != answer.truth:
            raise DemoError(
                f"{answer.over} answered {answer.hypotheses[0].text!r} to {answer.question!r}; "
                f"{answer.truth!r} is right."
            )
    for search in ("greedy", "beam"):
        _require_same(answers[f"REST {search}"], answers[f"gRPC {search}"])


def _clients(running: Running, model: str) -> dict[str, Client]:
    return {
        "REST": RestClient(running.rest_url, model=model),
        "gRPC": GrpcClient(running.grpc_target, model=model),
    }


def _require_same(left: Sequence[Sequence[Hypothesis]], right: Sequence[Sequence[Hypothesis]]) -> None:
    for some, others in zip(left, right, strict=True):
        for one, other in zip(some, others, strict=True):
            if one.text != other.text or abs(one.score - other.score) > 1e-5:
                raise DemoError(f"REST and gRPC disagree: {one} and {other}.")


def _draw_alignment(running: Running, model: str, text: str, picture: Path) -> None:
    with RestClient(running.rest_url, model=model) as client:
        (alignment,) = client.align([text])
    figure = alignment_heat_map(alignment.source_tokens, alignment.target_tokens, alignment.weights)
    figure.savefig(picture, dpi=150)
