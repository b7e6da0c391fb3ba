"""Word vectors that were trained elsewhere: from a file to the first matrix of an embedding."""

from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from zoo.tokenizers.specials import PAD, SPECIALS, UNKNOWN

__all__ = ["Coverage", "PretrainedMatrix", "WordVectors", "match_vectors", "read_vectors"]

SPELLINGS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "exact": lambda word: (word,),
    "lower_case": lambda word: (word, word.lower()),
}
"""The spellings under which a word's vector is looked for, the best first."""

SHOWN = 10


class WordVectors(NamedTuple):
    """Words, each with its vector."""

    words: tuple[str, ...]
    """W of them, all different."""
    vectors: np.ndarray
    """(W, D) float32"""


class Coverage(NamedTuple):
    """Which words of a vocabulary have a vector. The four special ids are no words."""

    found: tuple[str, ...]
    """In the order of their ids."""
    missing: tuple[str, ...]
    """Out of the vectors' vocabulary (OOV), in the order of their ids."""

    @property
    def missing_share(self) -> float:
        """Part of the vocabulary's words, each counted once, that has no vector."""
        return len(self.missing) / max(1, len(self.found) + len(self.missing))

    def __str__(self) -> str:
        total = len(self.found) + len(self.missing)
        counts = f"{len(self.missing)} of {total} words ({self.missing_share:.1%}) have no vector"
        shown = ", ".join(self.missing[:SHOWN]) + (", ..." if len(self.missing) > SHOWN else "")
        return f"{counts}: {shown}" if self.missing else counts


class PretrainedMatrix(NamedTuple):
    """What an embedding begins with."""

    matrix: np.ndarray
    """(V, D) float32, row i for id i."""
    coverage: Coverage
    """Which rows are true vectors."""


def read_vectors(path: Path, *, only: Container[str] | None = None) -> WordVectors:
    """Read GloVe text, word2vec text or an npz file.

    GloVe text has a line for each word: the word and D numbers, with spaces between them; a word may hold
    spaces itself. word2vec text has a line `W D` before that. An npz file holds `words` (W,) strings and
    `vectors` (W, D) numbers. Text is UTF-8; of a word that comes twice, the first counts.

    Args:
        path: the file; with the ending `.npz`, or else text.
        only: leave out all other words, to spare memory. Lower-case spellings that are to be looked up as
            well must be among them.

    Returns:
        `WordVectors` in the file's order.

    Raises:
        ValueError: the file is in none of the three forms, is cut short, or holds none of the words.
    """
    entries = _read_npz(path) if path.suffix == ".npz" else _read_text(path)
    vectors: dict[str, np.ndarray] = {}
    for word, numbers in entries:
        if word not in vectors and (only is None or word in only):
            vectors[word] = _vector(path, word, numbers)
    if not vectors:
        raise ValueError(f"{path} has none of the words that were asked for.")
    return WordVectors(tuple(vectors), np.stack(list(vectors.values())))


def _read_npz(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    with np.load(path, allow_pickle=False) as arrays:
        if not {"words", "vectors"} <= set(arrays.files):
            raise ValueError(f"{path} must hold the arrays words and vectors, got {', '.join(arrays.files)}.")
        words, vectors = arrays["words"], arrays["vectors"]
    if vectors.ndim != 2 or words.shape != vectors.shape[:1]:
        raise ValueError(
            f"{path} must hold words (W,) and vectors (W, D), got {words.shape} and {vectors.shape}."
        )
    yield from zip(words.tolist(), vectors, strict=True)


def _read_text(path: Path) -> Iterator[tuple[str, list[str]]]:
    # Words may hold any white space but a line feed, and some files cut a character in two.
    with path.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        first = _fields(lines.readline())
        announced = len(first) == 2 and all(field.isdecimal() for field in first)
        width = int(first[1]) if announced else len(first) - 1
        if width < 1:
            raise ValueError(f"{path} must hold a word and its numbers in each line, got {first[0][:40]!r}.")
        if not announced:
            lines.seek(0)
        count = 0
        for count, line in enumerate(lines, 1):
            fields = _fields(line)
            if len(fields) <= width:
                raise ValueError(
                    f"{path}: entry {count} must be a word and {width} numbers, got {len(fields)} fields. Is "
                    "the file cut short, or binary? Binary files must be turned into text first."
                )
            yield " ".join(fields[:-width]), fields[-width:]
    if announced and count != int(first[0]):
        raise ValueError(f"{path} announces {first[0]} words, but holds {count}. Is it cut short?")


def _fields(line: str) -> list[str]:
    return line.rstrip(" \r\n").split(" ")


def _vector(path: Path, word: str, numbers: np.ndarray | list[str]) -> np.ndarray:
    try:
        vector = np.array(numbers, "float32")
    except ValueError as error:
        raise ValueError(f"{path}: the vector of {word!r} must be numbers, but {error}.") from error
    if not np.isfinite(vector).all():
        raise ValueError(f"{path}: the vector of {word!r} holds numbers that are not finite.")
    return vector


def match_vectors(
    vectors: WordVectors, vocabulary: Sequence[str], *, spelling: str = "exact", seed: int = 0
) -> PretrainedMatrix:
    """Give every id of a vocabulary its row: the vector of its word, if there is one.

    The other rows, by this rule: PAD is zero; UNKNOWN is the mean of all vectors; any other is drawn, number
    by number, from a normal distribution with the mean and deviation that the vectors have there. START, END
    and UNKNOWN have a vector if the file lists `<s>`, `</s>` or `<unk>`.

    Args:
        vectors: what `read_vectors` gave.
        vocabulary: what each id is called, in the order of ids, the four special ones first, such as
            `tokenizer.tokens(range(tokenizer.vocab_size))` as strings.
        spelling: `exact`, or `lower_case` to take the vector of the lower-case word where a word has none.
        seed: of the rows that are drawn. A row depends on seed and id, not on the other words.

    Returns:
        `PretrainedMatrix`. `keras.layers.Embedding(*matrix.shape, weights=matrix)` tunes its matrix; with
        `trainable=False` it is frozen.

    Raises:
        ValueError: the vocabulary does not begin with the special ids, or the spelling is not known.
    """
    if spelling not in SPELLINGS:
        raise ValueError(f"spelling must be one of {', '.join(SPELLINGS)}, got {spelling!r}.")
    first = tuple(vocabulary[: len(SPECIALS)])
    if first != SPECIALS:
        raise ValueError(
            f"A vocabulary must begin with {SPECIALS}, got {first}: the rows would not be those of the ids."
        )
    row_of = {word: row for row, word in enumerate(vectors.words)}
    spellings = SPELLINGS[spelling]
    rows = [next((row_of[s] for s in spellings(word) if s in row_of), None) for word in vocabulary]

    mean, deviation = vectors.vectors.mean(axis=0), vectors.vectors.std(axis=0)
    noise = np.random.default_rng(seed).normal(size=(len(vocabulary), len(mean)))
    matrix = (mean + deviation * noise).astype("float32")
    matrix[UNKNOWN] = mean
    for i, row in enumerate(rows):
        if row is not None:
            matrix[i] = vectors.vectors[row]
    matrix[PAD] = 0

    words = list(zip(vocabulary, rows, strict=True))[len(SPECIALS) :]
    found = tuple(word for word, row in words if row is not None)
    missing = tuple(word for word, row in words if row is None)
    return PretrainedMatrix(matrix, Coverage(found, missing))
