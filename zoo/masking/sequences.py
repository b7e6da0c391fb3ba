"""Which inputs of a model run over time, and where they are padding."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from keras import tree

__all__ = ["Inputs", "PaddedSequence", "read_inputs"]

NOISE = 10.0
"""Size of what is put where padding was, in standard deviations of what is real."""


class PaddedSequence(NamedTuple):
    """Inputs that share one axis of time."""

    inputs: tuple[int, ...]
    """Their numbers."""
    real: np.ndarray
    """(B, T) bool, False at padding."""
    has_mask: bool
    """Whether one of the inputs is a mask, so that what stands at padding is free."""

    @property
    def length(self) -> int:
        """T."""
        return self.real.shape[1]

    @property
    def side(self) -> str:
        """Where padding is, `left` or `right`; `right` if there is none, or if it is anywhere."""
        rises = bool((self.real[:, :-1] <= self.real[:, 1:]).all())
        return "left" if rises and not self.real.all() else "right"


@dataclass(frozen=True)
class Inputs:
    """The inputs of a model as a list, with what is known of each.

    Attributes:
        structure: as the model takes them.
        names: keys of the dictionary, numbers of a list, `inputs` for a single array.
        arrays: each (B, ...).
        fills: what a longer row is filled up with, by input; None repeats the last position.
        sequences: the axes of time.
    """

    structure: Any
    names: tuple[str, ...]
    arrays: tuple[np.ndarray, ...]
    fills: tuple[float | None, ...]
    sequences: tuple[PaddedSequence, ...]

    @property
    def batch(self) -> int:
        """B."""
        return len(self.arrays[0])

    @property
    def reals(self) -> tuple[np.ndarray, ...]:
        """(B, T) bool of each sequence."""
        return tuple(sequence.real for sequence in self.sequences)

    def sequence_of(self, index: int) -> int | None:
        """Number of the sequence that an input belongs to."""
        return next((i for i, sequence in enumerate(self.sequences) if index in sequence.inputs), None)

    def title(self, sequence: int) -> str:
        """What to call a sequence."""
        return ", ".join(self.names[k] for k in self.sequences[sequence].inputs)

    def packed(self, arrays: Sequence[Any]) -> Any:
        """Arrays as the model takes them."""
        return tree.pack_sequence_as(self.structure, list(arrays))

    def rows(self, order: np.ndarray) -> list[np.ndarray]:
        """Other rows, or the same in another order."""
        return [array[order] for array in self.arrays]

    def extended(self, sequence: int, extra: int) -> list[np.ndarray]:
        """With so many more positions of padding, on the side where padding is."""
        chosen = self.sequences[sequence]
        arrays = list(self.arrays)
        for k in chosen.inputs:
            arrays[k] = extend(arrays[k], extra, chosen.side, self.fills[k])
        return arrays

    def is_free(self, index: int) -> bool:
        """Whether an input may hold anything at padding: numbers beside a mask of their own."""
        sequence = self.sequence_of(index)
        array = self.arrays[index]
        return sequence is not None and self.sequences[sequence].has_mask and array.dtype.kind == "f"

    def future_changed(self, index: int, cut: int) -> list[np.ndarray]:
        """With another content of one input from position `cut` on; padding stays."""
        sequence = self.sequence_of(index)
        assert sequence is not None
        real = self.sequences[sequence].real.copy()
        real[:, :cut] = False
        arrays = list(self.arrays)
        arrays[index] = changed(arrays[index], real, among=self.sequences[sequence].real)
        return arrays


def extend(array: np.ndarray, extra: int, side: str, fill: float | None) -> np.ndarray:
    """An array (B, T, ...) to (B, T + extra, ...)."""
    widths = [(0, 0)] * array.ndim
    widths[1] = (extra, 0) if side == "left" else (0, extra)
    if fill is None:
        return np.pad(array, widths, mode="edge")
    return np.pad(array, widths, constant_values=np.asarray(fill, array.dtype))


def changed(array: np.ndarray, where: np.ndarray, among: np.ndarray) -> np.ndarray:
    """An array (B, T, ...) that differs at the chosen positions (B, T).

    Whole numbers become the next greater one of those that occur at `among`, so they stay ids that the model
    knows; other numbers get noise added.
    """
    result = array.copy()
    if array.dtype.kind == "f":
        result[where] += noise(array[where].shape, array[among]).astype(array.dtype)
        return result
    known = np.unique(array[among])
    if len(known) > 1:
        result[where] = known[(np.searchsorted(known, array[where]) + 1) % len(known)]
    return result


def noise(shape: tuple[int, ...], like: np.ndarray) -> np.ndarray:
    """The same random numbers each time, far from zero in the measure of others."""
    spread = max(1.0, float(np.std(like.astype("float64"))) if like.size else 1.0)
    return np.random.default_rng(0).normal(0.0, NOISE * spread, shape)


def read_inputs(inputs: Any, padding: float | Mapping[str, float], masks: Sequence[str]) -> Inputs:
    """Find the axes of time, and padding on them.

    Args:
        inputs: arrays (B, ...), in any structure.
        padding: what marks padding, for all inputs or by name.
        masks: names of inputs that are masks though they are not bool.

    Raises:
        ValueError: a name that there is not, batches of different sizes, texts, a mask that is not (B, T), a
            mask that could belong to several inputs, or no padding at all.
    """
    names = tuple("/".join(map(str, path)) or "inputs" for path, _ in tree.flatten_with_path(inputs))
    arrays = tuple(np.asarray(leaf) for leaf in tree.flatten(inputs))
    by_name = padding if isinstance(padding, Mapping) else {}
    known_names(names, by_name, "padding")
    known_names(names, masks, "masks")
    _check_arrays(names, arrays)
    is_mask = [array.dtype == bool or name in masks for name, array in zip(names, arrays, strict=True)]
    fills: list[float | None] = []
    for k, (name, array) in enumerate(zip(names, arrays, strict=True)):
        only = len(arrays) == 1 or name in by_name
        general = None if isinstance(padding, Mapping) or not _runs(array, only) else padding
        fills.append(0 if is_mask[k] else by_name.get(name, general))
    sequences = _sequences(names, arrays, fills, is_mask)
    return Inputs(inputs, names, arrays, tuple(fills), sequences)


def known_names(names: Sequence[str], asked: Sequence[str] | Mapping[str, Any], argument: str) -> None:
    """Complain of a name that no input has."""
    for name in asked:
        if name not in names:
            raise ValueError(f"{argument} names {name!r}, but the inputs are {', '.join(names)}.")


def _check_arrays(names: Sequence[str], arrays: Sequence[np.ndarray]) -> None:
    for name, array in zip(names, arrays, strict=True):
        if array.dtype.kind not in "fiub":
            raise ValueError(
                f"{name} has dtype {array.dtype}; give numbers: ids for tokens, floats, a bool mask."
            )
        if array.ndim == 0 or len(array) != len(arrays[0]):
            raise ValueError(
                f"{name} has shape {array.shape}, {names[0]} has shape {arrays[0].shape}; "
                "give the same number of rows to all."
            )


def _runs(array: np.ndarray, only: bool) -> bool:
    """Whether axis 1 looks like time: ids (B, T), or numbers (B, T, D), or (B, T) if they come alone."""
    return array.ndim >= (2 if only or array.dtype.kind != "f" else 3)


class _Draft(NamedTuple):
    """A sequence in the making."""

    real: np.ndarray
    inputs: list[int]
    masks: list[int]


def _sequences(names, arrays, fills, is_mask) -> tuple[PaddedSequence, ...]:
    """Inputs with equal padding are one sequence; those without any follow a mask of their length, and have
    no number that fills them up."""
    drafts: list[_Draft] = []
    without = []
    for k, (array, fill) in enumerate(zip(arrays, fills, strict=True)):
        real = None if fill is None else _real(names[k], array, fill, is_mask[k])
        if real is None or real.all():
            without.append((k, real))
            continue
        equal = [draft for draft in drafts if np.array_equal(draft.real, real)]
        draft = equal[0] if equal else _Draft(real, [], [])
        drafts += [] if equal else [draft]
        draft.inputs.append(k)
        draft.masks.extend([k] if is_mask[k] else [])
    if not drafts:
        raise ValueError(
            f"There is no padding in {', '.join(names)}: give rows of different lengths, filled up with what "
            "`padding` says (0 unless given), or a bool mask (B, T) among the inputs."
        )
    for k, real in without:
        if _follow(k, real, arrays[k], names, drafts):
            fills[k] = None
    return tuple(PaddedSequence(tuple(d.inputs), d.real, bool(d.masks)) for d in drafts)


def _real(name: str, array: np.ndarray, fill: float, is_mask: bool) -> np.ndarray:
    """(B, T) bool: where not all features are what marks padding."""
    if array.ndim < 2 or (is_mask and array.ndim != 2):
        expected = "a mask (B, T), True where a token is" if is_mask else "(B, T) or (B, T, ...)"
        raise ValueError(f"{name} has shape {array.shape}; expected {expected}.")
    return (array != fill).reshape(*array.shape[:2], -1).any(axis=-1)


def _follow(k: int, real: np.ndarray | None, array: np.ndarray, names, drafts: list[_Draft]) -> bool:
    """An input that shows no padding itself: it has that of a mask, or it is full, or not over time.

    Returns:
        Whether it has that of a mask, or of another input.
    """
    if not _runs(array, only=real is not None):
        return False
    fitting = [draft for draft in drafts if draft.real.shape[1] == array.shape[1]]
    if real is not None:
        fitting = [draft for draft in fitting if draft.masks]
    if len(fitting) > 1:
        both = " or ".join(names[draft.inputs[0]] for draft in fitting)
        raise ValueError(
            f"The padding of {names[k]} could be that of {both}; give those different lengths, "
            "or mark padding by a number that is not in the rows."
        )
    if fitting:
        fitting[0].inputs.append(k)
    elif real is not None:
        drafts.append(_Draft(real, [k], []))
    return bool(fitting)
