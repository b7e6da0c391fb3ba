"""A server under the highest load that its clients can keep up: errors, and whether its memory grows."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from statistics import mean
from typing import NamedTuple

from benchmarks.serving_load import Load
from benchmarks.serving_models import Served
from benchmarks.serving_overhead import CLIENTS, as_many, asker, batching_flags
from benchmarks.serving_process import ServerProcess

__all__ = ["Sustained", "growth", "measure_sustained"]

GROWTH_GOAL = 0.05
SAMPLES = 120


class Sustained(NamedTuple):
    """What came of minutes under load."""

    model: str
    clients: int
    minutes: float
    requests: int
    errors: int
    per_s: float
    memory_mb: list[float]
    """Resident memory of the server, sample by sample, at equal distances."""
    growth: float
    """Mean of the last third over mean of the first third, less 1."""

    @property
    def verdict(self) -> str:
        """Whether every request was answered, and memory stayed as it was."""
        return "goal reached" if not self.errors and self.growth <= GROWTH_GOAL else "goal missed"


def measure_sustained(served: Served, minutes: float, *, clients: int = CLIENTS) -> Sustained:
    """Clients over gRPC and REST, half of them each, each asking again when it is answered."""
    with ExitStack() as stack:
        server = stack.enter_context(ServerProcess(batching_flags(served), model=served.name))
        makers = [server.grpc_client, server.rest_client]
        askers = [
            asker(stack.enter_context(makers[number % 2]()), served.signature, text)
            for number, text in enumerate(as_many(served.texts, clients))
        ]
        with Load(askers) as load:
            load.wait_for_more(2)
            before, began = load.outcome.requests, time.perf_counter()
            memory = []
            for number in range(SAMPLES):
                memory.append(server.memory)
                time.sleep(max(0.0, began + (number + 1) * 60 * minutes / SAMPLES - time.perf_counter()))
            requests, seconds = load.outcome.requests - before, time.perf_counter() - began
        errors = len(load.outcome.failures)
    return Sustained(
        served.name, clients, minutes, requests, errors, requests / seconds, memory, growth(memory)
    )


def growth(memory: Sequence[float]) -> float:
    """How much more the mean of the last third is than that of the first, as a share."""
    third = max(1, len(memory) // 3)
    return mean(memory[-third:]) / mean(memory[:third]) - 1
