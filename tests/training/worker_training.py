"""Trains as one of several workers, or alone: `RESULT FOLDER WHERE [SHARDS]`; TF_CONFIG says which worker.

WHERE is `never`, or `batch:N`: the process takes its own life behind the N-th batch that it trains on.
SHARDS is a folder of pairs of `DIGITS` in shards, in the place of `Counting`.
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

from zoo.data.records import read_shards
from zoo.tokenizers import Characters

DIGITS = Characters("0123456")
"""With the special ids as many as `tiny_training.VOCABULARY`."""


def main(result: Path, folder: Path, where: str, *shards: str) -> None:
    left = iter(range(int(where.partition(":")[2] or 1_000_000) - 1, -1, -1))

    def count(batch, logs) -> None:
        if next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    watch = [keras.callbacks.LambdaCallback(on_train_batch_end=count)]
    model, fitted = trained(*map(Path, shards), folder=folder, callbacks=watch)
    np.savez(result, *model.get_weights(), **fitted.history)


def trained(*shards: Path, **changed):
    settings = dataclasses.replace(SETTINGS, clip_norm=0.3, learning_rate=2e-3)
    stored = [read_shards(folder, DIGITS, DIGITS, batch_size=7, seed=3) for folder in shards]
    training = stored[0] if stored else Counting(rows=7)
    with strategy.scope():
        return train(settings, training=training, dropout=0.0, **changed)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
