"""A task of one's own: pairs of texts, without any further ado."""

from collections.abc import Callable, Mapping

from zoo.data.files import divide
from zoo.data.pairs import Pairs
from zoo.metrics import ChrF, character_error_rate, exact_match
from zoo.tasks.task import Task
from zoo.tokenizers import Characters, Subwords, Tokenizer

__all__ = ["LEVELS", "own"]

EXAMPLES = 4
MOST_PIECES = 8_000
ALWAYS = 4 + 256 + 1
"""Ids that every vocabulary of subwords has: the special ones, bytes and the space."""


def _subwords(texts: list[str]) -> Tokenizer:
    """One piece for every three different words, beside single characters, and at most `MOST_PIECES`.

    Pieces are joined until words are whole, so there are always at least as many as different words.
    """
    words = {word for text in texts for word in text.split()}
    characters = set().union(*texts) - {" "}
    pieces = min(MOST_PIECES, len(words) // 3)
    return Subwords.learn(texts, vocab_size=ALWAYS + len(characters) + pieces)


LEVELS: Mapping[str, Callable[[list[str]], Tokenizer]] = {
    "characters": Characters.learn,
    "subwords": _subwords,
}
"""What a text may be cut into, by name."""


def own(name: str, pairs: Pairs, *, level: str) -> Task:
    """A task of pairs: of their sources, one in twenty is for validation, and another for the test.

    Args:
        name: lower-case identifier.
        pairs: what `zoo.data.files.read_pairs` gave.
        level: one of `LEVELS`; `characters` for short strings such as names, dates or words, `subwords` for
            sentences.

    Raises:
        ValueError: the level is not known, or there are too few pairs.
    """
    if level not in LEVELS:
        raise ValueError(f"level must be one of {', '.join(LEVELS)}, got {level!r}.")
    parts = divide(pairs)
    learn = LEVELS[level]
    return Task(
        name=name,
        description=f"The pairs of {name}.",
        languages=("und",),
        licence="as the data that was given",
        splits=parts._asdict(),
        source=learn(list(parts.train.sources)),
        target=learn(list(parts.train.targets)),
        metrics={
            "exact_match": exact_match,
            "character_error_rate": character_error_rate,
            "chrf": ChrF(),
        },
        examples=tuple(parts.validation.sources[:EXAMPLES]),
    )
