"""Trains into a folder, in processes that die where they are told: `FOLDER ACCUMULATION WHERE [WHERE ...]`.

One process after the other trains into the folder. Each is forked, so that TensorFlow is imported once, and
takes its own life with SIGKILL. ACCUMULATION is the number of batches that make an update.

WHERE is one of

    batch:N     behind the N-th batch that it trains on
    write:N     half-way through the N-th checkpoint that it writes
    rename:N    when its N-th checkpoint is written, but not yet in its place
    epoch:N     at the end of its N-th epoch, before the checkpoint of that is begun
    end         behind the last checkpoint
    never       not at all: what it ends with goes to `FOLDER/end.npz`
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import keras
import numpy as np
from tiny_training import SETTINGS, train

from zoo.training import checkpoint
from zoo.training.averaging import MovingAverage
from zoo.training.repeatable import make_repeatable
from zoo.training.state import take
from zoo.training.stopping import EarlyStopping, Plateau


def die(*_, **__) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def at(count: int, event: Callable[..., None], otherwise: Callable = lambda *_, **__: None) -> Callable:
    """A function that is `event` when it is called for the `count`-th time."""
    calls = iter(range(1, 1_000_000))
    return lambda *args, **kwargs: (event if next(calls) == count else otherwise)(*args, **kwargs)


def half(stream, **_) -> None:
    stream.write(b"PK\x03\x04 half a checkpoint")
    stream.flush()
    die()


def deaths(where: str) -> list[keras.callbacks.Callback]:
    """Callbacks that die, after whatever has to be replaced for that is."""
    event, _, number = where.partition(":")
    count = int(number or 1)
    if event == "write":
        checkpoint.np.savez = at(count, half, np.savez)
    if event == "rename":
        checkpoint.os.replace = at(count, die, os.replace)
    hooks = {"batch": "on_train_batch_end", "epoch": "on_epoch_end", "end": "on_train_end"}
    return [keras.callbacks.LambdaCallback(**{hooks[event]: at(count, die)})] if event in hooks else []


def run(folder: Path, accumulation: int, where: str) -> None:
    make_repeatable()
    watching = [
        Plateau("val_tokens", mode="max", factor=0.7, patience=0),  # which stand still from the first on
        EarlyStopping("val_loss", mode="min", patience=9, restore_best_weights=False),
        MovingAverage(0.9),
    ]
    settings = replace(SETTINGS, schedule="constant", accumulation=accumulation)
    model, fitted = train(settings, folder=folder, callbacks=[*watching, *deaths(where)])
    history = np.array(json.dumps(fitted.history))
    np.savez(folder / "end.npz", history=history, **take(model, watching))


def main(folder: Path, accumulation: int, *places: str) -> None:
    for where in places:
        child = os.fork()
        if not child:
            run(folder, accumulation, where)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        died = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        assert died == (where != "never"), f"{where}: the process ended with status {status}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
