"""The page that tells what the bench of the server found: `docs/serving.md`, made of a record alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from zoo.markdown import table

__all__ = ["page"]

_HEAD = """# How the embedded server holds up

`make bench-serving` measures the embedded server and writes this page and its record,
[serving.json](serving.json); no figure on it is typed by hand. How to serve, and with which engine, is told
in [serving/README.md](../serving/README.md).
"""

_OVERHEAD = """## What a request adds

One client asks the same text again and again: by calling the signature in its own process, over gRPC, and
over REST, five times each in turn, so that whatever else the machine does meets all three. The server is
another process; the first request after a turn is not counted, since it finds the caches of the processor
cold. Times are medians, in milliseconds; a ratio is that of the medians. `tiny` is a Transformer of 4 + 4
blocks, width 128 and 10,000 characters with random weights: 15 characters in, 15 out, by the signature
`greedy`. `dates` is the export of `make demo`, whose answers take so little time that it has no goal: what
grpcio itself needs is a good part of them.
"""

_THROUGHPUT = """## What batching brings

Many clients, each of which asks again when it is answered, over gRPC, from a process of their own. Two
servers run side by side and are asked in turn, three times each: one without batching, one with
`serving/batching.config`.
"""

_SUSTAINED = """## Minutes under load

With batching; half of the clients ask over gRPC, half over REST, without retries. Memory is the resident
memory of the server's process: its mean over the last third of the time, against that over the first third.
"""

_FAULTS = """## Faults under load

Clients ask over gRPC and REST, without retries but for SIGKILL, while something happens to the server or
its models. Version N of the model answers N, so that each answer tells which version gave it. A promise is
kept when no request failed, and every client saw the versions of its row, one after the other, and no
other. Only a server that was told to stop may refuse: with `UNAVAILABLE`, or by not accepting the
connection, after which clients may ask another.
"""


def page(record: Mapping[str, Any]) -> str:
    """The page, as Markdown.

    Args:
        record: as `benchmarks.serving.record` makes it.
    """
    parts = [
        _HEAD,
        _measured(record),
        _OVERHEAD,
        _overhead(record["overhead"]) + "\n",
        _THROUGHPUT,
        _throughput(record["throughput"]) + "\n",
        _SUSTAINED,
        _sustained(record["sustained"]) + "\n",
        _FAULTS,
        _faults(record["faults"]) + "\n",
    ]
    return "\n".join(parts)


def _measured(record: Mapping[str, Any]) -> str:
    machine, load = record["machine"], record["machine"]["load_average"][0]
    return (
        f"Measured on {record['taken'][:10]} by `{record['command']}` on {machine['processors']} processors "
        f"({machine['processor']}),\n"
        f"{machine['system']}, Python {machine['python']}, "
        f"{', '.join(f'{name} {version}' for name, version in record['versions'].items())}.\n"
        f"The load average of the machine was {load:.1f} when the bench began.\n"
    )


def _overhead(rows: Sequence[Mapping[str, Any]]) -> str:
    heads = ["model", "over", "median", "in process", "ratio", "goal", ""]
    return table(
        heads,
        [
            [
                row["model"],
                row["interface"],
                f"{row['median_ms']:.2f}",
                f"{row['in_process_ms']:.2f}",
                f"{row['ratio']:.2f}",
                f"≤ {row['goal']}" if row["goal"] else "",
                row["verdict"],
            ]
            for row in rows
        ],
    )


def _throughput(rows: Sequence[Mapping[str, Any]]) -> str:
    heads = [
        "model",
        "clients",
        "requests/s without",
        "with",
        "median ms without",
        "with",
        "ratio",
        "goal",
        "",
    ]
    return table(
        heads,
        [
            [
                row["model"],
                str(row["clients"]),
                f"{row['without_per_s']:.0f}",
                f"{row['with_per_s']:.0f}",
                f"{row['without_ms']:.0f}",
                f"{row['with_ms']:.0f}",
                f"{row['ratio']:.2f}",
                f"≥ {row['goal']}",
                row["verdict"],
            ]
            for row in rows
        ],
    )


def _sustained(rows: Sequence[Mapping[str, Any]]) -> str:
    heads = [
        "model",
        "clients",
        "minutes",
        "requests",
        "a second",
        "errors",
        "memory, MiB",
        "growth",
        "goal",
        "",
    ]
    return table(
        heads,
        [
            [
                row["model"],
                str(row["clients"]),
                f"{row['minutes']:g}",
                f"{row['requests']:,}",
                f"{row['per_s']:.0f}",
                str(row["errors"]),
                f"{row['memory_mb'][0]:.0f} to {row['memory_mb'][-1]:.0f}",
                f"{row['growth']:+.1%}",
                "0 errors, ≤ 5 %",
                row["verdict"],
            ]
            for row in rows
        ],
    )


def _faults(rows: Sequence[Mapping[str, Any]]) -> str:
    heads = ["what happened", "requests", "failed", "refused", "versions that answered", "promise"]
    return table(
        heads,
        [
            [
                row["scenario"],
                f"{row['requests']:,}",
                str(row["failed"]),
                str(row["refused"]),
                ", then ".join(map(str, row["versions"])),
                row["verdict"],
            ]
            for row in rows
        ],
    )
