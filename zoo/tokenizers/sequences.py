"""From the ids of a tokenizer to the rows of a batch."""

import tensorflow as tf

from zoo.tokenizers.specials import END, PAD

__all__ = ["close"]


def close(ids: tf.RaggedTensor, limit: int) -> tf.Tensor:
    """End every sequence with END, cut it at a limit, and pad it to the longest.

    A sequence of `limit` tokens or more is cut there and has no END: it goes on. This is how a search
    treats a hypothesis at its bound, so given and generated sequences have the same form.

    Args:
        ids: ragged (B, None) int32.
        limit: greatest number of ids in a row, END counted; at least 1.

    Returns:
        (B, T) int32 with 1 <= T <= `limit`, also for B = 0.
    """
    ends = tf.fill([ids.nrows(), 1], END)
    closed = tf.concat([ids, ends], axis=1)[:, :limit].to_tensor(PAD)
    missing = tf.maximum(0, 1 - tf.shape(closed)[1])
    return tf.pad(closed, [[0, 0], [0, missing]], constant_values=PAD)
