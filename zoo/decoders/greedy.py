"""Greedy search: the likeliest token at every step."""

from dataclasses import dataclass

import tensorflow as tf

from zoo.decoders.next_tokens import NextTokens
from zoo.decoders.protocol import Choice, Decoded
from zoo.decoders.single import SingleSearch

__all__ = ["Greedy"]


@dataclass(frozen=True)
class Greedy:
    """Take the likeliest token until it is END. Of equal ones, the lower id.

    One hypothesis of each source; its `ranked_scores` are the plain sum of the searched log probabilities.
    """

    width = 1
    needs_coverage = False

    def begin(self, bounds: tf.Tensor, max_length: int) -> SingleSearch:
        return SingleSearch.begin(bounds, max_length)

    def choose(self, search: SingleSearch, following: NextTokens, index: tf.Tensor) -> Choice:
        token_ids, searched = following.best(1)
        return search.extend(token_ids[:, :, 0], searched[:, :, 0], following, index)

    def going_on(self, search: SingleSearch) -> tf.Tensor:
        return tf.reduce_any(search.live)

    def finish(self, search: SingleSearch) -> Decoded:
        return search.found()
