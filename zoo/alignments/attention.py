"""Word alignments from attention, which looks from token to token."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["attention_links", "links_of_model", "word_of_each_token"]

SPACE = "▁"
"""What pieces of SentencePiece that begin a word begin with."""

NO_WORD = -1

BATCH = 64
"""Pairs of sentences that a model aligns at once."""


def word_of_each_token(tokens: Sequence[str], *, specials: Sequence[str] = ("", "<s>", "</s>")) -> list[int]:
    """The number of the word that each piece of SentencePiece belongs to, counted from 0; -1 for none.

    Args:
        tokens: N tokens, such as `["▁a", "▁dog", "gy", "</s>"]`.
        specials: those that belong to no word: padding, START and END.

    Returns:
        N numbers, such as `[0, 1, 1, -1]`.
    """
    word, numbers = -1, []
    for token in tokens:
        if token in specials:
            numbers.append(NO_WORD)
            continue
        word = max(word + token.startswith(SPACE), 0)
        numbers.append(word)
    return numbers


def attention_links(
    weights: Any, source_words: Sequence[int], target_words: Sequence[int]
) -> set[tuple[int, int]]:
    """One link for each target word: to the source word that it looked at most.

    So Luong et al. (2015, section 5.4) read alignments off attention. Words of several tokens are linked as
    their tokens look all together: weights are added up over the tokens of a source word, and over those of a
    target word. Of equal weights, the first source word counts. A target word none of whose tokens looks at a
    word of the source has no link.

    Args:
        weights: (T, S), how each target token looks at the source tokens, as an export's `align` gives them.
        source_words: S numbers: the word that each source token belongs to, -1 for none.
        target_words: T numbers, the same of the target.

    Raises:
        ValueError: the weights are not as many as the tokens.
    """
    weights = np.asarray(weights, np.float64)
    expected = (len(target_words), len(source_words))
    if weights.shape != expected:
        raise ValueError(
            f"Expected weights (T, S) = {expected}, one row for each target token, got {weights.shape}."
        )
    words = _membership(target_words).T @ weights @ _membership(source_words)
    if not words.size:
        return set()
    return {(int(row.argmax()), target) for target, row in enumerate(words) if row.max() > 0}


def links_of_model(
    align: Callable[[Any, Any], Any], sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]
) -> list[set[tuple[int, int]]]:
    """The links of each pair of sentences by a model's attention, while it is made to write the target.

    Args:
        align: from texts (B,) and targets (B,) to `source_tokens` (B, S), `target_tokens` (B, T) and
            `alignment` (B, T, S), such as `run.predictor.align`; the tokens are pieces of SentencePiece.
        sources, targets: the words of each sentence; they are put together with spaces.

    Raises:
        ValueError: there is not one target for each source, or the tokens of a sentence make up other words.
    """
    links = []
    for some in _batched(list(zip(sources, targets, strict=True)), BATCH):
        texts = [[" ".join(words) for words in side] for side in zip(*some, strict=True)]
        found = align(*texts)
        rows = zip(found.source_tokens, found.target_tokens, found.alignment, strict=True)
        for (source, target), (source_tokens, target_tokens, weights) in zip(some, rows, strict=True):
            of_source, of_target = _words(source_tokens, source), _words(target_tokens, target)
            links.append(attention_links(weights, of_source, of_target))
    return links


def _batched(pairs: list, size: int) -> list[list]:
    return [pairs[start : start + size] for start in range(0, len(pairs), size)]


def _words(tokens: Any, words: Sequence[str]) -> list[int]:
    """The word of each token, strings or bytes, once it is sure that these are the words."""
    numbers = word_of_each_token(np.char.decode(np.asarray(tokens).astype(bytes), "utf-8").tolist())
    count = max(numbers, default=NO_WORD) + 1
    if count != len(words):
        raise ValueError(
            f"The tokens of a sentence of {len(words)} words, {' '.join(words)!r}, make up {count}: they "
            "were normalised into others, were cut at the longest length, or are no pieces of SentencePiece."
        )
    return numbers


def _membership(words: Sequence[int]) -> np.ndarray:
    """(tokens, words): 1 where a token belongs to a word."""
    numbers = np.asarray(words, np.int64).reshape(-1)
    return (numbers[:, None] == np.arange(numbers.max(initial=NO_WORD) + 1)).astype(np.float64)
