"""What every layer was given, and what it gave, during a call of a model."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import keras
import tensorflow as tf
from keras import tree

from zoo.masking.reading import Reading

__all__ = ["Key", "Moment", "Recording", "Step", "recording"]


class Step(NamedTuple):
    """A call of a layer, seen from the layer around it."""

    name: str
    identity: int
    """Of the layer: two layers may have the same name. Of its class, if it was made during the call."""
    number: int
    """How often the layer around it had called it before; of those made during the call, any of its class."""


Key = tuple[Step, ...]
"""A call of a layer, from the model down to it; the same in every run that calls the same."""


class Moment(NamedTuple):
    """Just before a layer's call, or just after."""

    key: Key
    after: bool
    kind: str
    """Name of the layer's class."""
    tensors: list[tf.Tensor]
    masked: bool
    """Whether a mask was with them: attached by Keras, or a bool tensor (B, T) or larger."""

    @property
    def path(self) -> str:
        """Names of the layers, the model's own left out but for the model itself."""
        return "/".join(step.name for step in self.key[1:]) or self.key[0].name


@dataclass
class Recording:
    """All moments of a call, in their order; and what the model gave."""

    moments: list[Moment] = field(default_factory=list)
    counts: dict[tuple[Key, int], int] = field(default_factory=dict)
    """How often a call of a layer called another, by its key and the other's identity."""
    outputs: Any = None

    def __post_init__(self) -> None:
        self._index: dict[tuple[Key, bool], Moment] = {}

    def add(self, moment: Moment) -> None:
        """Append."""
        self.moments.append(moment)
        self._index[moment.key, moment.after] = moment

    def find(self, key: Key, after: bool) -> Moment | None:
        """A moment by what it is."""
        return self._index.get((key, after))

    @property
    def end(self) -> Moment:
        """When the model had given its outputs."""
        return self.moments[-1]


class _Frame(NamedTuple):
    key: Key
    read: set[int]
    """Inputs that were read inside."""


class _Recorder:
    """Stands between a layer and its caller, in one thread and outside of graphs."""

    def __init__(self, reading: Reading | None) -> None:
        self.recording = Recording()
        self.reading = reading
        self.thread = threading.get_ident()
        self.frames: list[_Frame] = []
        self.made: dict[int, keras.Operation] = {}

    def make(self, layer: keras.Operation) -> None:
        """A layer is made while we record: the next run will have another in its place."""
        self.made[id(layer)] = layer  # kept, so that no other one gets its identity

    def call(self, original: Callable, layer: keras.Operation, args: tuple, kwargs: dict) -> Any:
        if threading.get_ident() != self.thread or not tf.executing_eagerly():
            return original(layer, *args, **kwargs)
        frame = _Frame(self._key(layer), set())
        given = _tensors((args, kwargs))
        self._note(frame.key, False, layer, given)
        self.frames.append(frame)
        try:
            outputs = original(layer, *args, **kwargs)
        finally:
            self.frames.pop()
        if self.frames:
            outputs = self._read(frame, given, outputs)
        self._note(frame.key, True, layer, _tensors(outputs))
        return outputs

    def _key(self, layer: keras.Operation) -> Key:
        parent = self.frames[-1].key if self.frames else ()
        name, identity = layer.name, id(layer)
        if identity in self.made:  # Keras has numbered its name
            name, identity = re.sub(r"_\d+$", "", name), id(type(layer))
        before = self.recording.counts.get((parent, identity), 0)
        self.recording.counts[parent, identity] = before + 1
        return (*parent, Step(name, identity, before))

    def _note(self, key: Key, after: bool, layer: keras.Operation, tensors: list[tf.Tensor]) -> None:
        masked = any(
            mask_of(tensor) is not None or (tensor.dtype == tf.bool and tensor.shape.rank > 1)
            for tensor in tensors
        )
        self.recording.add(Moment(key, after, type(layer).__name__, tensors, masked))

    def _read(self, frame: _Frame, given: list[tf.Tensor], outputs: Any) -> Any:
        """Change what the innermost layer made of an input; what its callers make of that is left alone."""
        if self.reading is not None:
            for k, padding in self.reading.places(given, outputs):
                if k not in frame.read:
                    mask = mask_of(outputs)
                    outputs = self.reading.change(k, outputs, padding)
                    if mask is not None:
                        outputs._keras_mask = mask
                    frame.read.add(k)
        self.frames[-1].read.update(frame.read)
        return outputs


def mask_of(tensor: tf.Tensor) -> tf.Tensor | None:
    """The mask that Keras attached."""
    return getattr(tensor, "_keras_mask", None)


def _tensors(structure: Any) -> list[tf.Tensor]:
    """Those that hold numbers."""
    leaves = [leaf for leaf in tree.flatten(structure) if isinstance(leaf, tf.Tensor)]
    return [leaf for leaf in leaves if leaf.dtype.is_floating or leaf.dtype.is_integer or leaf.dtype.is_bool]


@contextmanager
def recording(reading: Reading | None = None) -> Iterator[Recording]:
    """Record all calls of layers in this thread, until the context is left.

    Operations of functional models, such as `a + b` of two Keras tensors, are recorded too, and so are the
    few of `keras.ops` that are objects wherever they are used, such as `pad`.
    """
    recorder = _Recorder(reading)
    layer_call, operation_call = keras.layers.Layer.__call__, keras.Operation.__call__
    operation_init = keras.Operation.__init__

    def init_operation(self, *args, **kwargs):
        recorder.make(self)
        return operation_init(self, *args, **kwargs)

    def call_layer(self, *args, **kwargs):
        return recorder.call(layer_call, self, args, kwargs)

    def call_operation(self, *args, **kwargs):
        if isinstance(self, keras.layers.Layer):  # its own call is recorded already
            return operation_call(self, *args, **kwargs)
        return recorder.call(operation_call, self, args, kwargs)

    keras.layers.Layer.__call__, keras.Operation.__call__ = call_layer, call_operation
    keras.Operation.__init__ = init_operation
    try:
        yield recorder.recording
    finally:
        keras.layers.Layer.__call__, keras.Operation.__call__ = layer_call, operation_call
        keras.Operation.__init__ = operation_init
