"""Trains as one of several workers, or alone: `RESULT FOLDER WHERE`, and TF_CONFIG says which worker.

WHERE is `never`, or `batch:N`: the process takes its own life behind the N-th batch that it trains on.
"""

import dataclasses
import os
import signal
import sys
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

if "TF_CONFIG" in os.environ:
    strategy = tf.distribute.MultiWorkerMirroredStrategy()  # before anything else of TensorFlow
else:
    strategy = tf.distribute.get_strategy()

from tiny_training import SETTINGS, Counting, train


def main(result: Path, folder: Path, where: str) -> None:
    left = iter(range(int(where.partition(":")[2] or 1_000_000) - 1, -1, -1))

    def count(batch, logs) -> None:
        if next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    settings = dataclasses.replace(SETTINGS, clip_norm=0.3, learning_rate=2e-3)
    watch = [keras.callbacks.LambdaCallback(on_train_batch_end=count)]
    with strategy.scope():
        model, fitted = train(
            settings, training=Counting(rows=7), dropout=0.0, folder=folder, callbacks=watch
        )
    np.savez(result, *model.get_weights(), **fitted.history)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
