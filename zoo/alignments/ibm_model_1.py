"""IBM Model 1 (Brown, Della Pietra, Della Pietra & Mercer 1993): word translation, learned from sentences."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

__all__ = ["IbmModel1"]

NULL = 0
"""The empty word at the beginning of each source, which says target words that nothing else says."""

Sentences = Sequence[Sequence[str]]


class Occurrences(NamedTuple):
    """Each pair of a target word and a source word of the same sentences: N, one after the other."""

    entry: np.ndarray
    """(N,) which pair of word types it is, from 0 to M-1."""
    place: np.ndarray
    """(N,) which target word of the corpus it is, from 0 to P-1; those of one place are its candidates."""
    candidates: np.ndarray
    """(P,) number of candidates of each target word: the words of its source, and NULL."""


class IbmModel1:
    """Translation probabilities of words, learned by expectation maximisation.

    A target f of m words comes from a source e of l words and NULL, e_0: each target word picks one of the
    l + 1 source words, all alike, and is its translation (Brown et al. 1993, section 4.1)::

        p(f | e) = prod_j sum_i t(f_j | e_i) / (l + 1)

    The likelihood of this model has one maximum, so it does not matter where it starts. Each round counts how
    often each word is said to come from each other one, given the t until now, and makes new t of that::

        count(f | e) = sum over all f_j = f, e_i = e of  t(f | e) / sum_k t(f | e_k)
        t(f | e)     = count(f | e) / sum_g count(g | e)

    Attributes:
        log_likelihoods: sum of log p(f | e) over the corpus before each round, and after the last one: it
            never falls.

    Example:
        >>> model = IbmModel1.learn([["das", "Haus"], ["das", "Buch"], ["ein", "Buch"]],
        ...                         [["the", "house"], ["the", "book"], ["a", "book"]], rounds=20)
        >>> sorted(model.align(["das", "Buch"], ["the", "book"]))
        [(0, 0), (1, 1)]
    """

    def __init__(
        self, table: dict[tuple[str | None, str], float], log_likelihoods: Sequence[float] = ()
    ) -> None:
        self._table = table
        self.log_likelihoods = tuple(log_likelihoods)

    @classmethod
    def learn(cls, sources: Sentences, targets: Sentences, *, rounds: int = 5) -> "IbmModel1":
        """Learn from pairs of sentences.

        Args:
            sources, targets: words of each sentence, as many sources as targets. Model 1 does not know them
                apart: words in lower case, say, are for the caller to make.
            rounds: of expectation maximisation; Brown et al. take few, later rounds fit rare words too well.

        Raises:
            ValueError: there are no pairs, or not one source for each target, or no target has a word.
        """
        if len(sources) != len(targets) or not any(map(len, targets)):
            raise ValueError(
                f"Model 1 learns from one target for each source, and some words; got {len(sources)} sources "
                f"and {len(targets)} targets."
            )
        if rounds < 1:
            raise ValueError(f"rounds is a whole number of 1 or more, got {rounds}.")
        entries, given, found = _read(sources, targets)
        starts = np.bincount(given)
        probabilities = 1.0 / starts[given]
        likelihoods = []
        for _ in range(rounds):
            likelihood, counts = _expect(probabilities, found)
            likelihoods.append(likelihood)
            probabilities = counts / np.bincount(given, counts)[given]
        likelihoods.append(_expect(probabilities, found)[0])
        return cls(dict(zip(entries, probabilities.tolist(), strict=True)), likelihoods)

    def probability(self, target: str, source: str | None) -> float:
        """t(target | source), the source None for NULL; 0 for words that never met."""
        return self._table.get((source, target), 0.0)

    def align(self, source: Sequence[str], target: Sequence[str]) -> set[tuple[int, int]]:
        """One link for each target word: to the source word that it most likely comes from.

        A word that most likely comes from NULL, or met no word of the source while the model learned, has no
        link. Of equally likely ones, the word before the others counts, and NULL last.
        """
        links = set()
        for j, word in enumerate(target):
            likely = [self.probability(word, other) for other in source]
            best = int(np.argmax(likely)) if likely else 0
            if likely and likely[best] > 0 and likely[best] >= self.probability(word, None):
                links.add((best, j))
        return links


def _read(
    sources: Sentences, targets: Sentences
) -> tuple[list[tuple[str | None, str]], np.ndarray, Occurrences]:
    """The M pairs of word types that meet, the number (M,) of each one's source word, and where they meet."""
    entries: dict[tuple[str | None, str], int] = {}
    words: dict[str | None, int] = {None: NULL}
    given: list[int] = []
    entry: list[int] = []
    place: list[int] = []
    candidates: list[int] = []
    for source, target in zip(sources, targets, strict=True):
        possible = [None, *source]
        for word in target:
            for other in possible:
                number = entries.setdefault((other, word), len(entries))
                if number == len(given):
                    given.append(words.setdefault(other, len(words)))
                entry.append(number)
                place.append(len(candidates))
            candidates.append(len(possible))
    found = Occurrences(np.array(entry), np.array(place), np.array(candidates, np.float64))
    return list(entries), np.array(given), found


def _expect(probabilities: np.ndarray, found: Occurrences) -> tuple[float, np.ndarray]:
    """Log likelihood of the corpus, and the expected counts (M,) of each pair of word types."""
    each = probabilities[found.entry]
    total = np.bincount(found.place, each)
    likelihood = float(np.sum(np.log(total / found.candidates)))
    return likelihood, np.bincount(found.entry, each / total[found.place], minlength=len(probabilities))
