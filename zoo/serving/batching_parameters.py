"""How requests are gathered into batches: TensorFlow Serving's `BatchingParameters`, with its defaults."""

import os
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from google.protobuf import text_format

from zoo.serving import messages, protos

__all__ = ["Parameters", "read_parameters"]


@dataclass(frozen=True)
class Parameters:
    """Limits on batches and on those that wait.

    Attributes:
        max_batch_size: rows of the largest request and, unless `max_execution_batch_size` says less, batch.
        batch_timeout: seconds for which a batch that is not full waits for more rows.
        max_enqueued_batches: batches of one kind that may wait for a thread; further requests are refused.
        num_batch_threads: batches that run at a time.
        allowed_batch_sizes: rows to which a batch is filled up with copies, ascending; empty: any.
        pad_variable_length_inputs: whether rows of unequal shapes are padded, or refused.
        enable_large_batch_splitting: whether a request may be divided between batches.
        max_execution_batch_size: rows of the largest batch where requests may be divided; 0: as many.
    """

    max_batch_size: int = 1000
    batch_timeout: float = 0.0
    max_enqueued_batches: int = 10
    num_batch_threads: int = os.cpu_count() or 1
    allowed_batch_sizes: tuple[int, ...] = ()
    pad_variable_length_inputs: bool = False
    enable_large_batch_splitting: bool = False
    max_execution_batch_size: int = 0

    def __post_init__(self) -> None:
        for name in ("max_batch_size", "max_enqueued_batches", "num_batch_threads"):
            if getattr(self, name) < 1:
                raise messages.BAD_PARAMETER(name=name, least=1, value=getattr(self, name))
        if self.batch_timeout < 0:
            raise messages.BAD_PARAMETER(name="batch_timeout_micros", least=0, value=self.batch_timeout * 1e6)
        sizes = self.allowed_batch_sizes
        if sizes and (sizes[0] < 1 or any(low >= high for low, high in pairwise(sizes))):
            raise messages.FALLING_BATCH_SIZES()
        if sizes and sizes[-1] != self.rows:
            raise messages.LAST_BATCH_SIZE(size=sizes[-1], limit=self.rows)

    @property
    def rows(self) -> int:
        """Rows of the largest batch."""
        return (self.enable_large_batch_splitting and self.max_execution_batch_size) or self.max_batch_size

    def filled_up(self, rows: int) -> int:
        """Rows of a batch after it is filled up to the next allowed size."""
        return next((size for size in self.allowed_batch_sizes if size >= rows), rows)


def read_parameters(file: str) -> Parameters:
    """The parameters that a text file sets; the defaults where there is no file (its name is empty).

    Raises:
        RefusalError: INVALID_ARGUMENT, it holds no `BatchingParameters`, or ones that do not fit together.
        OSError: it cannot be read.
    """
    if not file:
        return Parameters()
    try:
        found = text_format.Parse(Path(file).read_bytes(), protos.BatchingParameters())
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise messages.BAD_CONFIG_FILE(path=file, problem=error) from error
    wrapped = (
        "max_batch_size",
        "max_enqueued_batches",
        "num_batch_threads",
        "enable_large_batch_splitting",
        "max_execution_batch_size",
    )
    return Parameters(
        batch_timeout=found.batch_timeout_micros.value / 1e6,
        allowed_batch_sizes=tuple(found.allowed_batch_sizes),
        pad_variable_length_inputs=found.pad_variable_length_inputs,
        **{name: getattr(found, name).value for name in wrapped if found.HasField(name)},
    )
