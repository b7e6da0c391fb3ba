"""Greedy search: the likeliest token at every step."""

from dataclasses import dataclass
from typing import NamedTuple

import tensorflow as tf

from zoo.decoders.protocol import Choice, Decoded
from zoo.tokenizers.specials import END, PAD

__all__ = ["Greedy"]


class GreedySearch(NamedTuple):
    token_ids: tf.Tensor  # (B, 1, L) int32
    scores: tf.Tensor  # (B, 1) float32, of the model
    searched: tf.Tensor  # (B, 1) float32, transformed
    lengths: tf.Tensor  # (B, 1) int32
    live: tf.Tensor  # (B, 1) bool


@dataclass(frozen=True)
class Greedy:
    """Take the likeliest token until it is END. Of equal ones, the lower id.

    One hypothesis of each source; its `ranked_scores` are the plain sum of the transformed log probabilities.
    """

    width = 1

    def begin(self, batch: tf.Tensor, max_length: int) -> GreedySearch:
        zeros = tf.zeros([batch, 1])
        ids = tf.fill([batch, 1, max_length], PAD)
        return GreedySearch(ids, zeros, zeros, tf.cast(zeros, tf.int32), tf.ones([batch, 1], tf.bool))

    def choose(
        self, search: GreedySearch, searched: tf.Tensor, log_probs: tf.Tensor, index: tf.Tensor
    ) -> Choice:
        best = tf.argmax(searched, axis=-1, output_type=tf.int32)
        token_ids = tf.where(search.live, best, PAD)
        here = tf.range(tf.shape(search.token_ids)[2]) == index

        def grown(total, step):
            return tf.where(search.live, total + tf.gather(step, best, batch_dims=2), total)

        total = grown(search.searched, searched)
        live = search.live & (token_ids != END) & (total > -float("inf"))  # -inf: no token may follow
        search = GreedySearch(
            token_ids=tf.where(here, token_ids[:, :, None], search.token_ids),
            scores=grown(search.scores, log_probs),
            searched=total,
            lengths=search.lengths + tf.cast(live, tf.int32),
            live=live,
        )
        return Choice(search, token_ids, tf.zeros_like(token_ids))

    def going_on(self, search: GreedySearch) -> tf.Tensor:
        return tf.reduce_any(search.live)

    def finish(self, search: GreedySearch) -> Decoded:
        return Decoded(search.token_ids, search.scores, search.searched, search.lengths)
