"""Beam search: the best few hypotheses at every step, finished ones kept apart."""

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import tensorflow as tf

from zoo.decoders.never import NEVER
from zoo.decoders.next_tokens import NextTokens
from zoo.decoders.protocol import Choice, Decoded
from zoo.tokenizers.specials import END, PAD

__all__ = ["LENGTH_NORMS", "STOPS", "Beam", "length_norm"]

LENGTH_NORMS = ("wu", "power")
STOPS = ("exact", "early")


def length_norm(length: tf.Tensor, penalty: float | tf.Tensor, norm: str = "wu") -> tf.Tensor:
    """What the log probability of a hypothesis is divided by.

    With n tokens, END counted, and penalty a::

        wu      ((5 + n) / 6) ** a        Wu et al. (2016), equation 14
        power   n ** a

    Log probabilities are negative, so a larger penalty favours longer hypotheses, and 0 divides by 1. For
    example, n = 7 and a = 0.6 give 2 ** 0.6 = 1.5157 and 7 ** 0.6 = 3.2141.

    Args:
        length: int of any shape, END counted; 0 counts as 1.
        penalty: a; a tensor must broadcast to the shape of `length`.
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
    bounds: tf.Tensor  # (B, 1) int32


@dataclass(frozen=True)
class Beam:
    """Keep the `width` best hypotheses at every step.

    A step extends every live hypothesis by every token and takes the K best of these candidates by their
    searched sums. Those that end in END move to the finished ones, of which the K best by ranked score are
    kept; the others live on, up to the bound, where they are finished as they stand. In plain Python, for
    one source::

        candidates = [(s + log_p(token), ids + [token]) for s, ids in live for token in vocabulary]
        best = sorted(candidates, reverse=True)[:width]
        finished += [hypothesis for hypothesis in best if hypothesis.ids[-1] == END]
        live = [hypothesis for hypothesis in best if hypothesis.ids[-1] != END]

    The search of a source stops when no live hypothesis can still beat the worst of K finished ones, whatever
    follows: log probabilities are at most 0, so a live sum s can at best reach s over the norm of the
    shortest or of the longest length that is left. This is exact for every sign of the penalty. With
    `stop="early"` it stops as soon as K hypotheses have finished, and may miss a better one.

    With a coverage penalty b, a hypothesis that leaves parts of the source out ranks lower, by Wu et al.
    (2016), equation 14::

        ranked = searched / norm + b * sum over source positions i of log(min(sum over steps j of p_ij, 1))

    p_ij is the attention of step j, the one that chose END too, to source position i: what `alignment` of the
    model says. Padding is no position, and a sum of less than 1e-6 counts as that. The penalty is at most 0,
    so what a live hypothesis can at best reach is what it is without one, and the stop rule stays exact.

    Of equal sums, the lower hypothesis index comes first, then the token that the search holds for likelier
    (then it was rounding that made the sums equal), then the lower token id. Of equal ranked scores, what
    finished earlier comes first, and of one step what its sum put first. A beam of width 1 is greedy. A beam
    as wide as all prefixes finds the true optimum.

    What is a tensor (B,) is each source's own, so one batch may ask for different searches.

    Attributes:
        width: number of hypotheses, K.
        length_penalty: a in `length_norm`, float or (B,) float32; 0 ranks by plain log probability.
        norm: one of `LENGTH_NORMS`.
        widths: (B,) int32, a narrower width for each source, from 1 to K: its hypotheses are those of a beam
            of that width, and the other places come back empty.
        given: (B,) int32, how many of the first tokens are given; the norm does not count them.
        coverage_penalty: b, float or (B,) float32, 0 or more; 0 asks the model for no attention, any other
            number takes an `AligningModel`.
        stop: one of `STOPS`.

    Raises:
        ValueError: the width is less than 1, a penalty is not finite, that for coverage is negative, or a
            name is not known.
    """

    width: int = 4
    length_penalty: Any = 0.0
    norm: str = "wu"
    widths: Any = None
    given: Any = None
    coverage_penalty: Any = 0.0
    stop: str = "exact"

    def __post_init__(self) -> None:
        if not isinstance(self.width, Integral) or isinstance(self.width, bool) or self.width < 1:
            raise ValueError(f"The width of a beam must be a whole number, 1 or more, got {self.width!r}.")
        if not tf.is_tensor(self.length_penalty) and not math.isfinite(self.length_penalty):
            raise ValueError(f"length_penalty must be a finite number, got {self.length_penalty}.")
        if self.norm not in LENGTH_NORMS:
            raise ValueError(f"norm must be one of {', '.join(LENGTH_NORMS)}, got {self.norm!r}.")
        if not tf.is_tensor(self.coverage_penalty) and not 0 <= self.coverage_penalty < math.inf:
            raise ValueError(f"coverage_penalty must be finite, 0 or more, got {self.coverage_penalty}.")
        if self.stop not in STOPS:
            raise ValueError(f"stop must be one of {', '.join(STOPS)}, got {self.stop!r}.")

    @property
    def needs_coverage(self) -> bool:
        """Whether a coverage penalty is asked for."""
        return tf.is_tensor(self.coverage_penalty) or self.coverage_penalty != 0

    def begin(self, bounds: tf.Tensor, max_length: int) -> BeamSearch:
        bounds = bounds[:, None]
        shape = [tf.shape(bounds)[0], self.width]
        ids = tf.fill([*shape, max_length], PAD)
        zeros = tf.zeros(shape)
        # One empty hypothesis, and K - 1 places of which none is reached. With a bound of 0 it is finished.
        empty = tf.where(tf.range(self.width) == 0, zeros, NEVER)
        finished = Hypotheses(ids, tf.where(bounds > 0, NEVER, empty), zeros, tf.cast(zeros, tf.int32))
        return BeamSearch(ids, tf.where(bounds > 0, empty, NEVER), zeros, finished, bounds)

    def choose(self, search: BeamSearch, following: NextTokens, index: tf.Tensor) -> Choice:
        totals, parents, token_ids, scores = self._candidates(search, following)
        reachable = totals > NEVER
        token_ids = tf.where(reachable, token_ids, PAD)
        here = tf.range(search.token_ids.shape[2]) == index
        ids = tf.where(here, token_ids[:, :, None], tf.gather(search.token_ids, parents, batch_dims=1))

        ended = reachable & (token_ids == END)
        cut = reachable & ~ended & (index + 1 >= search.bounds)
        ranked = tf.where(ended | cut, self._ranked(totals, index + 1, following, parents), NEVER)
        new = Hypotheses(ids, ranked, scores, index + tf.cast(cut, tf.int32))
        finished = self._within_width(search.finished.beside(new).best(self.width))

        live = tf.where(ended | cut, NEVER, totals)
        hopeful = self._hopeful(live, index + 1, search.bounds, self._worst(finished.ranked))
        live = tf.where(tf.reduce_any(hopeful, axis=1, keepdims=True), live, NEVER)
        return Choice(BeamSearch(ids, live, scores, finished, search.bounds), token_ids, parents)

    def going_on(self, search: BeamSearch) -> tf.Tensor:
        return tf.reduce_any(search.searched > NEVER)

    def finish(self, search: BeamSearch) -> Decoded:
        best = search.finished
        return Decoded(best.token_ids, best.scores, best.ranked, best.lengths)

    def _candidates(self, search: BeamSearch, following: NextTokens):
        """The best K of all extensions: searched sums, parents, tokens and the model's sums, each (B, K)."""
        token_ids, searched = following.best(self.width)
        count = tf.shape(token_ids)[2]
        flat = [-1, self.width * count]
        totals, places = tf.math.top_k(tf.reshape(search.searched[:, :, None] + searched, flat), self.width)
        scores = search.scores[:, :, None] + following.of_model(token_ids)
        token_ids, scores = (
            tf.gather(tf.reshape(each, flat), places, batch_dims=1) for each in (token_ids, scores)
        )
        if self.widths is not None:
            totals = tf.where(tf.range(self.width) < self.widths[:, None], totals, NEVER)
        return totals, places // count, token_ids, scores

    def _within_width(self, finished: Hypotheses) -> Hypotheses:
        """Without those that a narrower beam would not have kept."""
        if self.widths is None:
            return finished
        kept = tf.range(self.width) < self.widths[:, None]
        return finished._replace(ranked=tf.where(kept, finished.ranked, NEVER))

    def _worst(self, ranked: tf.Tensor) -> tf.Tensor:
        """The ranked score of the last of K finished hypotheses, (B, 1)."""
        if self.widths is None:
            return ranked[:, -1:]
        return tf.gather(ranked, self.widths[:, None] - 1, batch_dims=1)

    def _ranked(
        self, totals: tf.Tensor, length: tf.Tensor, following: NextTokens, parents: tf.Tensor
    ) -> tf.Tensor:
        """Ranked scores (B, K) of searched sums (B, K), if these hypotheses end with so many tokens."""
        ranked = totals / self._norm(length)
        if following.coverage is None:
            return ranked
        return ranked + _per_hypothesis(self.coverage_penalty) * tf.gather(
            following.coverage, parents, batch_dims=1
        )

    def _norm(self, length: tf.Tensor) -> tf.Tensor:
        """Of hypotheses with so many tokens, given ones counted; () or (B, 1)."""
        counted = length if self.given is None else length - self.given[:, None]
        return length_norm(counted, _per_hypothesis(self.length_penalty), self.norm)

    def _hopeful(self, live: tf.Tensor, tokens: tf.Tensor, bounds: tf.Tensor, worst: tf.Tensor) -> tf.Tensor:
        """Whether the search of a source is worth going on with, by its live hypotheses; (B, 1) or (B, K)."""
        if self.stop == "early":
            return worst == NEVER  # fewer than K have finished
        return self._best_attainable(live, tokens, bounds) > worst

    def _best_attainable(self, searched: tf.Tensor, tokens: tf.Tensor, bounds: tf.Tensor) -> tf.Tensor:
        """The highest ranked score that live hypotheses with so many tokens can end with, (B, K)."""
        shortest, longest = self._norm(tokens + 1), self._norm(bounds)
        return tf.maximum(searched / shortest, searched / longest)


def _per_hypothesis(penalty: Any) -> Any:
    """A number for all, or (B,), so that it broadcasts to (B, K)."""
    return penalty[:, None] if tf.is_tensor(penalty) else penalty
