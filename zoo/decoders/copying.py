"""Where in the source an unknown word of an answer comes from."""

from typing import Any

import tensorflow as tf

from zoo.decoders.protocol import AligningModel
from zoo.tokenizers.sequences import teacher_forced

__all__ = ["most_attended"]


def most_attended(
    model: AligningModel, source: Any, token_ids: tf.Tensor, may_be_chosen: tf.Tensor
) -> tf.Tensor:
    """The source position that each token of an answer looked at most; of equal ones, the first.

    Args:
        model: says where it looked in one teacher-forced pass over the finished ids.
        source: what the model takes, for N sources.
        token_ids: (N, T) int32, one answer to each, as `decode` gives them.
        may_be_chosen: (N, S) bool; where it is False everywhere, the answer is 0.

    Returns:
        (N, T) int32, each from 0 to S - 1.
    """
    alignment = tf.cast(model.alignment(source, teacher_forced(token_ids)), tf.float32)
    return tf.argmax(tf.where(may_be_chosen[:, None], alignment, -1.0), axis=2, output_type=tf.int32)
