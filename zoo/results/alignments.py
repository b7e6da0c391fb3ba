"""Word alignments against those that people made, on record."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zoo import runs
from zoo.alignments import IbmModel1, diagonal_links, links_of_model
from zoo.data.corpora import alignments
from zoo.metrics import alignment_error_rate

__all__ = ["FILE", "judge_alignments", "read_alignments", "write_alignments"]

FILE = "alignments.json"
"""Beside the records of trainings."""

ROUNDS = 5
"""Of Model 1."""

DIGITS = 4


def judge_alignments(name: str, models: Mapping[str, runs.Run]) -> dict[str, Any]:
    """Alignment error rates on a set of hand alignments.

    Everything reads words in lower case. Model 1 learns from the sentences of the set alone, which it may,
    since it does not see their links.

    Args:
        name: one of `zoo.data.corpora.alignments.LANGUAGES`.
        models: trained ones from English to that language, by name, whose attention is judged too.
    """
    found = alignments.load(name)
    sources, targets = (
        [[word.lower() for word in words] for words in side] for side in (found.sources, found.targets)
    )
    pairs = list(zip(sources, targets, strict=True))
    model_1 = IbmModel1.learn(sources, targets, rounds=ROUNDS)
    links = {
        "diagonal": [diagonal_links(len(source), len(target)) for source, target in pairs],
        f"IBM Model 1, {ROUNDS} rounds": [model_1.align(source, target) for source, target in pairs],
    }
    for recipe, run in models.items():
        links[f"attention of {recipe}"] = links_of_model(run.predictor.align, sources, targets)
    return {
        "set": name,
        "language": alignments.LANGUAGES[name],
        "pairs": len(pairs),
        "sure": sum(map(len, found.sure)),
        "possible": sum(map(len, found.possible)),
        "error_rates": {
            system: round(alignment_error_rate(those, found.sure, found.possible), DIGITS)
            for system, those in links.items()
        },
    }


def write_alignments(judged: Sequence[Mapping[str, Any]], folder: Path) -> Path:
    """Put what was judged on record, in place of earlier judgements of these sets; the path of the file."""
    sets = {entry["set"]: entry for entry in [*read_alignments(folder), *judged]}
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps([sets[name] for name in sorted(sets)], indent=1, ensure_ascii=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")
    return folder / FILE


def read_alignments(folder: Path) -> list[dict[str, Any]]:
    """What is on record, by the names of the sets."""
    file = folder / FILE
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
