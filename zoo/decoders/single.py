"""A search that follows one hypothesis of each source."""

from typing import NamedTuple

import tensorflow as tf

from zoo.decoders.never import NEVER
from zoo.decoders.next_tokens import NextTokens
from zoo.decoders.protocol import Choice, Decoded
from zoo.tokenizers.specials import END, PAD

__all__ = ["SingleSearch"]


class SingleSearch(NamedTuple):
    """The hypothesis, and whether it goes on."""

    token_ids: tf.Tensor  # (B, 1, L) int32
    scores: tf.Tensor  # (B, 1) float32, of the model
    searched: tf.Tensor  # (B, 1) float32, transformed
    lengths: tf.Tensor  # (B, 1) int32
    live: tf.Tensor  # (B, 1) bool
    bounds: tf.Tensor  # (B, 1) int32

    @classmethod
    def begin(cls, bounds: tf.Tensor, max_length: int) -> "SingleSearch":
        """Before the first token, see `zoo.decoders.Strategy`."""
        bounds = bounds[:, None]
        zeros = tf.zeros(tf.shape(bounds))
        ids = tf.fill([tf.shape(bounds)[0], 1, max_length], PAD)
        return cls(ids, zeros, zeros, tf.cast(zeros, tf.int32), bounds > 0, bounds)

    def extend(
        self, token_ids: tf.Tensor, searched: tf.Tensor, following: NextTokens, index: tf.Tensor
    ) -> Choice:
        """One step further, by tokens (B, 1) of searched log probabilities (B, 1)."""
        token_ids = tf.where(self.live, token_ids, PAD)
        scores = following.of_model(token_ids[:, :, None])[:, :, 0]
        total = tf.where(self.live, self.searched + searched, self.searched)
        going_on = self.live & (token_ids != END) & (total > NEVER)  # -inf: no token may follow
        lengths = self.lengths + tf.cast(going_on, tf.int32)
        here = tf.range(tf.shape(self.token_ids)[2]) == index
        search = SingleSearch(
            token_ids=tf.where(here, token_ids[:, :, None], self.token_ids),
            scores=tf.where(self.live, self.scores + scores, self.scores),
            searched=total,
            lengths=lengths,
            live=going_on & (lengths < self.bounds),
            bounds=self.bounds,
        )
        return Choice(search, token_ids, tf.zeros_like(token_ids))

    def found(self) -> Decoded:
        """What was found."""
        return Decoded(self.token_ids, self.scores, self.searched, self.lengths)
