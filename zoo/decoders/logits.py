"""Logit transforms: they steer the choice of tokens, and do not enter the scores that are reported.

They are applied in the order in which they are given. What may differ between the sources of a batch is a
number for all, or a tensor (B,).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from zoo.decoders.never import NEVER
from zoo.decoders.next_tokens import NextTokens
from zoo.tokenizers.specials import END, PAD

__all__ = [
    "AllowedTokens",
    "ForbiddenTokens",
    "ForcedPrefix",
    "MinimumLength",
    "NoRepeatNGram",
    "OnlyEnd",
    "RepetitionPenalty",
    "Temperature",
    "TopK",
    "TopP",
]

COLDEST = 1e-3
"""Lowest temperature: all but the likeliest token, and its equals, are as good as impossible."""


def _per_token(value: Any, dtype: tf.DType) -> tf.Tensor:
    """A number, or (B,), so that it broadcasts to (B, K, V)."""
    return tf.reshape(tf.cast(value, dtype), [-1, 1, 1])


@dataclass(frozen=True)
class OnlyEnd:
    """Nothing but END may follow for some of the sources: their only answer is the empty one.

    Attributes:
        sources: (B,) bool.
    """

    sources: Any

    def __call__(self, following: NextTokens, token_ids: tf.Tensor, index: tf.Tensor) -> NextTokens:
        return following.only(tf.constant(END), self.sources[:, None])


@dataclass(frozen=True)
class MinimumLength:
    """END may not follow before so many tokens. A model that can say nothing else then says nothing.

    Attributes:
        lengths: int, or (B,) int32; END is not counted.
    """

    lengths: Any

    def __call__(self, following: NextTokens, token_ids: tf.Tensor, index: tf.Tensor) -> NextTokens:
        return following.without_end(index < tf.reshape(tf.cast(self.lengths, tf.int32), [-1, 1]))


@dataclass(frozen=True)
class ForcedPrefix:
    """The answer begins with given tokens.

    They count in `scores`, as all tokens do, and cost nothing in the search. `Beam(given=)` takes their
    number, so that its norm does not count them.

    Attributes:
        token_ids: (B, P) int32, without START.
        lengths: (B,) int32, how many of them are given for each source, at most P.
    """

    token_ids: Any
    lengths: Any

    def __call__(self, following: NextTokens, token_ids: tf.Tensor, index: tf.Tensor) -> NextTokens:
        padded = tf.pad(self.token_ids, [[0, 0], [0, 1]], constant_values=PAD)
        here = tf.minimum(index, tf.shape(padded)[1] - 1)
        return following.only(padded[:, here, None], (index < self.lengths)[:, None], given=True)


@dataclass(frozen=True)
class ForbiddenTokens:
    """Some tokens may never follow, such as UNKNOWN.

    Attributes:
        token_ids: ids, the same for all sources, or (B, F) int32, where PAD stands for none.
    """

    token_ids: Any

    def __call__(self, following: NextTokens, token_ids: tf.Tensor, index: tf.Tensor) -> NextTokens:
        searched = following.searched
        ids, own = tf.range(tf.shape(searched)[2]), tf.cast(self.token_ids, tf.int32)
        forbidden = tf.reduce_any(ids[:, None] == own[..., None, None, :], axis=-1)
        return following.steer(tf.where(forbidden, NEVER, searched))


@dataclass(frozen=True)
class AllowedTokens:
    """Only tokens may follow that a function allows, which knows the last few tokens.

    Attributes:
        function: last tokens (B, K, N) int32 to what may follow, (B, K, V) bool. Where fewer than N tokens
            came before, the first of them are PAD.
        last: N.
    """

    function: Callable[[tf.Tensor], tf.Tensor]
    last: int = 1

    def __call__(self, following: NextTokens, token_ids: tf.Tensor, index: tf.Tensor) -> NextTokens:
        before = tf.pad(token_ids, [[0, 0], [0, 0], [self.last, 0]], constant_values=PAD)
        allowed = self.function(tf.gather(before, index + tf.range(self.last), axis=2))  # as XLA can
        return following.steer(tf.where(allowed, following.searched, NEVER))


@dataclass(frozen=True)
class RepetitionPenalty:
    """Tokens that were said before are less likely, by Keskar et al. (2019), section 4.1.

    Their log probabilities are multiplied by a number: as these are never positive, that is the paper's rule.

    Attributes:
        penalty: float, or (B,) float32; 1 changes nothing, the paper uses 1.2.
    """

    penalty: Any

    def __call__(self, following: NextTokens, token_ids: tf.Tensor, index: tf.Tensor) -> NextTokens:
        searched = following.searched
        said = tf.gather(searched, token_ids, batch_dims=2) * _per_token(self.penalty, tf.float32)
        return following.steer(_written(searched, token_ids, said))


@dataclass(frozen=True)
class NoRepeatNGram:
    """No sequence of N tokens twice in a hypothesis, by Paulus et al. (2018), section 2.5.

    Attributes:
        size: N, int, or (B,) int32; 0 allows all.
    """

    size: Any

    def __call__(self, following: NextTokens, token_ids: tf.Tensor, index: tf.Tensor) -> NextTokens:
        size, places = _per_token(self.size, tf.int32), tf.range(token_ids.shape[2])
        longest = tf.minimum(tf.reduce_max(size), index + 1)

        def go_back(back: tf.Tensor, would_repeat: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            """One token further back: is it the same before a place as before the token that comes next?"""
            there = tf.gather(token_ids, tf.maximum(places - back, 0), axis=2)
            here = token_ids[:, :, tf.maximum(index - back, 0), None]
            return back + 1, would_repeat & ((there == here) | (back >= size))

        # At first every place where an n-gram has ended, (B, K, L).
        ends = (places < index) & (places >= size - 1) & (size > 0) & tf.ones_like(token_ids, tf.bool)
        _, would_repeat = tf.while_loop(lambda back, _: back < longest, go_back, (tf.constant(1), ends))
        banned = tf.where(would_repeat, token_ids, PAD)  # PAD may not follow anyway
        return following.steer(_written(following.searched, banned, tf.fill(tf.shape(banned), NEVER)))


@dataclass(frozen=True)
class Temperature:
    """Log probabilities are divided by a number, and those of the tokens that may follow add up to 1 again.

    Attributes:
        temperature: float, or (B,) float32; 1 leaves all ratios as they are, less makes likely tokens
            likelier. Less than 0.001 counts as that.
    """

    temperature: Any

    def __call__(self, following: NextTokens, token_ids: tf.Tensor, index: tf.Tensor) -> NextTokens:
        temperature = tf.maximum(_per_token(self.temperature, tf.float32), COLDEST)
        scaled = following.searched / temperature
        return following.steer(tf.nn.log_softmax(scaled))


@dataclass(frozen=True)
class TopK:
    """Only the likeliest few may follow, Fan et al. (2018); of equal ones, the lower ids.

    Attributes:
        count: int, or (B,) int32; 0 allows all.
    """

    count: Any

    def __call__(self, following: NextTokens, token_ids: tf.Tensor, index: tf.Tensor) -> NextTokens:
        count = _per_token(self.count, tf.int32)

        def within(ranked: tf.Tensor) -> tf.Tensor:
            return (tf.range(tf.shape(ranked)[2]) < count) | (count <= 0)

        return _keep_first(following, within, needed=tf.reduce_any(count > 0))


@dataclass(frozen=True)
class TopP:
    """Only the likeliest that together reach a probability may follow, Holtzman et al. (2020), section 3.1.

    These are the fewest that reach it, at least one; of equal ones, the lower ids.

    Attributes:
        probability: float, or (B,) float32; 1 allows all.
    """

    probability: Any

    def __call__(self, following: NextTokens, token_ids: tf.Tensor, index: tf.Tensor) -> NextTokens:
        probability = _per_token(self.probability, tf.float32)

        def within(ranked: tf.Tensor) -> tf.Tensor:
            before = tf.cumsum(tf.nn.softmax(ranked), axis=2, exclusive=True)
            return (before < probability) | (probability >= 1.0)

        return _keep_first(following, within, needed=tf.reduce_any(probability < 1.0))


def _keep_first(
    following: NextTokens, within: Callable[[tf.Tensor], tf.Tensor], *, needed: tf.Tensor
) -> NextTokens:
    """Keep the first few tokens in the order of their searched log probability, at least one.

    Args:
        following: what may come next.
        within: log probabilities in falling order, (B, K, V), to which of the first of them are kept.
        needed: () bool, whether any source wants it: putting a vocabulary in order takes long.
    """
    searched = following.searched

    def cut() -> tf.Tensor:
        ranked, order = tf.math.top_k(searched, searched.shape[2])
        kept = tf.broadcast_to(within(ranked), tf.shape(ranked))
        count = tf.reduce_sum(tf.cast(kept, tf.int32), axis=2, keepdims=True)
        last = tf.maximum(count - 1, 0)
        threshold, last_id = (tf.gather(part, last, batch_dims=2) for part in (ranked, order))
        ids = tf.range(searched.shape[2])
        kept = (searched > threshold) | ((searched == threshold) & (ids <= last_id))
        return tf.where(kept, searched, NEVER)

    return following.steer(tf.cond(needed, cut, lambda: searched))


def _written(searched: tf.Tensor, token_ids: tf.Tensor, log_probs: tf.Tensor) -> tf.Tensor:
    """Log probabilities (B, K, V), those of some tokens (B, K, N) replaced by (B, K, N)."""
    shape = tf.shape(searched)
    rows = tf.range(shape[0] * shape[1])[:, None] + tf.zeros_like(
        tf.reshape(token_ids, [-1, token_ids.shape[2]])
    )
    places = tf.stack([rows, tf.reshape(token_ids, tf.shape(rows))], axis=-1)
    flat = tf.reshape(searched, [-1, shape[2]])
    written = tf.tensor_scatter_nd_update(flat, places, tf.reshape(log_probs, tf.shape(rows)))
    return tf.reshape(written, shape)
