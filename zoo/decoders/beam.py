"""Beam search: the best few hypotheses at every step, finished ones kept apart."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import tensorflow as tf

from zoo.decoders.protocol import Choice, Decoded
from zoo.tokenizers.specials import END, PAD

__all__ = ["LENGTH_NORMS", "Beam", "length_norm"]

LENGTH_NORMS = ("wu", "power")
NEVER = -float("inf")


def length_norm(length: tf.Tensor, penalty: float, norm: str = "wu") -> tf.Tensor:
    """What the log probability of a hypothesis is divided by.

    With n tokens, END counted, and penalty a::

        wu      ((5 + n) / 6) ** a        Wu et al. (2016), equation 14
        power   n ** a

    Log probabilities are negative, so a larger penalty favours longer hypotheses, and 0 divides by 1. For
    example, n = 7 and a = 0.6 give 2 ** 0.6 = 1.5157 and 7 ** 0.6 = 3.2141.

    Args:
        length: int of any shape, END counted; 0 counts as 1.
        penalty: a.
        norm: one of `LENGTH_NORMS`.

    Returns:
        float32 of the shape of `length`.
    """
    n = tf.cast(tf.maximum(length, 1), tf.float32)
    return ((5.0 + n) / 6.0 if norm == "wu" else n) ** penalty


class Hypotheses(NamedTuple):
    """Finished hypotheses, best first; a ranked score of -inf marks a place that is still empty."""

    token_ids: tf.Tensor  # (B, N, L) int32
    ranked: tf.Tensor  # (B, N) float32
    scores: tf.Tensor  # (B, N) float32, of the model
    lengths: tf.Tensor  # (B, N) int32

    def best(self, count: int) -> "Hypotheses":
        """The best `count` of them; of equal ones, those that stand first."""
        _, order = tf.math.top_k(self.ranked, count)
        return Hypotheses(*(tf.gather(leaf, order, batch_dims=1) for leaf in self))

    def beside(self, others: "Hypotheses") -> "Hypotheses":
        """Both, these first."""
        return Hypotheses(*(tf.concat(leaves, 1) for leaves in zip(self, others, strict=True)))


class BeamSearch(NamedTuple):
    """Live hypotheses, and the best finished ones; a searched score of -inf marks a dead place."""

    token_ids: tf.Tensor  # (B, K, L) int32
    searched: tf.Tensor  # (B, K) float32, transformed
    scores: tf.Tensor  # (B, K) float32, of the model
    finished: Hypotheses  # K of them


@dataclass(frozen=True)
class Beam:
    """Keep the `width` best hypotheses at every step.

    A step extends every live hypothesis by every token and takes the K best of these candidates by their
    searched sums. Those that end in END move to the finished ones, of which the K best by ranked score are
    kept; the others live on. In plain Python, for one source::

        candidates = [(s + log_p(token), ids + [token]) for s, ids in live for token in vocabulary]
        best = sorted(candidates, reverse=True)[:width]
        finished += [hypothesis for hypothesis in best if hypothesis.ids[-1] == END]
        live = [hypothesis for hypothesis in best if hypothesis.ids[-1] != END]

    The search of a source stops when no live hypothesis can still beat the worst of K finished ones, whatever
    follows: log probabilities are at most 0, so a live sum s can at best reach s over the norm of the
    shortest or of the longest length that is left. This is exact for every sign of the penalty.

    Of equal scores, the lower hypothesis index comes first, then the lower token id; a hypothesis that
    finished earlier comes before one that finished later. A beam of width 1 is greedy. A beam as wide as
    all prefixes finds the true optimum.

    Attributes:
        width: number of hypotheses, K.
        length_penalty: a in `length_norm`; 0 ranks by plain log probability.
        norm: one of `LENGTH_NORMS`.

    Raises:
        ValueError: the width is less than 1, the penalty is not finite, or the norm is not known.
    """

    width: int = 4
    length_penalty: float = 0.0
    norm: str = "wu"

    def __post_init__(self) -> None:
        if not isinstance(self.width, int) or self.width < 1:
            raise ValueError(f"The width of a beam must be a whole number, 1 or more, got {self.width!r}.")
        if not math.isfinite(self.length_penalty):
            raise ValueError(f"length_penalty must be a finite number, got {self.length_penalty}.")
        if self.norm not in LENGTH_NORMS:
            raise ValueError(f"norm must be one of {', '.join(LENGTH_NORMS)}, got {self.norm!r}.")

    def begin(self, batch: tf.Tensor, max_length: int) -> BeamSearch:
        shape = [batch, self.width]
        ids = tf.fill([*shape, max_length], PAD)
        zeros = tf.zeros(shape)
        nothing = tf.fill(shape, NEVER)
        first = tf.where(tf.range(self.width) == 0, zeros, nothing)  # one empty hypothesis, K - 1 dead places
        return BeamSearch(ids, first, zeros, Hypotheses(ids, nothing, zeros, tf.cast(zeros, tf.int32)))

    def choose(
        self, search: BeamSearch, searched: tf.Tensor, log_probs: tf.Tensor, index: tf.Tensor
    ) -> Choice:
        vocab_size = tf.shape(searched)[2]
        max_length = search.token_ids.shape[2]
        flat = [tf.shape(searched)[0], self.width * vocab_size]
        totals, places = tf.math.top_k(tf.reshape(search.searched[:, :, None] + searched, flat), self.width)
        parents, chosen = places // vocab_size, places % vocab_size
        reachable = totals > NEVER
        ended = reachable & (chosen == END)
        token_ids = tf.where(reachable, chosen, PAD)

        here = tf.range(max_length) == index
        ids = tf.where(here, token_ids[:, :, None], tf.gather(search.token_ids, parents, batch_dims=1))
        scores = tf.gather(search.scores, parents, batch_dims=1) + tf.gather(
            tf.reshape(log_probs, flat), places, batch_dims=1
        )
        ranked = tf.where(ended, totals / self._norm(index + 1), NEVER)
        new = Hypotheses(ids, ranked, scores, tf.fill(tf.shape(ended), index))
        finished = search.finished.beside(new).best(self.width)

        live = tf.where(ended, NEVER, totals)
        hopeful = self._best_attainable(live, index + 1, max_length) > finished.ranked[:, -1:]
        live = tf.where(tf.reduce_any(hopeful, axis=1, keepdims=True), live, NEVER)
        return Choice(BeamSearch(ids, live, scores, finished), token_ids, parents)

    def going_on(self, search: BeamSearch) -> tf.Tensor:
        return tf.reduce_any(search.searched > NEVER)

    def finish(self, search: BeamSearch) -> Decoded:
        max_length = search.token_ids.shape[2]
        cut = Hypotheses(
            search.token_ids,
            search.searched / self._norm(tf.constant(max_length)),
            search.scores,
            tf.fill(tf.shape(search.searched), max_length),
        )
        best = search.finished.beside(cut).best(self.width)
        return Decoded(best.token_ids, best.scores, best.ranked, best.lengths)

    def _norm(self, length: tf.Tensor) -> tf.Tensor:
        return length_norm(length, self.length_penalty, self.norm)

    def _best_attainable(self, searched: tf.Tensor, tokens: tf.Tensor, max_length: int) -> tf.Tensor:
        """The highest ranked score that live hypotheses with so many tokens can end with, (B, K)."""
        shortest, longest = self._norm(tokens + 1), self._norm(tf.constant(max_length))
        return tf.maximum(searched / shortest, searched / longest)
