"""The pieces of work that are timed: what each of them computes, and how fast the zoo means to be at it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["MODELS", "STEPS", "THREADS", "WORK", "Goal", "Recurrent", "Transformer", "Work"]

THREADS = 2
"""What every system may use."""


STEPS = 4
"""Training steps of one timed run, of every system: `fit` also has work to do for each epoch, and a machine
that is held back now and then holds back long runs more than short ones."""


class Transformer(NamedTuple):
    """Sizes of a Transformer."""

    depth: int
    width: int
    units: int
    heads: int
    vocab_size: int


class Recurrent(NamedTuple):
    """Sizes of a bidirectional LSTM encoder under an LSTM decoder with additive attention."""

    embedding_dim: int
    encoder_units: int
    decoder_units: int
    attention_units: int
    vocab_size: int


class Goal(NamedTuple):
    """Tokens per second of the zoo over those of a peer."""

    ratio: float
    """What the zoo wants to reach."""
    owed: float | None
    """What it must not fall below; None where nothing is owed."""


@dataclass(frozen=True)
class Work:
    """One piece of work.

    Attributes:
        name: as the command line takes it.
        model: one of `MODELS`.
        batch: number of sources, B.
        source: length of each source, S.
        target: length of each target, T: as many tokens are read in training, or written in decoding.
        hypotheses: width of the search, K; 1 is greedy, 0 is a training step.
        goals: name of a peer's system to what is wanted beside it.
    """

    name: str
    model: str
    batch: int
    source: int
    target: int
    hypotheses: int
    goals: Mapping[str, Goal]

    @property
    def tokens(self) -> int:
        """What one run is counted as, whatever the number of hypotheses."""
        return self.batch * self.target

    @property
    def trains(self) -> bool:
        """Whether a run is a training step."""
        return self.hypotheses == 0


MODELS = {
    "base": Transformer(depth=6, width=512, units=2048, heads=8, vocab_size=32_000),
    "tiny": Transformer(depth=4, width=128, units=256, heads=4, vocab_size=10_000),
    "lstm": Recurrent(
        embedding_dim=256, encoder_units=128, decoder_units=256, attention_units=256, vocab_size=8_000
    ),
}
"""Sizes of the models, by name."""


def _decoding(hf: float, ct2_owed: float, kerashub: float) -> dict[str, Goal]:
    return {
        "hf": Goal(hf, 1.3),
        "ct2-float32": Goal(1.0, ct2_owed),
        "kerashub": Goal(kerashub, None),
    }


WORK = {
    work.name: work
    for work in (
        Work("train-lstm", "lstm", 64, 20, 20, 0, {"torch": Goal(1.2, 0.9)}),
        Work("train-tiny", "tiny", 64, 15, 15, 0, {"hf": Goal(1.5, 1.1)}),
        Work("lstm-greedy", "lstm", 64, 20, 20, 1, {"torch": Goal(1.5, 1.0)}),
        Work("tiny-greedy", "tiny", 64, 15, 15, 1, _decoding(2.0, 0.8, 2.5)),
        Work("tiny-beam5", "tiny", 64, 15, 15, 5, _decoding(3.0, 0.7, 15.0)),
        Work("base-greedy", "base", 16, 30, 30, 1, _decoding(2.0, 0.8, 2.5)),
        Work("base-beam4", "base", 16, 30, 30, 4, _decoding(2.0, 0.7, 5.0)),
    )
}
"""All work, by name."""
