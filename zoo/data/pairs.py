"""Source and target texts, in parallel."""

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Pairs"]


class Pairs(NamedTuple):
    """Parallel texts: `targets[i]` is the right answer to `sources[i]`."""

    sources: Sequence[str]
    targets: Sequence[str]
