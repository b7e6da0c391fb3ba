"""The checks of an audit, one function each."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from keras import tree

from zoo.masking.alignment import BATCH, View, mask_for, views
from zoo.masking.audit import EXTRA, Audit, Tried
from zoo.masking.places import first_leak
from zoo.masking.recording import Moment, Recording
from zoo.masking.report import MaskingCheck, MaskingLeak
from zoo.masking.sequences import changed, extend

__all__ = [
    "Labels",
    "future_unseen",
    "gradients_at_padding_zero",
    "loss_ignores_padding",
    "padding_content_ignored",
    "padding_ignored",
    "rows_independent",
]

CUTS = 4
"""How many positions are tried as the beginning of the future."""

UNREAD = "no layer reads {}, so nothing can be put where it has padding"


def padding_ignored(audit: Audit) -> MaskingCheck:
    """More padding changes nothing."""
    tried = Tried("padding ignored")
    for probe in audit.probes:
        if probe.label != BATCH:
            title = audit.inputs.title(probe.label)
            trial = audit.trial(probe.recording, longer=probe.label)
            audit.compare(trial, tried, f"{EXTRA} more positions of padding in {title}")
    for label, complaint in audit.failures.items():
        if label != BATCH:
            tried.skip(f"the model takes no longer {audit.inputs.title(label)}: {complaint}")
    return tried.result()


def padding_content_ignored(audit: Audit) -> MaskingCheck:
    """Whatever stands at padding changes nothing."""
    tried = Tried("padding content ignored")
    for i, sequence in enumerate(audit.inputs.sequences):
        if sequence.real.all():
            continue
        recorded, was_changed = audit.other_padding(i)
        title = audit.inputs.title(i)
        if was_changed:
            audit.compare(audit.trial(recorded), tried, f"noise at the padding of {title}")
        else:
            tried.skip(UNREAD.format(title))
    return tried.result()


def rows_independent(audit: Audit) -> MaskingCheck:
    """Other companions, and another order, change nothing."""
    tried = Tried("rows independent")
    batch = audit.inputs.batch
    if batch == 1:
        tried.skip("there is one row alone")
        return tried.result()
    halves = [np.arange(batch // 2), np.arange(batch // 2, batch)]
    runs = {"the rows in another order": audit.larger_batch, "half of the rows": halves[0]}
    runs["the other half of the rows"] = halves[1]
    if BATCH in audit.failures:
        tried.skip(f"the model takes no other number of rows: {audit.failures[BATCH]}")
        runs = {"the rows in another order": np.arange(batch)[::-1]}
    for done, order in runs.items():
        audit.compare(audit.trial(audit.run(audit.inputs.rows(order)), rows=order), tried, done)
    return tried.result()


def future_unseen(audit: Audit, causal: Sequence[str]) -> MaskingCheck:
    """A position does not depend on later ones of the same input."""
    tried = Tried("future unseen")
    if not causal:
        tried.skip("give `causal`, the names of inputs whose future must not be seen")
    end = audit.base.end
    outputs = {label for leaf in range(len(end.tensors)) for label in audit.layout.axes(end, leaf) or ()}
    for name in causal:
        index = audit.inputs.names.index(name)
        sequence = audit.inputs.sequence_of(index)
        if sequence is None or sequence not in outputs:
            tried.skip(f"the outputs do not run along {name}")
            continue
        length = audit.inputs.sequences[sequence].length
        for cut in np.unique(np.linspace(1, length - 1, CUTS).astype(int)) if length > 1 else ():
            recorded = audit.run(audit.inputs.future_changed(index, cut))
            judged = [real.copy() for real in audit.inputs.reals]
            judged[sequence][:, cut:] = False
            done = f"other {name} from position {cut} on"
            audit.compare(audit.trial(recorded, judged=tuple(judged)), tried, done)
    return tried.result()


class Labels:
    """Labels and weights of the loss that a model was compiled with.

    Args:
        audit: of the model.
        labels: as for `fit`.
        weights: sample weights, as for `fit`, or None.

    Raises:
        ValueError: the model was not compiled.
    """

    def __init__(self, audit: Audit, labels: Any, weights: Any | None) -> None:
        if not audit.model.compiled:
            raise ValueError(
                "The loss can be audited after `model.compile(loss=...)`; compile, or give no labels."
            )
        self.audit = audit
        self.labels = tree.map_structure(np.asarray, labels)
        self.weights = None if weights is None else tree.map_structure(np.asarray, weights)

    def loss(self, outputs: Any, labels: Any = None, weights: Any = None) -> tf.Tensor:
        """The loss of outputs, () float; labels and weights as given unless others are."""
        return self.audit.model.compute_loss(
            y=self.labels if labels is None else labels,
            y_pred=outputs,
            sample_weight=self.weights if weights is None else weights,
            training=self.audit.training,
        )

    def sequence(self, label: np.ndarray) -> int | None:
        """Which sequence an array (B, T, ...) runs along: the outputs run along it too."""
        end = self.audit.base.end
        for leaf in range(len(end.tensors)):
            axes = self.audit.layout.axes(end, leaf) or ()
            along = axes[1] if len(axes) > 1 else None
            if along is not None and label.shape[1:2] == (self.audit.layout.sizes[along],):
                return along
        return None

    def extended(self, structure: Any, sequence: int) -> Any:
        """Labels or weights with zeros where there is more padding."""
        side = self.audit.inputs.sequences[sequence].side

        def longer(array: np.ndarray) -> np.ndarray:
            return extend(array, EXTRA, side, 0) if self.sequence(array) == sequence else array

        return None if structure is None else tree.map_structure(longer, structure)

    def others_at_padding(self) -> Any | None:
        """Labels that are others at padding; None if there are no labels at padding."""
        places = []

        def other(array: np.ndarray) -> np.ndarray:
            sequence = self.sequence(array)
            if sequence is None:
                return array
            places.append(sequence)
            real = self.audit.inputs.sequences[sequence].real
            return changed(array, ~real, among=np.ones_like(real))

        found = tree.map_structure(other, self.labels)
        return found if places else None

    def runs(self) -> Iterator[tuple[str, Recording, int | None, tf.Tensor]]:
        """What was done, the run, the sequence made longer, and the loss."""
        audit = self.audit
        if (labels := self.others_at_padding()) is not None:
            yield "other labels at padding", audit.base, None, self.loss(audit.base.outputs, labels)
        for i, sequence in enumerate(audit.inputs.sequences):
            if not sequence.real.all():
                recorded, _ = audit.other_padding(i)
                done = f"noise at the padding of {audit.inputs.title(i)}"
                yield done, recorded, None, self.loss(recorded.outputs)
        for probe in audit.probes:
            if probe.label != BATCH:
                longer = (self.extended(part, probe.label) for part in (self.labels, self.weights))
                done = f"{EXTRA} more positions of padding in {audit.inputs.title(probe.label)}"
                yield done, probe.recording, probe.label, self.loss(probe.recording.outputs, *longer)


def loss_ignores_padding(audit: Audit, labels: Labels | None) -> MaskingCheck:
    """Neither labels nor outputs at padding change the loss, nor does more padding."""
    tried = Tried("loss ignores padding")
    if labels is None:
        tried.skip("give `labels`, and `weights` if the loss is weighted")
        return tried.result()
    before = float(labels.loss(audit.base.outputs))
    for done, recorded, longer, loss in labels.runs():
        apart = abs(float(loss) - before)
        if apart <= audit.tolerance * max(1.0, abs(before)):
            tried.passed(apart)
            continue
        inside = Tried(tried.name)
        audit.compare(audit.trial(recorded, longer=longer), inside, done)
        tried.leak = inside.leak or MaskingLeak("loss", _loss_kind(audit), apart, done)
        break
    return tried.result()


def _loss_kind(audit: Audit) -> str:
    loss = audit.model.loss
    return loss if isinstance(loss, str) else type(loss).__name__


def gradients_at_padding_zero(audit: Audit, labels: Labels | None) -> MaskingCheck:
    """Neither outputs nor loss have a gradient with respect to what stands at padding."""
    tried = Tried("gradients at padding zero")
    watched: list[tuple[tf.Tensor, np.ndarray]] = []

    def watch(k: int, outputs: tf.Tensor, padding: np.ndarray) -> tf.Tensor:
        tape.watch(outputs)
        watched.append((outputs, padding))
        return outputs

    with tf.GradientTape(persistent=True) as tape:
        arrays = [tf.convert_to_tensor(array) for array in audit.inputs.arrays]
        for sequence in audit.inputs.sequences:
            for k in sequence.inputs:
                if arrays[k].dtype.is_floating:
                    watch(k, arrays[k], ~sequence.real)
        recorded = audit.run(arrays, reading=audit.reading(watch))
        outputs = [(recorded.end.tensors[leaf], mask) for leaf, mask in audit.real_outputs()]
        target = _mixed(outputs)
        loss = None if labels is None else labels.loss(recorded.outputs)

    def at_padding(total: tf.Tensor) -> tuple[float, bool]:
        gradients = tape.gradient(total, [tensor for tensor, _ in watched])
        return _largest(audit, [padding for _, padding in watched], gradients)

    if not watched:
        tried.skip(UNREAD.format("the inputs"))
        return tried.result()
    value, leaks = at_padding(target)
    if leaks:
        differs = _leaks_by_gradient(audit, recorded, tape, at_padding)
        tried.leak = first_leak(recorded, differs, value, "gradient of the outputs")
        return tried.result()
    tried.passed(value)
    if loss is not None:
        value, leaks = at_padding(loss)
        tried.passed(value)
        if leaks:
            tried.leak = MaskingLeak("loss", _loss_kind(audit), value, "gradient of the loss")
    return tried.result()


def _mixed(parts: list[tuple[tf.Tensor, np.ndarray]]) -> tf.Tensor:
    """One number () float32 that depends on every judged number in its own way."""
    total = tf.zeros(())
    for tensor, mask in parts:
        if tensor.dtype.is_floating:
            factors = np.random.default_rng(0).uniform(0.5, 1.5, tensor.shape)
            chosen = tf.where(mask, tf.cast(tensor, tf.float32), 0.0)
            total += tf.reduce_sum(chosen * tf.cast(factors, tf.float32))
    return total


def _largest(audit: Audit, masks: list[np.ndarray], gradients: list) -> tuple[float, bool]:
    """The largest gradient at padding, where the masks are True, and whether that is more than rounding."""
    padding, real = [0.0], [0.0]
    for mask, gradient in zip(masks, gradients, strict=True):
        if gradient is not None:
            values = np.abs(tf.cast(gradient, tf.float64).numpy())
            padding.append(np.nan_to_num(values[mask], nan=np.inf).max(initial=0.0))
            real.append(np.nan_to_num(values[~mask], nan=0.0).max(initial=0.0))
    return float(max(padding)), max(padding) > audit.tolerance * max(real)


def _leaks_by_gradient(audit: Audit, recorded: Recording, tape, at_padding) -> Callable[[Moment], bool]:
    """Whether judged numbers at a moment depend on padding, in every view."""

    def leaks(moment: Moment) -> bool:
        chosen = views(audit.layout, moment, False)
        return bool(chosen) and all(depends(moment, view) for view in chosen)

    def depends(moment: Moment, chosen: dict[int, View]) -> bool:
        parts = []
        with tape:
            for leaf, tensor in enumerate(moment.tensors):
                mask = mask_for(audit.layout, moment, leaf, audit.inputs.reals, chosen)
                if mask is not None:
                    parts.append((tensor, np.broadcast_to(mask, tensor.shape)))
            total = _mixed(parts)
        return at_padding(total)[1]

    return leaks
