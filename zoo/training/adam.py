"""Adam, with the gradient that a batch has as a whole."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

__all__ = ["Adam"]


@keras.saving.register_keras_serializable("zoo")
class Adam(keras.optimizers.Adam):
    """`keras.optimizers.Adam` (Kingma & Ba 2015) for what occurs more than once in a batch.

    The gradient of an embedding comes as one row for each token of the batch. Keras squares these rows before
    it has added up those of the same token: in the norm that is clipped, and, where nothing is clipped, in
    Adam's second moment. And where devices share a batch, Keras clips the part of each of them. Here rows and
    parts are added up first, so that the update is the paper's, however a batch is cut.

    Args:
        learning_rate: a number or a schedule.
        clip_norm: the greatest global norm of a gradient; None: it is not clipped.
        accumulation: batches that make an update.
        beta_2: how much of the second moment stays at each update.
        name: of the optimizer.
    """

    def __init__(
        self,
        learning_rate: Any = 1e-3,
        *,
        clip_norm: float | None = None,
        accumulation: int = 1,
        beta_2: float = 0.999,
        name: str = "adam",
    ) -> None:
        devices = tf.distribute.get_strategy().num_replicas_in_sync
        super().__init__(
            learning_rate,
            beta_2=beta_2,
            # Each device clips the mean over all of them, and Keras then takes the sum of that.
            global_clipnorm=None if clip_norm is None else clip_norm / devices,
            gradient_accumulation_steps=accumulation if accumulation > 1 else None,
            name=name,
        )
        self.clip_norm = clip_norm
        self.accumulation = accumulation

    def apply(
        self, grads: Sequence[tf.Tensor], trainable_variables: Sequence[keras.Variable] | None = None
    ) -> None:
        """Update the variables; see `keras.optimizers.Optimizer.apply`."""
        whole = [None if gradient is None else tf.convert_to_tensor(gradient) for gradient in grads]
        replica = tf.distribute.get_replica_context()
        if replica.num_replicas_in_sync > 1:
            whole = replica.all_reduce(tf.distribute.ReduceOp.MEAN, whole)
        super().apply(whole, trainable_variables)

    def get_config(self):
        rate = super().get_config()["learning_rate"]
        return {
            "learning_rate": rate,
            "clip_norm": self.clip_norm,
            "accumulation": self.accumulation,
            "beta_2": self.beta_2,
            "name": self.name,
        }
