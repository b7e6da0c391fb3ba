"""How likely given targets are: one teacher-forced pass, no search."""

from typing import Any, NamedTuple

import tensorflow as tf

from zoo.decoders.protocol import Seq2SeqModel
from zoo.tokenizers.sequences import teacher_forced
from zoo.tokenizers.specials import PAD

__all__ = ["Scored", "score"]


class Scored(NamedTuple):
    """Log probabilities of targets."""

    scores: tf.Tensor
    """(B,) float32: the sum over the target's tokens."""
    token_scores: tf.Tensor
    """(B, T) float32: of each token after those before it; 0 at PAD."""


def score(model: Seq2SeqModel, source: Any, target_ids: tf.Tensor) -> Scored:
    """Log probabilities of given targets.

    Args:
        model: called with `{"source": source, "target_ids": (B, T)}`, gives logits (B, T, V).
        source: what the model takes, for B sources.
        target_ids: (B, T) int32, ending in END where the target is complete, then PAD; T at least 1.

    Returns:
        `Scored`.
    """
    logits = model({"source": source, "target_ids": teacher_forced(target_ids)})
    log_probs = tf.nn.log_softmax(tf.cast(logits, tf.float32))
    chosen = tf.gather(log_probs, target_ids, batch_dims=2)
    token_scores = tf.where(target_ids == PAD, 0.0, chosen)
    return Scored(tf.reduce_sum(token_scores, axis=1), token_scores)
