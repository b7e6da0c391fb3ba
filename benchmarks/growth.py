"""How time and memory of the zoo grow with one axis of the work, each value in a process of its own.

`python -m benchmarks.growth WORK AXIS VALUE` measures one point and prints it.
"""

import argparse
import dataclasses
import itertools
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from rich import box
from rich.table import Table

from benchmarks.measure import peak_memory
from benchmarks.work import WORK, Work

__all__ = [
    "CURVES",
    "Curve",
    "Point",
    "growth_table",
    "main",
    "measure_point",
    "slopes",
    "times_the_memory_of_one",
]

PARTED = 64

MEMORY_GOAL = 1.5
"""Memory that a search of eight hypotheses takes, at most, in units of what one takes."""


def _axis(name: str) -> Callable[[Work, int], Work]:
    return lambda work, value: dataclasses.replace(work, **{name: value})


AXES: Mapping[str, Callable[[Work, int], Work]] = {
    **{name: _axis(name) for name in ("batch", "source", "target", "hypotheses")},
    f"hypotheses of {PARTED}": lambda work, value: dataclasses.replace(
        work, hypotheses=value, batch=PARTED // value
    ),
}
"""A size to the work with another value of it; the last has as many hypotheses in all, of fewer sources."""


class Curve(NamedTuple):
    """A piece of work, one of whose sizes takes several values."""

    work: str
    axis: str
    values: tuple[int, ...]


class Point(NamedTuple):
    """What was measured at one value."""

    value: int
    ms: float
    """Of one run: a training step, or a request of one batch."""
    added_mb: float
    """Greatest resident memory in MiB, less what it was when the model had been made."""


CURVES = (
    Curve("train-lstm", "target", (20, 40, 80, 160)),
    Curve("tiny-greedy", "target", (15, 30, 60)),
    Curve("tiny-greedy", "source", (15, 30, 60)),
    Curve("tiny-beam5", "hypotheses", (1, 2, 4, 8)),
    Curve("tiny-beam5", "batch", (8, 16, 32, 64)),
    Curve("tiny-beam5", f"hypotheses of {PARTED}", (1, 2, 4, 8)),
)
"""What `make bench` prints, where the work is among the chosen."""


def measure_point(work: str, axis: str, value: int) -> Point:
    """Run twice, the second time by the clock."""
    from benchmarks.models import make
    from benchmarks.ours import by_fit, served

    chosen = AXES[axis](WORK[work], value)
    model = make(chosen.model, "zoo")
    before = peak_memory()
    run = by_fit(model, chosen, steps=1) if chosen.trains else served(model, chosen)
    run()
    start = time.perf_counter()
    run()
    return Point(value, 1000 * (time.perf_counter() - start), peak_memory() - before)


def slopes(points: Sequence[Point]) -> list[float | None]:
    """MiB added for each more of the axis since the point before: constant where memory grows linearly."""
    pairs = itertools.pairwise(points)
    return [None, *((b.added_mb - a.added_mb) / (b.value - a.value) for a, b in pairs)]


def times_the_memory_of_one(curve: Curve, points: Sequence[Point]) -> str:
    """What the most hypotheses take, beside the goal; nothing of a curve of another axis."""
    if curve.axis != "hypotheses":
        return ""
    ratio = points[-1].added_mb / points[0].added_mb
    verdict = "reached" if ratio <= MEMORY_GOAL else "missed"
    return (
        f"{curve.work}: {points[-1].value} hypotheses add {ratio:.2f} times the memory of {points[0].value}, "
        f"goal at most {MEMORY_GOAL}: {verdict}"
    )


def growth_table(curves: Sequence[tuple[Curve, Sequence[Point]]]) -> Table:
    """A row for each point."""
    table = Table(box=box.SIMPLE)
    table.add_column("work")
    for heading in ("axis", "", "ms a run", "MiB added", "MiB for one more"):
        table.add_column(heading, justify="right")
    for curve, points in curves:
        for point, slope in zip(points, slopes(points), strict=True):
            more = "" if slope is None else f"{slope:.2f}"
            figures = (f"{point.value}", f"{point.ms:,.0f}", f"{point.added_mb:,.0f}", more)
            table.add_row(curve.work, curve.axis, *figures)
        table.add_section()
    return table


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", choices=WORK)
    parser.add_argument("axis", choices=AXES)
    parser.add_argument("value", type=int)
    arguments = parser.parse_args()

    from benchmarks.ours import use_threads_as_the_server

    use_threads_as_the_server(WORK[arguments.work])
    point = measure_point(arguments.work, arguments.axis, arguments.value)
    sys.stdout.write(json.dumps({"growth": point._asdict()}) + "\n")


if __name__ == "__main__":
    main()
