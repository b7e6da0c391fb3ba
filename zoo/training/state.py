"""All that changes while a model trains, as named arrays."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

import keras
import numpy as np

__all__ = ["Remembering", "put_back", "put_back_metrics", "take"]

Arrays = Mapping[str, np.ndarray]


@runtime_checkable
class Remembering(Protocol):
    """A callback with a memory, without which a training that is gone on with would end otherwise."""

    def memory(self) -> Arrays:
        """What it remembers."""

    def remember(self, memory: Arrays) -> None:
        """Take up what `memory` gave; called after `on_train_begin`."""


def take(model: keras.Model, callbacks: Sequence[keras.callbacks.Callback]) -> dict[str, np.ndarray]:
    """The state of a built, compiled model and of the callbacks that are `Remembering`.

    Of the model these are the weights and the states of the seeds that dropout draws from, which no file
    format of Keras holds; of the optimizer its moments and its count of updates; of the metrics the sums over
    the epoch until now.
    """
    arrays = {
        f"{part}/{number:05}": variable.numpy()
        for part, variables in {**_variables(model), "metrics": model.metrics_variables}.items()
        for number, variable in enumerate(variables)
    }
    for part, callback in _remembering(callbacks):
        arrays.update({f"{part}/{name}": np.asarray(value) for name, value in callback.memory().items()})
    return arrays


def put_back(arrays: Arrays, model: keras.Model, callbacks: Sequence[keras.callbacks.Callback]) -> None:
    """Give a model and callbacks the state that `take` found, but for the metrics, which `fit` resets.

    Raises:
        ValueError: the state is that of another model, optimizer or list of callbacks.
    """
    for part, variables in _variables(model).items():
        _assign(part, variables, arrays)
    remembering = dict(_remembering(callbacks))
    kept = {name.rsplit("/", 1)[0] for name in arrays if name.startswith("callbacks/")}
    if not kept <= set(remembering):
        raise ValueError(
            f"The training that is kept had other callbacks: {sorted(kept)}, where there are "
            f"{sorted(remembering)} now. Go on with the same ones, or start afresh."
        )
    for part, callback in remembering.items():
        callback.remember(_part(arrays, part))


def put_back_metrics(arrays: Arrays, model: keras.Model) -> None:
    """Give the metrics the sums over the part of the epoch that is done."""
    _assign("metrics", model.metrics_variables, arrays)


def _variables(model: keras.Model) -> dict[str, list[keras.Variable]]:
    return {"model": model.variables, "optimizer": model.optimizer.variables}


def _remembering(callbacks: Sequence[keras.callbacks.Callback]) -> Iterator[tuple[str, Remembering]]:
    remembering = [callback for callback in callbacks if isinstance(callback, Remembering)]
    for number, callback in enumerate(remembering):
        yield f"callbacks/{number}-{type(callback).__name__}", callback


def _part(arrays: Arrays, part: str) -> dict[str, np.ndarray]:
    return {
        name.removeprefix(f"{part}/"): value for name, value in arrays.items() if name.startswith(f"{part}/")
    }


def _assign(part: str, variables: Sequence[keras.Variable], arrays: Arrays) -> None:
    values = [value for _, value in sorted(_part(arrays, part).items())]
    expected, found = [tuple(variable.shape) for variable in variables], [value.shape for value in values]
    if expected != found:
        raise ValueError(
            f"The training that is kept had other variables of the {part}: {len(found)} of the shapes "
            f"{found}, where there are {len(expected)} of the shapes {expected} now. Start afresh."
        )
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)
