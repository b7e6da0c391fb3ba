"""The record of a training: small, in JSON, to be kept with the code."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from zoo import runs
from zoo.metrics import signatures
from zoo.metrics.by_length import length_buckets, scores_by_length
from zoo.recipes.recipe import Recipe
from zoo.results.alignments import FILE
from zoo.tasks.task import Task
from zoo.tokenizers import Tokenizer

__all__ = ["FINISHED", "SHORT", "UNFINISHED", "read_records", "record", "write_record"]

FINISHED, SHORT, UNFINISHED = "finished", "short", "unfinished"

DIGITS = 6
"""Significant digits of a number in a record."""

BUCKETS = 8
"""Most buckets of source lengths."""

FEWEST = 20
"""Pairs in a bucket."""

SAMPLES = 4


def record(recipe: Recipe, folder: Path) -> dict[str, Any]:
    """What is known of a recipe's training: how it was made, its curve, and, if it has ended, its figures.

    A training that has not ended has no figures, and is marked `unfinished`; one of fewer epochs than the
    recipe has now is `short`. What a run does not say of its machine and versions is None.

    Args:
        recipe: what was trained.
        folder: of the run, such as `runs/dates`.

    Returns:
        What JSON can say; figures are those of `zoo.runs.evaluate`.

    Raises:
        FileNotFoundError: nothing was trained, or is being trained, into that folder.
        ValueError: the test splits are not those that were kept from the training.
    """
    interrupted = runs.interrupted(folder)
    if (folder / runs.RECORD).is_file() or interrupted is None:
        run, task = runs.load(recipe, folder), recipe.task()
        done = {**_training(recipe, run.record), **_judged(recipe, task, runs.evaluate(run, task))}
    else:
        done = {**_training(recipe, interrupted), "status": UNFINISHED}
    return _rounded(done)


def write_record(recipe: Recipe, folder: Path, to: Path) -> Path:
    """Write the record of a run as `to/NAME.json`, in place of an earlier one; the path of the file."""
    found = record(recipe, folder)
    to.mkdir(parents=True, exist_ok=True)
    file = to / f"{recipe.name}.json"
    file.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return file


def read_records(folder: Path) -> list[dict[str, Any]]:
    """All records of trainings in a folder, in the order of their names."""
    files = sorted(file for file in folder.glob("*.json") if file.name != FILE)
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def _training(recipe: Recipe, found: Mapping[str, Any]) -> dict[str, Any]:
    history = {name: values for name, values in found["history"].items() if not name.endswith("tokens")}
    fewer = found["settings"]["epochs"] < recipe.training.epochs
    return {
        "recipe": recipe.name,
        "description": recipe.description,
        "status": SHORT if fewer else FINISHED,
        "command": recipe.command,
        "epochs": max(map(len, history.values()), default=0),
        "hours": found["seconds"] / 3600,
        "versions": found.get("versions"),
        "machine": found.get("machine"),
        "parameters": found.get("parameters"),
        "seed": found["settings"]["seed"],
        "settings": found["settings"],
        "model": found.get("model"),
        "pairs": {"train": found["pairs"]},
        "history": history,
    }


def _judged(recipe: Recipe, task: Task, evaluation: runs.Evaluation) -> dict[str, Any]:
    counts = {name: len(pairs.sources) for name, pairs in task.splits.items()}
    first = next(iter(evaluation.figures))
    triples = zip(*task.splits[first], evaluation.answers[first]["beam"], strict=True)
    return {
        "task": task.name,
        "licence": task.licence,
        "notes": list(task.notes),
        "pairs": counts,
        "beam": {name: value for name, value in asdict(recipe.beam).items() if value is not None},
        "max_length": recipe.max_length,
        "signatures": signatures(task.metrics),
        "figures": evaluation.figures,
        "by_length": {split: _by_length(task, split, evaluation) for split in evaluation.figures},
        "samples": [
            {"source": source, "target": target, "answer": answer}
            for source, target, answer in list(triples)[:SAMPLES]
        ],
    }


def _by_length(task: Task, split: str, evaluation: runs.Evaluation) -> dict[str, Any]:
    """Scores of the beam by the number of source tokens."""
    pairs = task.splits[split]
    lengths = _lengths(task.source, pairs.sources)
    width = -(-max(lengths) // BUCKETS)
    buckets = length_buckets(lengths, width=max(width, 1), fewest=FEWEST)
    answers = evaluation.answers[split]["beam"]
    scores = {
        name: scores_by_length(metric, answers, pairs.targets, lengths, buckets)
        for name, metric in task.metrics.items()
    }
    return {"buckets": [list(bucket) for bucket in buckets], "scores": scores}


def _lengths(source: Tokenizer, texts: Sequence[str]) -> list[int]:
    return source.encode(texts).row_lengths().numpy().tolist()


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, Mapping):
        return {name: _rounded(part) for name, part in value.items()}
    return [_rounded(part) for part in value] if isinstance(value, list | tuple) else value
