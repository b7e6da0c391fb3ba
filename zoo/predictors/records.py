"""What predictors have in common that are asked with records: the bytes of files, or lines of text."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import tensorflow as tf

__all__ = ["Answered", "Read", "RecordPredictor", "RecordReader"]


class Read(NamedTuple):
    """A batch of records, as a model takes it."""

    inputs: Mapping[str, tf.Tensor]
    """By name; the batch is the first axis of all, and a row with a problem holds padding alone."""
    problem: tf.Tensor
    """(B,) strings: why there is nothing to be read in a record; empty where there is something."""


class RecordReader(Protocol):
    """From records to numbers, in graph operations that no record makes fail."""

    name: str
    """Of the input, such as `audio`."""

    def read(self, records: Any) -> Read:
        """Records (B,) as a model takes them."""

    def describe(self) -> dict[str, str]:
        """Files for people who want to review an export: name to content."""


class Answered(NamedTuple):
    """What a model says of records."""

    outputs: tf.Tensor
    """In float32; of a row with a problem it means nothing."""
    problem: tf.Tensor
    """(B,) strings, as in `Read`."""

    @property
    def blank(self) -> tf.Tensor:
        """(B,) bool: whether there was nothing to be read."""
        return self.problem != ""


class RecordPredictor(tf.Module):
    """A reader in front of a model.

    Args:
        model: takes what the reader gives, by name.
        reader: of the records, such as `SoundReader` and `NodeSetReader`.
        form: shape of what the model gives, its axes of any length as None.
    """

    def __init__(self, model: Any, reader: RecordReader, form: Sequence[int | None]) -> None:
        super().__init__()
        self.model = model
        self.reader = reader
        self.form = tuple(form)

    @property
    def inputs(self) -> dict[str, tf.TensorSpec]:
        """Of every signature: a batch of records."""
        return {self.reader.name: tf.TensorSpec([None], tf.string, name=self.reader.name)}

    def read(self, records: Any) -> Answered:
        """Records (B,) to what the model says of them.

        Raises:
            ValueError: the model gives something of another form.
        """
        read = self.reader.read(records)
        outputs = self.model(dict(read.inputs), training=False)
        if not outputs.shape.is_compatible_with(self.form):
            raise ValueError(
                f"{type(self).__name__} takes a model whose outputs have the shape {self.form}, "
                f"got {tuple(outputs.shape)} from {type(self.model).__name__}. "
                "See zoo.predictors for one that fits the model."
            )
        return Answered(tf.cast(outputs, tf.float32), read.problem)

    def assets(self) -> dict[str, str]:
        """Files for people who want to review an export: name to content."""
        return self.reader.describe()
