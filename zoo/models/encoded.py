"""What an encoder says of its sources, and any decoder takes."""

from typing import Any, NamedTuple

__all__ = ["Encoded"]


class Encoded(NamedTuple):
    """What an encoder says of its sources."""

    values: Any
    """(B, S, D) of each position."""
    mask: Any
    """(B, S) bool, True where the source has a token."""
    summary: Any
    """Of the whole: leaves (B, D'), one for each direction in which the encoder reads, forward first."""
