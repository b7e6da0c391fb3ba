"""Timing, and the line of JSON in which a process tells what it measured."""

import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

__all__ = ["Measured", "peak_memory", "read", "tell", "time_runs"]


class Measured(NamedTuple):
    """What one process says of one system at one piece of work."""

    system: str
    work: str
    tokens_per_s: list[float]
    """One figure for each timed run."""
    peak_mb: float
    """Greatest resident memory of the process so far, in MiB."""
    versions: dict[str, str]
    """Package to version, of what the system stands on."""


def time_runs(run: Callable[[], Any], *, tokens: int, repeats: int) -> list[float]:
    """Run once unwatched, then a number of times by the clock.

    Args:
        run: comes back when the work is done.
        tokens: what one run counts as.
        repeats: number of timed runs.

    Returns:
        Tokens per second of each.
    """
    run()
    rates = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        rates.append(tokens / (time.perf_counter() - start))
    return rates


def peak_memory() -> float:
    """Greatest resident memory of this process so far, in MiB."""
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, KiB elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def tell(system: str, work: str, rates: Sequence[float], packages: Sequence[str]) -> None:
    """Print a line that `read` understands."""
    versions = {package: version(package) for package in packages}
    measured = Measured(system, work, [round(rate, 2) for rate in rates], round(peak_memory(), 1), versions)
    sys.stdout.write(json.dumps(measured._asdict()) + "\n")
    sys.stdout.flush()


def read(output: str) -> list[Measured]:
    """What a process told, whatever else its libraries printed."""
    lines = [line for line in output.splitlines() if line.startswith('{"system"')]
    return [Measured(**json.loads(line)) for line in lines]
