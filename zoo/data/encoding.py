"""From pairs of texts to pairs of id sequences: encoded once, kept in memory, filtered and counted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import tensorflow as tf

from zoo.data.pairs import Pairs
from zoo.tokenizers import PAD, Tokenizer
from zoo.tokenizers.sequences import read_sources, read_targets

__all__ = ["TOO_LONG", "Bounds", "Counts", "Encoded", "Reader", "Rows", "Sequences", "encode"]

TOO_LONG = ("cut", "left_out")
"""What becomes of a pair with a sequence beyond its bound."""

CHUNK = 4096
"""Texts that are encoded at once."""


class Sequences(NamedTuple):
    """N sequences of ids, one after another."""

    ids: np.ndarray
    """All of them, int32."""
    splits: np.ndarray
    """(N + 1,) int64: sequence i is `ids[splits[i]:splits[i + 1]]`."""

    @property
    def lengths(self) -> np.ndarray:
        """(N,) number of ids of each."""
        return np.diff(self.splits)


class Counts(NamedTuple):
    """What became of the pairs of a corpus."""

    pairs: int
    """How many there were."""
    cut: int
    """Kept, but cut at a bound."""
    too_long: int
    """Left out, since a sequence is longer than its bound."""
    uneven: int
    """Left out, since one side is too many times as long as the other."""

    @property
    def kept(self) -> int:
        """How many are left."""
        return self.pairs - self.too_long - self.uneven

    def __str__(self) -> str:
        return (
            f"{self.kept} of {self.pairs} pairs, {self.cut} of them cut; left out: {self.too_long} too long, "
            f"{self.uneven} uneven"
        )


@dataclass(frozen=True)
class Bounds:
    """Which pairs are not to be learned from as they are.

    Attributes:
        max_source_length: greatest number of source ids, END counted.
        max_length: greatest number of target ids, END counted.
        too_long: what becomes of a pair with a sequence beyond its bound, one of `TOO_LONG`.
        max_ratio: a pair is left out if one side has more than so many times the ids of the other, END
            counted; None keeps all.

    Raises:
        ValueError: a bound is less than 1, or a policy is not known.
    """

    max_source_length: int
    max_length: int
    too_long: str = "cut"
    max_ratio: float | None = None

    def __post_init__(self) -> None:
        if min(self.max_source_length, self.max_length) < 1:
            raise ValueError(
                f"A row has room for 1 id or more, got max_source_length={self.max_source_length} and "
                f"max_length={self.max_length}."
            )
        if self.too_long not in TOO_LONG:
            raise ValueError(f"too_long must be one of {', '.join(TOO_LONG)}, got {self.too_long!r}.")
        if self.max_ratio is not None and not self.max_ratio >= 1:
            raise ValueError(f"max_ratio must be 1 or more, or None, got {self.max_ratio}.")

    def require_some(self, counts: Counts) -> None:
        """Make sure that pairs are left.

        Raises:
            ValueError: none is.
        """
        if counts.kept < 1:
            raise ValueError(
                f"No pair is left to learn from ({counts}). Allow longer sequences than "
                f"max_source_length={self.max_source_length} and max_length={self.max_length}, or more than "
                f"max_ratio={self.max_ratio}."
            )


Reader = Callable[[tf.Tensor], tuple[tf.RaggedTensor, tf.RaggedTensor]]
"""Indices (B,) int64 to sources and targets, each ragged (B, None) int32, within a graph."""


class Rows(Protocol):
    """Pairs of id sequences that are fetched by their indices, wherever they are kept."""

    @property
    def counts(self) -> Counts:
        """What became of the pairs of the corpus."""

    @property
    def source_lengths(self) -> np.ndarray:
        """(N,) number of ids of each source, END counted."""

    @property
    def target_lengths(self) -> np.ndarray:
        """(N,) number of ids of each target, END counted."""

    def reader(self) -> Reader:
        """What fetches them."""


class Encoded(NamedTuple):
    """Parallel sequences of ids, in memory."""

    source: Sequences
    """What `read_sources` gives, without padding."""
    target: Sequences
    """What `read_targets` gives, without padding."""
    counts: Counts

    @property
    def source_lengths(self) -> np.ndarray:
        """(N,) number of ids of each source, END counted."""
        return self.source.lengths

    @property
    def target_lengths(self) -> np.ndarray:
        """(N,) number of ids of each target, END counted."""
        return self.target.lengths

    def reader(self) -> Reader:
        """What fetches them."""
        sources, targets = _ragged(self.source), _ragged(self.target)
        return lambda pairs: (tf.gather(sources, pairs), tf.gather(targets, pairs))


def encode(pairs: Pairs, source: Tokenizer, target: Tokenizer, bounds: Bounds) -> Encoded:
    """Encode every pair, and leave out those that are not to be learned from; none may be left.

    Args:
        pairs: parallel texts.
        source: tokenizer of the sources.
        target: tokenizer of the targets.
        bounds: what is cut or left out.

    Raises:
        ValueError: there are no pairs, or not as many sources as targets.
    """
    if not pairs.sources or len(pairs.sources) != len(pairs.targets):
        raise ValueError(
            f"Pairs must be parallel texts, at least one, got {len(pairs.sources)} sources and "
            f"{len(pairs.targets)} targets."
        )
    longest = (bounds.max_source_length, bounds.max_length)
    # One id more than allowed shows which sequences are too long.
    sources = _encoded(pairs.sources, lambda texts: read_sources(source, texts, longest[0] + 1).ids)
    targets = _encoded(pairs.targets, lambda texts: read_targets(target, texts, longest[1] + 1))
    source_lengths, target_lengths = sources.lengths, targets.lengths
    long = (source_lengths > longest[0]) | (target_lengths > longest[1])
    left_out = long if bounds.too_long == "left_out" else np.zeros_like(long)
    ratio = np.maximum(source_lengths / target_lengths, target_lengths / source_lengths)
    uneven = (ratio > (bounds.max_ratio or np.inf)) & ~left_out
    keep = ~left_out & ~uneven
    counts = Counts(len(keep), int((long & keep).sum()), int(left_out.sum()), int(uneven.sum()))
    return Encoded(_taken(sources, keep, longest[0]), _taken(targets, keep, longest[1]), counts)


def _ragged(sequences: Sequences) -> tf.RaggedTensor:
    return tf.RaggedTensor.from_row_splits(sequences.ids, sequences.splits, validate=False)


def _encoded(texts: Sequence[str], read: Callable[[Sequence[str]], tf.Tensor]) -> Sequences:
    ids, lengths = [], []
    for start in range(0, len(texts), CHUNK):
        rows = read(texts[start : start + CHUNK]).numpy()
        there = rows != PAD
        ids.append(rows[there])
        lengths.append(there.sum(axis=1))
    return Sequences(np.concatenate(ids), np.concatenate([[0], np.cumsum(np.concatenate(lengths))]))


def _taken(sequences: Sequences, keep: np.ndarray, limit: int) -> Sequences:
    """Those to keep, each cut at the limit."""
    lengths = sequences.lengths
    place = np.arange(len(sequences.ids)) - np.repeat(sequences.splits[:-1], lengths)
    ids = sequences.ids[np.repeat(keep, lengths) & (place < limit)]
    return Sequences(ids, np.concatenate([[0], np.cumsum(np.minimum(lengths[keep], limit))]))
