"""Trainings that end in the same weights, bit for bit."""

import tensorflow as tf

__all__ = ["make_repeatable"]


def make_repeatable() -> None:
    """Let TensorFlow use only operations that give the same bits each time, in this process from now on.

    Seeds alone fix what is drawn, but not the order in which threads add numbers. A training on a processor
    then repeats itself on the same machine, whether or not it is interrupted in between; it takes a little
    longer. It is asked for before the first batch.
    """
    tf.config.experimental.enable_op_determinism()
