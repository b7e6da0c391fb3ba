"""Which numbers of two runs have to be equal.

A tensor inside a model has no labels on its axes. They are found by experiment: an axis that grows when the
inputs get more padding is time, one that grows when they get more rows is the batch. A layer that is called
more often then is called in a loop over time, and the number of the call is a position.
"""

from itertools import product
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from zoo.masking.recording import Key, Moment, Recording

__all__ = [
    "BATCH",
    "Difference",
    "Layout",
    "Probe",
    "Trial",
    "View",
    "difference",
    "mask_for",
    "numbers",
    "views",
]

BATCH = -1
"""Label of the axis of rows; an axis of time has the number of its sequence."""

Axes = tuple[int | None, ...]
"""A label for each axis; None for one that stays as it is."""


class Probe(NamedTuple):
    """A run with a larger batch, or with a longer sequence."""

    label: int
    growth: int
    recording: Recording


class Layout:
    """The labels of all tensors of a recording.

    Args:
        base: the recording.
        probes: what was tried.
        sizes: rows, and length of each sequence, by label. Where there is no probe of a label, because the
            model takes nothing larger, an axis of that size has the label.
    """

    def __init__(self, base: Recording, probes: list[Probe], sizes: dict[int, int]) -> None:
        self.base = base
        self.probes = probes
        self.sizes = sizes
        self.guessed = [label for label in sizes if label not in {probe.label for probe in probes}]
        self._axes: dict[tuple[Key, bool, int], Axes | None] = {}
        self._loops: dict[Key, Axes | None] = {}

    def axes(self, moment: Moment, leaf: int) -> Axes | None:
        """Labels of a tensor; None if it has an axis that cannot be told, such as rows times positions."""
        place = (moment.key, moment.after, leaf)
        if place not in self._axes:
            self._axes[place] = self._find_axes(moment, leaf)
        return self._axes[place]

    def loops(self, key: Key) -> Axes | None:
        """For each step of a key the sequence that it walks along; None if that cannot be told."""
        if key not in self._loops:
            self._loops[key] = self._find_loops(key)
        return self._loops[key]

    def _find_axes(self, moment: Moment, leaf: int) -> Axes | None:
        shape = moment.tensors[leaf].shape
        labels: list[int | None] = [None] * len(shape)
        for probe in self.probes:
            other = probe.recording.find(moment.key, moment.after)
            if other is None or len(other.tensors) <= leaf or other.tensors[leaf].shape.rank != len(shape):
                return None
            for axis, size in enumerate(other.tensors[leaf].shape):
                if size == shape[axis]:
                    continue
                if labels[axis] is not None or size - shape[axis] != probe.growth:
                    return None
                labels[axis] = probe.label
        for label in self.guessed:
            free = [a for a, size in enumerate(shape) if labels[a] is None and size == self.sizes[label]]
            if free:
                labels[free[0]] = label
        return tuple(labels)

    def _find_loops(self, key: Key) -> Axes | None:
        labels: list[int | None] = []
        for level, step in enumerate(key):
            place = (key[:level], step.identity)
            count = self.base.counts.get(place)
            if count is None:  # the base run called no such layer
                return None
            label = None
            for probe in self.probes:
                grown = probe.recording.counts.get(place, 0)
                if grown == count:
                    continue
                expected = (self.sizes[probe.label], probe.growth)
                if label is not None or probe.label == BATCH or (count, grown - count) != expected:
                    return None
                label = probe.label
            lengths = [i for i in self.guessed if i != BATCH and count == self.sizes[i] > 1]
            labels.append(lengths[0] if label is None and lengths else label)
        return tuple(labels)


class View(NamedTuple):
    """How a tensor may lie along a sequence."""

    reversed: bool = False
    """From the last position to the first."""
    shifted: bool = False
    """Where it is longer or shorter than the sequence, it differs at the beginning."""


class Trial(NamedTuple):
    """A run to compare with the base run."""

    recording: Recording
    judged: tuple[np.ndarray, ...]
    """(B, T) bool of each sequence: where nothing may differ."""
    offsets: tuple[int, ...]
    """How much padding came in before each sequence."""
    grown: tuple[int, ...]
    """How much padding came in altogether."""
    rows: np.ndarray
    """Which row of the base run each row is."""

    def offset(self, label: int, view: View) -> int:
        """Where the first position of the base run is now."""
        return self.grown[label] - self.offsets[label] if view.reversed else self.offsets[label]


class Difference(NamedTuple):
    """How far two runs are apart where they had to be equal; compares by `excess`."""

    excess: float
    """In tolerances: more than 1 is a leak."""
    value: float


def judged(positions: np.ndarray, size: int, view: View) -> np.ndarray:
    """Positions (B, T) for an axis of another size: (B, size)."""
    if view.reversed:
        positions = positions[:, ::-1]
    missing = size - positions.shape[1]
    if missing <= 0:
        return positions[:, -missing:] if view.shifted else positions[:, :size]
    front, back = (missing, 0) if view.shifted else (0, missing)
    grown = np.pad(positions, [(0, 0), (front, 0)], constant_values=True)
    return np.pad(grown, [(0, 0), (0, back)], constant_values=False)


def views(layout: Layout, moment: Moment, strict: bool) -> list[dict[int, View]]:
    """All ways in which the tensors of a moment may lie along the sequences they know; none if unknown."""
    loops = layout.loops(moment.key)
    if loops is None:
        return []
    sizes: dict[int, set[int]] = {label: set() for label in loops if label is not None}
    for leaf, tensor in enumerate(moment.tensors):
        for label, size in zip(layout.axes(moment, leaf) or (), tensor.shape, strict=False):
            if label is not None and label != BATCH:
                sizes.setdefault(label, set()).add(size)
    turned = (False,) if strict else (False, True)
    choices = []
    for label, found in sizes.items():
        shifted = (False, True) if found - {layout.sizes[label]} else (False,)
        choices.append([View(*flags) for flags in product(turned, shifted)])
    return [dict(zip(sizes, chosen, strict=True)) for chosen in product(*choices)]


def mask_for(
    layout: Layout, moment: Moment, leaf: int, positions: tuple[np.ndarray, ...], chosen: dict[int, View]
) -> np.ndarray | None:
    """Where a tensor is judged: bool that broadcasts to it; None if its axes are unknown.

    Without an axis of rows a position counts if it counts in every row.
    """
    axes, loops = layout.axes(moment, leaf), layout.loops(moment.key)
    if axes is None or loops is None:
        return None
    shape = moment.tensors[leaf].shape
    batch = axes.index(BATCH) if BATCH in axes else None

    def placed(mask: np.ndarray, axis: int | None) -> np.ndarray:
        """(B, size) or (B, 1) to the rank of the tensor."""
        form = [1] * len(shape)
        if batch is None:
            mask = np.logical_and.reduce(mask, axis=0, keepdims=True)
        else:
            form[batch] = len(mask)
        if axis is not None:
            form[axis] = mask.shape[1]
            if batch is not None and axis < batch:
                mask = mask.T
        return mask.reshape(form)

    found = [np.ones([1] * len(shape), bool)]
    for axis, label in enumerate(axes):
        if label is not None and label != BATCH:
            found.append(placed(judged(positions[label], shape[axis], chosen[label]), axis))
    for step, label in zip(moment.key, loops, strict=True):
        if label is not None:
            mask = judged(positions[label], layout.sizes[label], chosen[label])
            found.append(placed(mask[:, step.number : step.number + 1], None))
    return np.logical_and.reduce(np.broadcast_arrays(*found))


def difference(
    layout: Layout, moment: Moment, trial: Trial, tolerance: float, *, strict: bool = False
) -> Difference | None:
    """How far a trial is from the base run at a moment, in the view in which it is nearest.

    Args:
        layout: of the base run.
        moment: of the base run.
        trial: the other run.
        tolerance: allowed, in units of the greatest number judged or of 1, whichever is greater.
        strict: that the tensors lie as the inputs do, and are not reversed.

    Returns:
        None if there is nothing to compare.
    """
    nearest = None
    for chosen in views(layout, moment, strict):
        found = _difference(layout, moment, trial, tolerance, chosen)
        if found is not None and (nearest is None or found < nearest):
            nearest = found
        if nearest is not None and nearest.excess == 0:
            break
    return nearest


def _difference(
    layout: Layout, moment: Moment, trial: Trial, tolerance: float, chosen: dict[int, View]
) -> Difference | None:
    other = trial.recording.find(_moved(layout, moment.key, trial, chosen), moment.after)
    if other is None or len(other.tensors) != len(moment.tensors):
        return None
    found = []
    for leaf, tensor in enumerate(moment.tensors):
        mask = mask_for(layout, moment, leaf, trial.judged, chosen)
        if mask is None:
            continue
        axes = layout.axes(moment, leaf) or ()
        before, after = numbers(tensor), numbers(other.tensors[leaf])
        mask = np.broadcast_to(mask, before.shape)
        for axis, label in enumerate(axes):
            if label == BATCH:
                before, mask = np.take(before, trial.rows, axis), np.take(mask, trial.rows, axis)
            elif label is not None:
                start = trial.offset(label, chosen[label])
                after = np.take(after, np.arange(start, start + before.shape[axis]), axis, mode="clip")
        if before.shape == after.shape:
            found.append(_apart(before[mask], after[mask], tolerance))
    return max(found, default=None)


def _moved(layout: Layout, key: Key, trial: Trial, chosen: dict[int, View]) -> Key:
    """The same call in a run that walks along more positions."""
    loops = layout.loops(key) or ()
    return tuple(
        step if label is None else step._replace(number=step.number + trial.offset(label, chosen[label]))
        for step, label in zip(key, loops, strict=True)
    )


def _apart(before: np.ndarray, after: np.ndarray, tolerance: float) -> Difference:
    if not before.size:
        return Difference(0.0, 0.0)
    same = (before == after) | (np.isnan(before) & np.isnan(after))
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0.0, np.abs(before - after))
    value = float(np.nan_to_num(apart, nan=np.inf, posinf=np.inf).max())
    finite = np.abs(before[np.isfinite(before)])
    return Difference(value / (tolerance * max(1.0, finite.max(initial=0.0))), value)


def numbers(tensor: tf.Tensor) -> np.ndarray:
    """A tensor of any dtype as float64."""
    return tf.cast(tensor, tf.float64).numpy()
