"""Runs the rows of concurrent requests together, as TensorFlow Serving's `--enable_batching` does.

A `Batcher` has a few threads. Requests for the same inputs and outputs of the same version queue up in
batches; a batch is run when it is full, or has waited long enough, and a thread is free.

Clients that were answered together ask again together, a moment later. So a batch waits for as many new rows
as were answered, for a tenth of the time that their run took: otherwise the first to come back would run
alone, and the others would wait for it. A client that is alone never waits.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tensorflow.core.protobuf.meta_graph_pb2 import SignatureDef

from zoo.serving import messages
from zoo.serving.batches import Tensors, divide, merge, rows_of
from zoo.serving.batching_parameters import Parameters
from zoo.serving.loader import Servable
from zoo.serving.messages import RefusalError

__all__ = ["BatchedServable", "Batcher"]

_SHARE_WAITED = 0.1
"""How long a batch waits for those who were just answered, over the time that their run took; no more than
that is lost where nobody comes back."""


class _Kind(NamedTuple):
    """What requests must have in common to share a batch: tensors in with their dtypes, and tensors out."""

    inputs: tuple[tuple[str, str, str], ...]
    outputs: tuple[tuple[str, str], ...]


@dataclass
class _Task:
    """Rows of a request, all of them or, where it was divided, some; `done` gets their outputs."""

    inputs: Tensors
    rows: int
    deadline: float
    done: "Future[Tensors]" = field(default_factory=Future)


@dataclass
class _Batch:
    """Tasks that run together. It opens with its first."""

    tasks: list[_Task] = field(default_factory=list)
    rows: int = 0
    opened: float = field(default_factory=time.monotonic)

    def add(self, task: _Task) -> None:
        self.tasks.append(task)
        self.rows += task.rows


@dataclass
class _Queue:
    """The batches of one kind that wait; only the last may take in more.

    Attributes:
        to_come_back: how many rows of the last batch have not been followed by another one since.
        waits_until: how long these are waited for, on the clock of `time.monotonic`.
    """

    run: Callable[[Tensors, float | None], Tensors]
    tensors: Mapping[str, str]
    batches: deque[_Batch] = field(default_factory=deque)
    to_come_back: int = 0
    waits_until: float = -np.inf

    def ready_at(self, batch_timeout: float) -> float:
        """When the first batch, if it does not fill up, has waited long enough."""
        due = self.batches[0].opened + batch_timeout
        return max(due, self.waits_until) if self.to_come_back > 0 else due


class Batcher:
    """The threads that run batches, for any number of servables. Nothing runs before `start`.

    Args:
        parameters: the limits.
        on_batch: called for each batch that is run.
    """

    def __init__(self, parameters: Parameters, *, on_batch: Callable[[], None] = lambda: None) -> None:
        self._parameters = parameters
        self._on_batch = on_batch
        self._waiting: deque[_Queue] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._threads: list[threading.Thread] = []

    def start(self) -> "Batcher":
        """Start the threads."""
        self._threads = [
            threading.Thread(target=self._work, name=f"zoo-serving-batch-{number}", daemon=True)
            for number in range(self._parameters.num_batch_threads)
        ]
        for thread in self._threads:
            thread.start()
        return self

    def wrap(self, servable: Servable) -> "BatchedServable":
        """A servable that runs its requests in batches."""
        return BatchedServable(servable, self)

    def run(self, queue: _Queue, inputs: Tensors, rows: int, timeout: float | None) -> Tensors:
        """Have rows run with others; blocks until they are.

        Raises:
            RefusalError: as `BatchedServable.run` says.
        """
        if rows > self._parameters.max_batch_size:
            raise messages.TASK_TOO_LARGE(size=rows, limit=self._parameters.max_batch_size)
        deadline = np.inf if timeout is None else time.monotonic() + timeout
        with self._changed:
            tasks = self._enqueue(queue, inputs, rows, deadline)
            self._changed.notify()
        parts = [task.done.result() for task in tasks]
        if len(parts) == 1:
            return parts[0]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def close(self) -> None:
        """Run what waits, then end the threads; further requests are refused."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _enqueue(self, queue: _Queue, inputs: Tensors, rows: int, deadline: float) -> list[_Task]:
        """Put rows into the open batch and into new ones, or refuse all of them."""
        if self._closed:
            raise messages.CLOSED()
        batches = queue.batches
        room = self._parameters.rows - batches[-1].rows if batches else 0
        sizes = self._shares(rows, room)
        fresh = len(sizes) - (sizes[0] <= room)
        limit = self._parameters.max_enqueued_batches
        if len(batches) + fresh > limit:
            raise messages.QUEUE_FULL(batches=len(batches), limit=limit)
        parts = divide(inputs, rows, sizes)
        tasks = [_Task(part, size, deadline) for part, size in zip(parts, sizes, strict=True)]
        queue.to_come_back -= rows
        if not batches:
            self._waiting.append(queue)
        for task in tasks:
            if not batches or task.rows > self._parameters.rows - batches[-1].rows:
                batches.append(_Batch())
            batches[-1].add(task)
        return tasks

    def _shares(self, rows: int, room: int) -> list[int]:
        """Into how many rows each a request is divided, given the room in the open batch."""
        if rows <= room or not self._parameters.enable_large_batch_splitting:
            return [rows]
        shares = [room] if room else []
        whole, rest = divmod(rows - room, self._parameters.rows)
        return [*shares, *[self._parameters.rows] * whole, *([rest] if rest else [])]

    def _work(self) -> None:
        while True:
            with self._changed:
                while not (ready := self._take()):
                    if self._closed:
                        return
                    self._changed.wait(self._patience())
            self._run_batch(*ready)

    def _take(self) -> tuple[_Queue, _Batch] | None:
        """The next batch that may run, the queues in turn."""
        for _ in range(len(self._waiting)):
            queue = self._waiting.popleft()
            batch = queue.batches[0]
            if self._is_ready(queue, batch):
                queue.batches.popleft()
                if queue.batches:
                    self._waiting.append(queue)
                return queue, batch
            self._waiting.append(queue)
        return None

    def _is_ready(self, queue: _Queue, batch: _Batch) -> bool:
        full = len(queue.batches) > 1 or batch.rows >= self._parameters.rows
        return full or self._closed or time.monotonic() >= queue.ready_at(self._parameters.batch_timeout)

    def _patience(self) -> float | None:
        """Seconds until the first batch has waited long enough; None where none waits."""
        if not self._waiting:
            return None
        first = min(queue.ready_at(self._parameters.batch_timeout) for queue in self._waiting)
        return max(0.0, first - time.monotonic())

    def _run_batch(self, queue: _Queue, batch: _Batch) -> None:
        began = time.monotonic()
        try:
            answers = self._answers(queue, batch)
            now = time.monotonic()
            with self._changed:
                queue.to_come_back, queue.waits_until = batch.rows, now + _SHARE_WAITED * (now - began)
        except RefusalError as refusal:
            for task in batch.tasks:
                task.done.set_exception(RefusalError(refusal.code, refusal.message))
        except Exception as error:
            # Those who wait must be told, whatever went wrong.
            for task in batch.tasks:
                task.done.set_exception(error)
        else:
            for task, answer in zip(batch.tasks, answers, strict=True):
                task.done.set_result(answer)

    def _answers(self, queue: _Queue, batch: _Batch) -> list[Tensors]:
        deadline, now = max(task.deadline for task in batch.tasks), time.monotonic()
        if deadline <= now:
            raise messages.LATE_IN_QUEUE()
        rows = self._parameters.filled_up(batch.rows)
        pad = self._parameters.pad_variable_length_inputs
        inputs = merge([task.inputs for task in batch.tasks], rows, queue.tensors, pad=pad)
        self._on_batch()
        outputs = queue.run(inputs, None if deadline == np.inf else deadline - now)
        return divide(outputs, rows, [task.rows for task in batch.tasks])


class BatchedServable:
    """A servable whose requests run in batches; used like `zoo.serving.loader.Servable`."""

    def __init__(self, servable: Servable, batcher: Batcher) -> None:
        self._servable = servable
        self._batcher = batcher
        self._queues: dict[_Kind, _Queue] = {}
        self.path: Path = servable.path
        self.signatures: dict[str, SignatureDef] = servable.signatures

    def run(
        self,
        signature: SignatureDef,
        inputs: Mapping[str, np.ndarray],
        outputs: Sequence[str],
        *,
        timeout: float | None = None,
    ) -> dict[str, np.ndarray]:
        """As `Servable.run`. A request without rows, or without inputs, is run by itself.

        Raises:
            RefusalError: besides what the graph refuses, the request does not fit into a batch
                (INVALID_ARGUMENT, FAILED_PRECONDITION), too many wait (UNAVAILABLE), or it waited too long
                (RESOURCE_EXHAUSTED).
        """
        rows = rows_of(inputs) if inputs else 0
        if not rows:
            return self._servable.run(signature, inputs, outputs, timeout=timeout)
        queue = self._queue(signature, inputs, sorted(outputs))
        return dict(self._batcher.run(queue, inputs, rows, timeout))

    def close(self) -> None:
        """Free the memory; the servable answers no more."""
        self._servable.close()

    def _queue(self, signature: SignatureDef, inputs: Tensors, outputs: Sequence[str]) -> _Queue:
        tensors = {name: signature.inputs[name].name for name in sorted(inputs)}
        kind = _Kind(
            tuple((name, tensor, inputs[name].dtype.str) for name, tensor in tensors.items()),
            tuple((name, signature.outputs[name].name) for name in outputs),
        )

        def run(merged: Tensors, timeout: float | None) -> Tensors:
            return self._servable.run(signature, merged, outputs, timeout=timeout)

        return self._queues.setdefault(kind, _Queue(run, tensors))
