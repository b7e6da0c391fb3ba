"""Logit transforms: they steer the choice of tokens, and do not enter the scores that are reported."""

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from zoo.tokenizers.specials import END, PAD, START

__all__ = ["OnlyEnd", "forbid_pad_and_start"]

NEVER = -float("inf")


def forbid_pad_and_start(log_probs: tf.Tensor, token_ids: tf.Tensor, index: tf.Tensor) -> tf.Tensor:
    """PAD and START are never generated: the loop puts this transform in front of all others."""
    ids = tf.range(tf.shape(log_probs)[-1])
    return tf.where((ids == PAD) | (ids == START), NEVER, log_probs)


@dataclass(frozen=True)
class OnlyEnd:
    """Nothing but END may be generated for some of the sources.

    Attributes:
        sources: (B,) bool, True for the sources whose only answer is the empty one.
    """

    sources: Any

    def __call__(self, log_probs: tf.Tensor, token_ids: tf.Tensor, index: tf.Tensor) -> tf.Tensor:
        other = tf.range(tf.shape(log_probs)[-1]) != END
        return tf.where(self.sources[:, None, None] & other, NEVER, log_probs)
