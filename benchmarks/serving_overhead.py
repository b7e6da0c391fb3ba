"""What a server adds to the run of a signature, and what batching brings where many ask."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from benchmarks.serving_load import Load
from benchmarks.serving_models import Served
from benchmarks.serving_process import ServerProcess
from zoo.serving.folders import find_versions
from zoo.serving.loader import load

__all__ = [
    "CLIENTS",
    "Overhead",
    "Throughput",
    "as_many",
    "asker",
    "batching_flags",
    "measure_overhead",
    "measure_throughput",
    "model_flags",
]

CLIENTS = 32
BATCHING = Path("serving/batching.config").resolve()
GRPC_GOAL, REST_GOAL, BATCHING_GOAL = 1.15, 1.3, 3.0
IN_A_ROW = 5
"""Counted requests of one kind, before it is another's turn."""
UNWATCHED = 2


class Overhead(NamedTuple):
    """The latency of one request over an interface, beside the same signature called in this process."""

    model: str
    interface: str
    median_ms: float
    in_process_ms: float
    """Median of the calls of the signature, which took turns with the requests."""
    ratio: float
    """Median of the requests over median of the calls."""
    goal: float | None
    """The ratio that must not be exceeded; None where none is set."""

    @property
    def verdict(self) -> str:
        """How the ratio stands beside its goal."""
        return _verdict(self.goal is None or self.ratio <= self.goal, self.goal)


class Throughput(NamedTuple):
    """Requests of many clients, each asking again when it is answered, with batching and without."""

    model: str
    clients: int
    without_per_s: float
    with_per_s: float
    without_ms: float
    """Median latency without batching."""
    with_ms: float
    ratio: float
    goal: float | None

    @property
    def verdict(self) -> str:
        """How the ratio stands beside its goal."""
        return _verdict(self.goal is None or self.ratio >= self.goal, self.goal)


def measure_overhead(served: Served, rounds: int, *, with_goal: bool) -> list[Overhead]:
    """Time the call of the signature, gRPC and REST in turn, so that a machine's moods meet all of them."""
    path = next(iter(find_versions(served.base_path).values()))
    servable, text = load(path), served.texts[0]
    signature = servable.signatures[served.signature]
    inputs, outputs = {"text": np.array([text.encode()], object)}, sorted(signature.outputs)
    with ExitStack() as stack:
        stack.callback(servable.close)
        server = stack.enter_context(ServerProcess(model_flags(served), model=served.name))
        clients = {
            "gRPC": stack.enter_context(server.grpc_client()),
            "REST": stack.enter_context(server.rest_client()),
        }
        ways: dict[str, Callable[[], Any]] = {
            "in process": lambda: servable.run(signature, inputs, outputs),
            **{name: asker(client, served.signature, text) for name, client in clients.items()},
        }
        medians = _alternate(ways, rounds)
    base = medians["in process"]
    goals = {"gRPC": GRPC_GOAL, "REST": REST_GOAL}
    return [
        Overhead(
            served.name,
            name,
            1e3 * medians[name],
            1e3 * base,
            medians[name] / base,
            goals[name] if with_goal else None,
        )
        for name in clients
    ]


def measure_throughput(served: Served, seconds: float, *, clients: int = CLIENTS) -> Throughput:
    """Requests a second over gRPC, from one process of clients, of one server without batching and one with.

    The servers run side by side and are asked in turn.
    """
    both = {
        # Without batching the threads that wait cost nothing, so both have as many.
        "without": [*model_flags(served), "--grpc_max_threads=64"],
        "with": batching_flags(served),
    }
    rates: dict[str, list[float]] = {name: [] for name in both}
    latencies: dict[str, list[float]] = {name: [] for name in both}
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(ServerProcess(flags, model=served.name)) for name, flags in both.items()
        }
        for _ in range(3):
            for name, server in servers.items():
                rate, latency = _busy(server, served, seconds / 3, clients)
                rates[name].append(rate)
                latencies[name].append(latency)
    without, with_ = (median(rates[name]) for name in ("without", "with"))
    waits = (1e3 * median(latencies[name]) for name in ("without", "with"))
    return Throughput(served.name, clients, without, with_, *waits, with_ / without, BATCHING_GOAL)


def _busy(server: ServerProcess, served: Served, seconds: float, clients: int) -> tuple[float, float]:
    """Requests a second, and their median latency in seconds."""
    with ExitStack() as stack:
        askers = [
            asker(stack.enter_context(server.grpc_client()), served.signature, text)
            for text in as_many(served.texts, clients)
        ]
        with Load(askers) as load:
            load.wait_for_more(1)
            before, began = len(load.outcome.seconds), time.perf_counter()
            time.sleep(seconds)
            whole = load.outcome
            rate = (len(whole.seconds) - before) / (time.perf_counter() - began)
    if whole.failures:
        raise RuntimeError(f"{len(whole.failures)} requests failed, the first with {whole.failures[0]}")
    return rate, median(whole.seconds)


def _alternate(ways: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The median seconds of each way, after some rounds unwatched.

    Each way goes some times in a row, and the first is not counted: who comes after another process finds the
    caches of the processor cold, and that is no part of what a server adds.
    """
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(UNWATCHED + -(-rounds // IN_A_ROW)):
        for name, run in ways.items():
            run()
            for _ in range(IN_A_ROW):
                began = time.perf_counter()
                run()
                if number >= UNWATCHED:
                    seconds[name].append(time.perf_counter() - began)
    return {name: median(each) for name, each in seconds.items()}


def asker(client: Any, signature: str, text: str) -> Callable[[], str]:
    """Asks one text."""
    return lambda: client.predict({"text": [text]}, signature=signature)["text"][0]


def as_many(texts: Sequence[str], count: int) -> list[str]:
    """So many of them, in turn."""
    return [texts[number % len(texts)] for number in range(count)]


def batching_flags(served: Served) -> list[str]:
    """Of a server of this model that gathers requests."""
    return [*model_flags(served), "--enable_batching", f"--batching_parameters_file={BATCHING}"]


def model_flags(served: Served) -> list[str]:
    """Of a server of this model."""
    return [f"--model_name={served.name}", f"--model_base_path={served.base_path}"]


def _verdict(reached: bool, goal: float | None) -> str:
    return "" if goal is None else "goal reached" if reached else "goal missed"
