"""Trains on one processor and on two logical ones, and prints the largest gap between weights, as JSON.

With an argument, a rate, both read so many tokens of their own.
"""

import dataclasses
import json
import sys

import numpy as np
import tensorflow as tf
from tiny_training import SETTINGS, Counting, train

from zoo.training.sampling import ScheduledSampling

processor = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(processor, [tf.config.LogicalDeviceConfiguration()] * 2)


def trained(strategy: tf.distribute.Strategy):
    how = [ScheduledSampling(float(rate), growth="constant") for rate in sys.argv[1:]]
    settings = dataclasses.replace(
        SETTINGS, average_last=1, clip_norm=0.3, learning_rate=2e-3, sampling=how[0] if how else None
    )
    with strategy.scope():
        model, fitted = train(settings, training=Counting(rows=7), dropout=0.0)
    return model.get_weights(), fitted.history


def main() -> None:
    one, history = trained(tf.distribute.get_strategy())
    two, figures = trained(tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]))
    apart = max(float(np.abs(a - b).max()) for a, b in zip(one, two, strict=True))
    print(json.dumps({"apart": apart, "one": history, "two": figures}))


if __name__ == "__main__":
    main()
