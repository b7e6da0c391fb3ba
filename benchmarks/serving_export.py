"""Exports the tiny Transformer of the bench: `python -m benchmarks.serving_export FOLDER`."""

import argparse
from pathlib import Path

from benchmarks.models import make
from benchmarks.serving_models import LONGEST, alphabet, texts
from benchmarks.work import WORK
from zoo.export import Card, write
from zoo.predictor import Predictor, Signature
from zoo.tokenizers import Characters

__all__ = ["export", "main"]


class _Greedy(Predictor):
    """Answers two signatures out of seven: an export is verified and warmed up for each."""

    def signatures(self) -> dict[str, Signature]:
        greedy = super().signatures()["greedy"]
        first = greedy._replace(function=lambda **inputs: {"text": greedy.function(**inputs)["text"]})
        return {"serving_default": first, "greedy": greedy}


def export(folder: Path) -> Path:
    """Write `folder/tiny/1`, with random weights: nearly every answer is as long as it may be."""
    tokenizer = Characters(alphabet())
    predictor = _Greedy(
        make("tiny", "zoo"),
        tokenizer,
        tokenizer,
        max_source_length=LONGEST + 1,
        max_length=WORK["tiny-greedy"].target,
    )
    card = Card(
        name="tiny",
        description="A Transformer with random weights, to be timed.",
        task="none",
        recipe="benchmarks.serving_export",
        languages=["zh"],
        licence="none",
    )
    return write(predictor, folder, card=card, questions=texts()[:4])


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    export(parser.parse_args().folder)


if __name__ == "__main__":
    main()
