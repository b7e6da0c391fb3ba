"""Sampling: each token is drawn, with the probability that the search sees."""

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from zoo.decoders.next_tokens import NextTokens
from zoo.decoders.protocol import Choice, Decoded
from zoo.decoders.single import SingleSearch

__all__ = ["Sample"]


@dataclass(frozen=True)
class Sample:
    """Draw each token by itself, from the probabilities that the transforms leave.

    Token i is the first whose cumulative probability, in the order of ids, is above a number that is uniform
    from 0 to 1. That number depends on the source's seed and on the length so far alone: the same seed gives
    the same text in any batch. `ranked_scores` are sums of the searched log probabilities.

    Attributes:
        seeds: int, or (B,) int32, one for each source.
    """

    seeds: Any = 0

    width = 1
    needs_coverage = False

    def begin(self, bounds: tf.Tensor, max_length: int) -> SingleSearch:
        return SingleSearch.begin(bounds, max_length)

    def choose(self, search: SingleSearch, following: NextTokens, index: tf.Tensor) -> Choice:
        log_probs = following.searched[:, 0]
        cumulative = tf.cumsum(tf.nn.softmax(log_probs), axis=1)
        total = cumulative[:, -1:]
        seeds = tf.broadcast_to(tf.cast(self.seeds, tf.int32), tf.shape(total)[:1])
        # Rounding may bring the product up to the total, which no token is above.
        drawn = tf.minimum(uniform(seeds, index)[:, None] * total, total * (1 - 2.0**-23))
        token_ids = tf.minimum(tf.searchsorted(cumulative, drawn, side="right"), cumulative.shape[1] - 1)
        searched = tf.gather(log_probs, token_ids, batch_dims=1)
        token_ids, searched = following.obey(token_ids[:, :, None], searched[:, :, None])
        return search.extend(token_ids[:, :, 0], searched[:, :, 0], following, index)

    def going_on(self, search: SingleSearch) -> tf.Tensor:
        return tf.reduce_any(search.live)

    def finish(self, search: SingleSearch) -> Decoded:
        return search.found()


def uniform(seeds: tf.Tensor, index: tf.Tensor) -> tf.Tensor:
    """Numbers that look random, the same on every machine and under XLA, where TensorFlow's are others.

    Seed and index are mixed by the last step of the hash function MurmurHash3, twice, and the highest 24 bits
    of the 32 are kept.

    Args:
        seeds: (B,) int32.
        index: () int32.

    Returns:
        (B,) float32, uniform from 0 to below 1.
    """
    of_seed = _mixed(tf.bitcast(seeds, tf.uint32) + tf.constant(0x9E3779B9, tf.uint32))
    of_both = _mixed(of_seed + tf.cast(index, tf.uint32) * tf.constant(0x85EBCA6B, tf.uint32))
    return tf.cast(tf.bitwise.right_shift(of_both, tf.constant(8, tf.uint32)), tf.float32) * 2.0**-24


def _mixed(bits: tf.Tensor) -> tf.Tensor:
    """Every bit of the result depends on every bit (B,) uint32."""
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        bits = tf.bitwise.bitwise_xor(bits, tf.bitwise.right_shift(bits, tf.constant(shift, tf.uint32)))
        bits *= tf.constant(factor, tf.uint32)
    return bits
