"""Does the pipeline starve training? `python -m benchmarks.pipeline RECIPE [--steps N]`.

Prints a line of JSON: target tokens per second of the pipeline alone, from ids in memory to what `fit` is
given, and from shards on disk; of training, pipeline included; and the ratios to training.
At a ratio well above 1 the pipeline, which runs ahead of the training, keeps it waiting for nothing but the
first batch.
"""

import argparse
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import keras
import numpy as np
import tensorflow as tf

from zoo import recipes
from zoo.data.batches import Batches, batches
from zoo.data.records import read_shards, write_shards
from zoo.recipes import Recipe
from zoo.tasks.task import Task
from zoo.training.fit import compile_model

__all__ = ["main", "pipeline_speed", "training_speed"]

WARM_UP = 3
"""Steps before the clock runs."""

SHARDS = 4
"""Files that the pairs are written to."""


def pipeline_speed(data: Batches) -> float:
    """Target tokens per second of an epoch that nobody trains on."""
    for _ in data.epoch(0).take(WARM_UP):
        pass
    tokens, started = 0.0, time.perf_counter()
    for _, _, weights in data.epoch(0):
        tokens += float(tf.reduce_sum(weights))
    return tokens / (time.perf_counter() - started)


def training_speed(recipe: Recipe, task: Task, data: Batches, steps: int) -> float:
    """Target tokens per second of so many steps of `fit`."""
    model = recipe.model(task)
    compile_model(model, recipe.training, steps=data.steps)
    model.fit(data.epoch(0).take(WARM_UP), shuffle=False, verbose=0)
    counted = data.epoch(0).skip(WARM_UP).take(steps)
    tokens = sum(float(tf.reduce_sum(weights)) for _, _, weights in counted)
    started = time.perf_counter()
    model.fit(counted, shuffle=False, verbose=0)
    return tokens / (time.perf_counter() - started)


def main() -> None:
    """Time both, and print what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recipe", choices=sorted(recipes.RECIPES))
    parser.add_argument("--steps", type=int, default=20, help="steps of training that are timed")
    asked = parser.parse_args()
    recipe = recipes.find(asked.recipe)
    task = recipe.task()
    keras.utils.set_random_seed(recipe.training.seed)
    pairs, tokenizers = task.splits["train"], (task.source, task.target)
    lengths = {"max_source_length": recipe.max_source_length, "max_length": recipe.max_length}
    settings = recipe.training
    sizes = {
        "batch_size": settings.batch_size,
        "batch_tokens": settings.batch_tokens,
        "seed": settings.seed,
    }
    started = time.perf_counter()
    data = batches(pairs, *tokenizers, **lengths, **sizes)
    encoding = time.perf_counter() - started
    with TemporaryDirectory() as folder:
        write_shards(Path(folder) / "shards", zip(*pairs, strict=True), *tokenizers, shards=SHARDS, **lengths)
        stored = read_shards(Path(folder) / "shards", *tokenizers, **sizes)
        pipeline, shards = (
            float(np.median([pipeline_speed(source) for _ in range(3)])) for source in (data, stored)
        )
    training = training_speed(recipe, task, data, asked.steps)
    found = {
        "recipe": recipe.name,
        "encoding_seconds": round(encoding, 2),
        "pipeline_tokens_per_second": round(pipeline),
        "shards_tokens_per_second": round(shards),
        "training_tokens_per_second": round(training),
        "ratio": round(pipeline / training, 1),
        "shards_ratio": round(shards / training, 1),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
