"""Runs of a model under audit, and what they have in common."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import tree

from zoo.masking.alignment import BATCH, Layout, Probe, Trial, difference, mask_for, numbers, views
from zoo.masking.places import first_leak
from zoo.masking.reading import Reading, ReadInput
from zoo.masking.recording import Recording, recording
from zoo.masking.report import MaskingCheck, MaskingLeak
from zoo.masking.sequences import Inputs, noise

__all__ = ["EXTRA", "Audit", "Tried"]

EXTRA = 3
"""Positions of padding that a longer row has more."""

TOLERANCES = {"bfloat16": 5e-2, "float16": 1e-2}
"""By the lowest precision in the model; 1e-5 otherwise. Longer rows are added up in another order."""

RATES = ("rate", "stddev", "dropout", "recurrent_dropout")
"""Attributes of Keras' random layers that say how much they change."""


class Tried:
    """Collects what the trials of one check show; the first leak counts."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.leak: MaskingLeak | None = None
        self.largest: float | None = None
        self.reasons: list[str] = []

    def passed(self, value: float) -> None:
        """Something was compared, and is that far apart only."""
        self.largest = max(self.largest or 0.0, value)

    def skip(self, reason: str) -> None:
        """Something could not be compared."""
        self.reasons.append(reason)

    def result(self) -> MaskingCheck:
        """The check."""
        return MaskingCheck(self.name, self.leak, "; ".join(dict.fromkeys(self.reasons)), self.largest)


class Audit:
    """A model, its inputs, and the run that all others are compared with.

    Args:
        model: built by a first call, if it is not yet.
        inputs: with padding.
        training: as in a call of the model; nothing is dropped at random all the same.
        tolerance: None for that of the precision in which the model computes.

    Raises:
        ValueError: an output is not finite where there is no padding.
    """

    def __init__(
        self, model: keras.Model, inputs: Inputs, *, training: bool, tolerance: float | None
    ) -> None:
        self.model = model
        self.inputs = inputs
        self.training = training
        self.state = _state(model)
        self.run(inputs.arrays, training=False)  # builds what is not built
        known = {id(variable) for variable, _ in self.state}
        self.state += [pair for pair in _state(model) if id(pair[0]) not in known]
        self.base = self.run(inputs.arrays)
        self.tolerance = _tolerance(self.base) if tolerance is None else tolerance
        self.failures: dict[int, str] = {}
        self.probes = [
            probe for label in (BATCH, *range(len(inputs.sequences))) for probe in self._probe(label)
        ]
        sizes = {BATCH: inputs.batch, **{i: s.length for i, s in enumerate(inputs.sequences)}}
        self.layout = Layout(self.base, self.probes, sizes)
        self._check_finite()

    def run(
        self, arrays: Sequence[Any], *, training: bool | None = None, reading: Reading | None = None
    ) -> Recording:
        """Call the model and record it, with nothing remembered; its state is as before afterwards."""
        for memory in _memories(self.model):
            memory.assign(tf.zeros_like(memory))
        packed = self.inputs.packed([tf.convert_to_tensor(array) for array in arrays])
        try:
            with _layers_visible(), _nothing_random(self.model), recording(reading) as recorded:
                recorded.outputs = self.model(
                    packed, training=self.training if training is None else training
                )
        finally:
            for variable, value in self.state:
                variable.assign(value)
        return recorded

    @property
    def larger_batch(self) -> np.ndarray:
        """The rows from last to first, and the first once more."""
        return np.append(np.arange(self.inputs.batch)[::-1], 0)

    def _probe(self, label: int) -> Iterator[Probe]:
        """A larger run, if the model takes that; its complaint is kept otherwise."""
        arrays = self.inputs.rows(self.larger_batch) if label == BATCH else self.inputs.extended(label, EXTRA)
        try:
            yield Probe(label, 1 if label == BATCH else EXTRA, self.run(arrays))
        except Exception as error:  # whatever a model says to a length that it was not made for
            self.failures[label] = next(iter(str(error).splitlines()), type(error).__name__)

    def _check_finite(self) -> None:
        for leaf, mask in self.real_outputs():
            if not np.isfinite(numbers(self.base.end.tensors[leaf])[mask]).all():
                raise ValueError(
                    "The model gives numbers that are not finite where there is no padding; "
                    "mend that first, or give inputs that it is made for."
                )

    def real_outputs(self) -> list[tuple[int, np.ndarray]]:
        """Number of each output, and where it is not at padding: bool of its shape."""
        end, found = self.base.end, []
        for leaf, tensor in enumerate(end.tensors):
            chosen = views(self.layout, end, True)
            mask = mask_for(self.layout, end, leaf, self.inputs.reals, chosen[0]) if chosen else None
            if mask is not None:
                found.append((leaf, np.broadcast_to(mask, tensor.shape)))
        return found

    def trial(
        self,
        recorded: Recording,
        *,
        judged: tuple[np.ndarray, ...] | None = None,
        longer: int | None = None,
        rows: np.ndarray | None = None,
    ) -> Trial:
        """A run to compare with the base run.

        Args:
            recorded: the run.
            judged: where nothing may differ; None for everywhere but at padding.
            longer: the sequence that has got more padding.
            rows: the rows of the base run that it has; None for the same.
        """
        sequences = self.inputs.sequences
        grown = tuple(EXTRA if i == longer else 0 for i in range(len(sequences)))
        offsets = tuple(
            size if sequence.side == "left" else 0 for size, sequence in zip(grown, sequences, strict=True)
        )
        rows = np.arange(self.inputs.batch) if rows is None else rows
        return Trial(recorded, judged or self.inputs.reals, offsets, grown, rows)

    def compare(self, trial: Trial, tried: Tried, done: str) -> None:
        """Compare outputs, and look for the layer to blame if they differ.

        Args:
            trial: what to compare with the base run.
            tried: where to write what is found.
            done: what was done to the inputs, in words.
        """
        if tried.leak is not None:
            return
        apart = difference(self.layout, self.base.end, trial, self.tolerance, strict=True)
        if apart is None:
            tried.skip("the outputs have a form that cannot be compared")
        elif apart.excess <= 1:
            tried.passed(apart.value)
        else:
            tried.leak = first_leak(self.base, self._differs(trial), apart.value, done)

    def _differs(self, trial: Trial) -> Callable[[Any], bool]:
        def differs(moment) -> bool:
            apart = difference(self.layout, moment, trial, self.tolerance)
            return apart is not None and apart.excess > 1

        return differs

    def reading(self, change: Callable[[int, tf.Tensor, np.ndarray], tf.Tensor]) -> Reading:
        """A change of what the first layers make of the inputs."""
        inputs = self.inputs
        return Reading(
            tuple(
                ReadInput(k, inputs.arrays[k], sequence.real)
                for sequence in inputs.sequences
                for k in sequence.inputs
            ),
            change,
        )

    def other_padding(self, sequence: int) -> tuple[Recording, bool]:
        """A run with noise where a sequence has padding: in inputs that are free there, and in what the first
        layers make of the others; and whether there was any such place."""
        chosen = self.inputs.sequences[sequence]
        arrays, places = list(self.inputs.arrays), []
        for k in chosen.inputs:
            if self.inputs.is_free(k):
                array = arrays[k] = arrays[k].copy()
                array[~chosen.real] = noise(array[~chosen.real].shape, array[chosen.real])
                places.append(k)

        def change(k: int, outputs: tf.Tensor, padding: np.ndarray) -> tf.Tensor:
            if k not in chosen.inputs or k in places:
                return outputs
            heard.append(k)
            values = numbers(outputs)
            values[padding] = noise(values[padding].shape, values[~padding])
            return tf.cast(values, outputs.dtype)

        heard: list[int] = []
        recorded = self.run(arrays, reading=self.reading(change))
        return recorded, bool(places or heard)


def _state(model: keras.Model) -> list[tuple[Any, np.ndarray]]:
    """What a call may change: moving statistics, seeds, and the states of stateful layers."""
    return [(variable, variable.numpy()) for variable in [*model.non_trainable_variables, *_memories(model)]]


def _memories(model: keras.Model) -> list[Any]:
    """What stateful layers remember of each row from call to call, which Keras does not count as weights."""
    stateful = [layer for layer in model._flatten_layers() if getattr(layer, "stateful", False)]
    states = tree.flatten([getattr(layer, "states", None) for layer in stateful])
    return [state for state in states if state is not None]


def _tolerance(base: Recording) -> float:
    dtypes = {tensor.dtype.name for moment in base.moments for tensor in moment.tensors}
    return max((TOLERANCES[name] for name in dtypes & TOLERANCES.keys()), default=1e-5)


@contextmanager
def _layers_visible() -> Iterator[None]:
    """Run what is in a `tf.function` without a graph: layers in a graph have no numbers to record."""
    before = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(before)


@contextmanager
def _nothing_random(model: keras.Model) -> Iterator[None]:
    """Set the rates of all layers that draw random numbers to zero."""
    changed = [
        (layer, name, vars(layer)[name])
        for layer in model._flatten_layers()
        if "seed_generator" in vars(layer)
        for name in RATES
        if isinstance(vars(layer).get(name), float)
    ]
    try:
        for layer, name, _ in changed:
            setattr(layer, name, 0.0)
        yield
    finally:
        for layer, name, rate in changed:
            setattr(layer, name, rate)
