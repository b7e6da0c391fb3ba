"""The zoo and its peers in turn, and one table: what `make bench` runs."""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.growth import CURVES, Curve, Point, growth_table, times_the_memory_of_one
from benchmarks.measure import Measured, read
from benchmarks.peers import ENVIRONMENTS
from benchmarks.table import OURS, ratios, ratios_table
from benchmarks.work import THREADS, WORK
from zoo.training.processor import processor

__all__ = ["machine", "main", "record", "systems_of"]

ROOT = Path(__file__).parents[1]
WIDTH = 120
"""Of the tables, where the terminal does not say."""


def systems_of(work: str, peers: Sequence[str]) -> list[str]:
    """The systems of these peers that do a piece of work: those that it has a goal for, and their like."""
    with_goal = {system.split("-")[0] for system in WORK[work].goals}
    systems = [system for peer in peers for system in ENVIRONMENTS[peer].systems]
    return [system for system in systems if system.split("-")[0] in with_goal]


def python_of(system: str) -> str:
    """The interpreter that a system runs in.

    Raises:
        FileNotFoundError: its environment has not been made.
    """
    if system == OURS:
        return sys.executable
    (peer,) = (peer for peer, environment in ENVIRONMENTS.items() if system in environment.systems)
    python = Path(f".venv-bench-{ENVIRONMENTS[peer].name}/bin/python")
    if not python.exists():
        raise FileNotFoundError(f"There is no {python}. Make it with: make bench PEERS={peer}")
    return str(python)


def run_module(python: str, module: str, *arguments: str) -> str:
    """Run a module of this folder in a process of its own, and return what it prints.

    Raises:
        RuntimeError: it failed; the message ends with what it said.
    """
    threads = ("OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
    environment = {
        **os.environ,
        **dict.fromkeys(threads, str(THREADS)),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONPATH": str(ROOT),
    }
    command = [python, "-m", module, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def one_round(work: str, systems: Sequence[str], repeats: int) -> Iterator[Measured]:
    """Every system at one piece of work, one after the other."""
    for system in systems:
        who = ["benchmarks.ours"] if system == OURS else ["benchmarks.peers", system]
        yield from read(run_module(python_of(system), *who, work, "--repeats", str(repeats)))


def grow(curve: Curve) -> list[Point]:
    """Measure a curve."""
    lines = [
        line
        for value in curve.values
        for line in run_module(
            sys.executable, "benchmarks.growth", curve.work, curve.axis, str(value)
        ).splitlines()
        if line.startswith('{"growth"')
    ]
    return [Point(**json.loads(line)["growth"]) for line in lines]


def use_few_processors() -> None:
    """Keep this process and its children on as many processors as there are threads, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])


def record(
    rounds: Sequence[Sequence[Measured]], curves: Sequence[tuple[Curve, Sequence[Point]]]
) -> dict[str, Any]:
    """All that was measured, and where, as plain JSON."""
    found = list(ratios(rounds, WORK))
    return {
        "taken": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "threads": THREADS,
        "versions": {m.system: m.versions for measured in rounds for m in measured},
        "ratios": [{**ratio._asdict(), "goal": ratio.goal and ratio.goal._asdict()} for ratio in found],
        "rounds": [[m._asdict() for m in measured] for measured in rounds],
        "growth": [
            {**curve._asdict(), "points": [point._asdict() for point in points]} for curve, points in curves
        ],
    }


def machine() -> dict[str, Any]:
    """What it was measured on, as plain JSON."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "load_average": os.getloadavg(),
    }


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", nargs="*", choices=ENVIRONMENTS, help="all, if none is named")
    parser.add_argument("--work", nargs="*", choices=WORK, help="all, if none is named")
    parser.add_argument("--rounds", type=int, default=3, help="how often each process runs")
    parser.add_argument("--repeats", type=int, default=5, help="timed runs of a process")
    parser.add_argument("--save", type=Path, help="write all figures to this file")
    arguments = parser.parse_args()
    peers, works = arguments.peers or list(ENVIRONMENTS), arguments.work or list(WORK)
    use_few_processors()
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    rounds: list[list[Measured]] = []
    for number in range(arguments.rounds):
        rounds.append([])
        for work in works:
            systems = [OURS, *systems_of(work, peers)]
            if number % 2:  # the other way round, so that a machine that slows down favours nobody
                systems.reverse()
            console.print(f"round {number + 1}: {work}, load {os.getloadavg()[0]:.1f}", highlight=False)
            rounds[-1] += one_round(work, systems, arguments.repeats)
    console.print(ratios_table(list(ratios(rounds, WORK))))
    curves = [(curve, grow(curve)) for curve in CURVES if curve.work in works]
    console.print(growth_table(curves))
    for line in filter(None, (times_the_memory_of_one(*measured) for measured in curves)):
        console.print(line, highlight=False)
    if arguments.save:
        arguments.save.parent.mkdir(parents=True, exist_ok=True)
        arguments.save.write_text(json.dumps(record(rounds, curves), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
