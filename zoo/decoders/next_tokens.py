"""What may follow a hypothesis, as the model has it and as a search is to see it."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import tensorflow as tf

from zoo.decoders.never import NEVER
from zoo.decoders.top_k import top_k
from zoo.tokenizers.specials import END, PAD

__all__ = ["NextTokens"]


class Forced(NamedTuple):
    """The only token that may follow."""

    token_ids: tf.Tensor
    """(B, K) int32; -1 where any may follow."""
    given: tf.Tensor
    """(B, K) bool: whether it was given, and so costs nothing."""


@dataclass(frozen=True, eq=False)
class NextTokens:
    """Log probabilities of the tokens that may follow each of K hypotheses.

    There are two for each token: the model's own, which is reported, and the searched one, which decides, and
    which logit transforms change. Those of the whole vocabulary are computed only if somebody asks for them:
    most searches need the best few, and find them among the logits.

    PAD and START follow nothing: their searched log probability is -inf.

    Attributes:
        logits: (B, K, V) float32, of the model.
        total: (B, K, 1) float32, the logarithm of the sum of their exponentials.
        steered: (B, K, V) float32, searched log probabilities, once a transform has changed them.
        lowest: int32 that broadcasts to (B, K), the lowest id that may follow.
        forced: where one token alone may follow.
        coverage: (B, K) float32, how much of the source the hypotheses have looked at, this step counted, see
            `zoo.decoders.reading.log_coverage`; None unless the strategy asks for it.
    """

    logits: tf.Tensor
    total: tf.Tensor
    steered: tf.Tensor | None = None
    lowest: tf.Tensor | int = END
    forced: Forced | None = None
    coverage: tf.Tensor | None = None

    @classmethod
    def of(cls, logits: tf.Tensor, *, coverage: tf.Tensor | None = None) -> "NextTokens":
        """What a model's logits (B, K, V) say, before any transform."""
        logits = tf.cast(logits, tf.float32)
        # The softmax is one fused operation, and faster than the logarithm of a sum of exponentials.
        highest = tf.math.log(tf.reduce_max(tf.nn.softmax(logits), axis=-1, keepdims=True))
        total = tf.reduce_max(logits, axis=-1, keepdims=True) - highest
        return cls(logits, total, coverage=coverage)

    @property
    def log_probs(self) -> tf.Tensor:
        """(B, K, V) float32: the model's own."""
        return self.logits - self.total

    @property
    def searched(self) -> tf.Tensor:
        """(B, K, V) float32: what decides, but for forced tokens; -inf where a token may not follow."""
        scores = self.log_probs if self.steered is None else self.steered
        ids = tf.range(tf.shape(scores)[-1])
        return tf.where(ids < tf.convert_to_tensor(self.lowest)[..., None], NEVER, scores)

    def steer(self, searched: tf.Tensor) -> "NextTokens":
        """With other searched log probabilities (B, K, V).

        Numbers above 0 are taken as 0: the exact stop rule of a search relies on that. NaN is taken as -inf:
        it is what comes of normalising where no token may follow, and would be in the way of the tokens of
        other hypotheses, since it compares with nothing.
        """
        return replace(self, steered=tf.where(tf.math.is_nan(searched), NEVER, tf.minimum(searched, 0.0)))

    def without_end(self, where: tf.Tensor) -> "NextTokens":
        """END may not follow where a bool that broadcasts to (B, K) is True."""
        return replace(self, lowest=tf.where(where, END + 1, self.lowest))

    def only(self, token_ids: tf.Tensor, where: tf.Tensor, *, given: bool = False) -> "NextTokens":
        """One token alone may follow where a bool is True, whatever else was said of it.

        Args:
            token_ids: int32 that broadcasts to (B, K).
            where: bool that broadcasts to (B, K).
            given: whether the token is part of the question: its searched log probability is 0.
        """
        shape = tf.shape(self.logits)[:2]
        where = tf.broadcast_to(where, shape)
        before = self.forced or Forced(tf.fill(shape, -1), tf.zeros(shape, tf.bool))
        after = Forced(tf.where(where, token_ids, before.token_ids), tf.where(where, given, before.given))
        return replace(self, forced=after)

    def best(self, count: int) -> tuple[tf.Tensor, tf.Tensor]:
        """The tokens of the highest searched log probability, best first; of equal ones, the lower id first.

        Without transforms, logits are compared: their order is that of the log probabilities before rounding.

        Returns:
            Ids (B, K, N) int32 and searched log probabilities (B, K, N); N is `count`, or V if that is less.
        """
        scores = self.logits if self.steered is None else self.steered
        shape = tf.shape(scores)
        count = min(count, scores.shape[2])
        lowest = tf.reshape(tf.broadcast_to(self.lowest, shape[:2]), [-1])
        found = top_k(tf.reshape(scores, [-1, scores.shape[2]]), count, lowest)
        searched, token_ids = (tf.reshape(part, [shape[0], shape[1], count]) for part in found)
        if self.steered is None:
            searched -= self.total
        return self.obey(token_ids, searched)

    def of_model(self, token_ids: tf.Tensor) -> tf.Tensor:
        """The model's own log probabilities of tokens (B, K, N) int32: (B, K, N) float32."""
        return tf.gather(self.logits, token_ids, batch_dims=2) - self.total

    def obey(self, token_ids: tf.Tensor, searched: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Tokens (B, K, N) and their searched log probabilities, and where one is forced, that one alone."""
        if self.forced is None:
            return token_ids, searched
        forced, given = (part[:, :, None] for part in self.forced)
        own = tf.where(given, 0.0, self.of_model(tf.maximum(forced, PAD)))
        own = tf.where(tf.range(tf.shape(token_ids)[2]) == 0, own, NEVER)
        is_forced = forced >= 0
        return tf.where(is_forced, forced, token_ids), tf.where(is_forced, own, searched)
