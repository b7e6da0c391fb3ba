"""The file of a vocabulary: JSON, one token a line, for people to review."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

from zoo.tokenizers.normalize import Normalization

__all__ = ["SavedVocabulary", "as_text", "read_vocabulary", "require_room", "write_vocabulary"]

T = TypeVar("T", bound="SavedVocabulary")


def as_text(normalization: Normalization, vocab_size: int, **content: Any) -> str:
    """What the file of a vocabulary holds.

    Args:
        normalization: how texts are read.
        vocab_size: number of ids; a file that has lost or gained a line is known by it.
        content: plain JSON.
    """
    whole = {**normalization.described(), "vocab_size": vocab_size, **content}
    return json.dumps(whole, ensure_ascii=False, indent=1)


def write_vocabulary(path: Path, description: str) -> None:
    """Write what `as_text` gave, into a folder that is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(description, encoding="utf-8", newline="\n")


def read_vocabulary(path: Path, what: str, build: Callable[[Mapping[str, Any]], T]) -> T:
    """Read a file that `write_vocabulary` wrote.

    Args:
        path: of the file.
        what: it lists, as an error names it.
        build: from its content to a tokenizer.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is not what `write_vocabulary` writes.
    """
    text = path.read_bytes()
    try:
        content = json.loads(text.decode("utf-8-sig"), object_pairs_hook=_without_repetition)
        tokenizer = build(content)
        expected = content.get("vocab_size", tokenizer.vocab_size)
        if tokenizer.vocab_size != expected:
            raise ValueError(f"it says that it has {expected} ids, but has {tokenizer.vocab_size}")
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"{path} is not a vocabulary of {what}: {type(error).__name__}: {error}. Ids are places in this "
            "file, and a model knows its tokens by them alone: put back the file that was saved with the "
            "model."
        ) from error
    return tokenizer


class SavedVocabulary:
    """How tokenizers are saved and loaded: as one file, what `describe` says.

    A tokenizer has `vocab_size`, `describe`, which gives what `as_text` gave, and `_of`, which reads that.
    """

    FILE: str
    """Name of the file in the folder."""
    WHAT: str
    """What the vocabulary lists, as an error names it."""

    def save(self, folder: Path) -> None:
        """Write the vocabulary as `FILE` into a folder, which is made if need be."""
        write_vocabulary(folder / self.FILE, self.describe())

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote.

        Raises:
            ValueError: the file is not what `save` writes.
        """
        return read_vocabulary(folder / cls.FILE, cls.WHAT, cls._of)

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four special ones counted."""
        raise NotImplementedError

    def describe(self) -> str:
        """The vocabulary as JSON that people can review."""
        raise NotImplementedError

    @classmethod
    def _of(cls, content: Mapping[str, Any]) -> Self:
        raise NotImplementedError


def require_room(vocab_size: int, needed: int, what: str) -> None:
    """Refuse a vocabulary that is too small.

    Args:
        vocab_size: greatest number of ids.
        needed: number of ids without which there is no vocabulary.
        what: they are for, as the error names it.

    Raises:
        ValueError: there is not enough room.
    """
    if vocab_size < needed:
        raise ValueError(
            f"vocab_size={vocab_size} is too small: {what} take {needed}. Give {needed} or more."
        )


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        repeated = sorted({key for key, _ in pairs if sum(key == other for other, _ in pairs) > 1})
        raise ValueError(f"{repeated[0]!r} is there more than once")
    return content
