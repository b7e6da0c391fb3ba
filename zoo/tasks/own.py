"""A task of one's own: pairs of texts, without any further ado."""

from collections.abc import Callable, Mapping

from zoo.data.files import divide
from zoo.data.pairs import Pairs
from zoo.metrics import ChrF, character_error_rate, exact_match
from zoo.tasks.task import Task
from zoo.tokenizers import Characters, Normalization, Subwords, Tokenizer
from zoo.tokenizers.normalize import normalized
from zoo.tokenizers.sentencepiece import SPACE, learn_pieces, learnable

__all__ = ["LEVELS", "own"]

EXAMPLES = 4
MOST_PIECES = 8_000


def _subwords(texts: list[str]) -> Tokenizer:
    """One piece for every three different words, beside single characters, and at most `MOST_PIECES`.

    Where the texts give fewer, since letters and digits are never joined, it is all that they give.
    Characters are counted as the tokenizer reads them, letters and their marks put together.
    """
    read = learnable(normalized(texts, Normalization()))
    words = {word for text in read for word in text.split()}
    if not words:
        raise ValueError("There is nothing to learn from: the texts hold no more than what cannot be read.")
    characters = (set().union(*read) | {SPACE}) - {" "}
    pieces = min(MOST_PIECES, len(words) // 3)
    return Subwords(learn_pieces(read, "bpe", len(characters) + pieces))


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
        data=f"{len(pairs.sources):,} pairs of one's own, {name}",
    )
