"""The embedded server by the clock, under load and under faults: what `make bench-serving` runs.

Tells what it finds as it goes, and writes all of it as a record and as a page.
"""

import argparse
import json
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markdown import Markdown

from benchmarks.bench import WIDTH, machine
from benchmarks.serving_faults import SCENARIOS, ground
from benchmarks.serving_models import Served, dates, tiny
from benchmarks.serving_overhead import measure_overhead, measure_throughput
from benchmarks.serving_page import page
from benchmarks.serving_sustained import measure_sustained

__all__ = ["main", "measure", "record"]

PACKAGES = ("tensorflow", "grpcio", "uvicorn")
PARTS = ("overhead", "throughput", "sustained", "faults")
NAME = "serving"


def measure(
    served: Served, others: Sequence[Served], *, rounds: int, seconds: float, minutes: float
) -> Iterator[tuple[str, Any]]:
    """Every figure, with the part of the record that it belongs to.

    Args:
        served: the model that the goals speak of.
        others: shown beside it.
        rounds: requests of each kind, for the latency.
        seconds: of requests, for the throughput of each server.
        minutes: under load.
    """
    for number, model in enumerate((served, *others)):
        yield from (("overhead", row) for row in measure_overhead(model, rounds, with_goal=number == 0))
    yield "throughput", measure_throughput(served, seconds)
    yield "sustained", measure_sustained(served, minutes)
    with tempfile.TemporaryDirectory() as folder, ground(Path(folder)) as prepared:
        for scenario in SCENARIOS:
            yield "faults", scenario(prepared)


def record(found: Iterable[tuple[str, Any]], command: str) -> dict[str, Any]:
    """All that was found, and where, as plain JSON."""
    where = {
        "taken": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        "machine": machine(),
        "versions": {package: version(package) for package in PACKAGES},
    }
    rows: dict[str, list[dict[str, Any]]] = {part: [] for part in PARTS}
    for part, row in found:
        rows[part].append({**row._asdict(), "verdict": row.verdict})
    return {**where, **rows}


def main() -> None:
    """The command line; ends with 1 where a goal is missed or a promise broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300, help="requests of each kind, for the latency")
    parser.add_argument("--seconds", type=float, default=30.0, help="of requests, for the throughput")
    parser.add_argument("--minutes", type=float, default=10.0, help="under load")
    parser.add_argument("--save", type=Path, default=Path("docs"), help="folder for the record and the page")
    asked = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    command = shlex.join(["python", "-m", "benchmarks.serving", *sys.argv[1:]])
    with tempfile.TemporaryDirectory() as folder:
        console.print("exporting the tiny Transformer")
        models = tiny(Path(folder)), [model for model in [dates()] if model]
        sizes = {"rounds": asked.rounds, "seconds": asked.seconds, "minutes": asked.minutes}
        found = record(_told(measure(*models, **sizes), console.print), command)
    written = page(found)
    asked.save.mkdir(parents=True, exist_ok=True)
    (asked.save / f"{NAME}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    (asked.save / f"{NAME}.md").write_text(written, encoding="utf-8")
    console.print(Markdown(written))
    verdicts = [row["verdict"] for part in PARTS for row in found[part]]
    sys.exit(any(verdict not in ("", "kept", "goal reached") for verdict in verdicts))


def _told(found: Iterable[tuple[str, Any]], tell: Callable[[str], None]) -> Iterator[tuple[str, Any]]:
    """The same, and each line told as it comes."""
    for part, row in found:
        figures = {name: value for name, value in row._asdict().items() if not isinstance(value, list)}
        tell(f"{part}: {figures} {row.verdict}")
        yield part, row


if __name__ == "__main__":
    main()
