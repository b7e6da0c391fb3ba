"""Markdown, for the pages and cards that are made of records."""

from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["table"]


def table(head: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table; a `|` in a cell is escaped, and the last line has no end."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines
    )
