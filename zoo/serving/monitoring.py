"""Counts what the server does, and tells it on a page as Prometheus reads it.

Names, labels and buckets are TensorFlow Serving's, so its dashboards show this server as well.
"""

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from google.protobuf import text_format

from zoo.serving import messages
from zoo.serving.protos import MonitoringConfig

__all__ = ["DEFAULT_PATH", "Monitoring", "metrics_path"]

DEFAULT_PATH = "/monitoring/prometheus/metrics"
_PREFIX = ":tensorflow:serving:"
_LIMITS = [10.0 * 1.8**power for power in range(33)]
"""Upper ends of the histograms' buckets, in microseconds; one more bucket holds the rest."""

_MOST_SERIES = 10_000
"""Requests may name any model, known or not; those beyond so many names and codes are counted together."""
_OTHER = "(other)"

_Labels = tuple[tuple[str, str], ...]


def metrics_path(config_file: str) -> str | None:
    """Where a config file (empty: there is none) wants the page; None where it wants none.

    Raises:
        RefusalError: INVALID_ARGUMENT, the file holds no `MonitoringConfig`.
        OSError: it cannot be read.
    """
    if not config_file:
        return None
    try:
        config = text_format.Parse(Path(config_file).read_bytes(), MonitoringConfig())
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise messages.BAD_CONFIG_FILE(path=config_file, problem=error) from error
    wanted = config.prometheus_config
    return (wanted.path or DEFAULT_PATH) if wanted.enable else None


@dataclass
class _Histogram:
    """How often a value fell into each bucket."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(_LIMITS) + 1))
    total: float = 0.0

    def add(self, value: float) -> None:
        self.counts[sum(value >= limit for limit in _LIMITS)] += 1
        self.total += value


class Monitoring:
    """The metrics of one server. Safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[_Labels, int] = {}
        self._histograms: dict[str, dict[_Labels, _Histogram]] = {
            "request_latency": {},
            "runtime_latency": {},
        }
        self._batches = 0

    def count_request(self, model: str, status: str) -> None:
        """A request was answered with a status code such as `OK`."""
        with self._lock:
            key = (("model_name", model), ("status", status))
            if key not in self._requests and len(self._requests) >= _MOST_SERIES:
                key = (("model_name", _OTHER), ("status", status))
            self._requests[key] = self._requests.get(key, 0) + 1

    def time_request(self, model: str, api: str, entrypoint: str, seconds: float) -> None:
        """A request succeeded after so many seconds in the server."""
        self._observe("request_latency", {"model_name": model, "API": api, "entrypoint": entrypoint}, seconds)

    @contextlib.contextmanager
    def timed_run(self, model: str, api: str) -> Iterator[None]:
        """Times the run of a graph, the wait for a batch included; one that fails does not count."""
        started = time.perf_counter()
        yield
        seconds = time.perf_counter() - started
        self._observe("runtime_latency", {"model_name": model, "API": api, "runtime": "TF1"}, seconds)

    def count_batch(self) -> None:
        """A batch of requests was run."""
        with self._lock:
            self._batches += 1

    def page(self) -> str:
        """All metrics in Prometheus' text format."""
        with self._lock:
            return "".join(f"{line}\n" for line in self._lines())

    def _observe(self, name: str, labels: Mapping[str, str], seconds: float) -> None:
        with self._lock:
            self._histograms[name].setdefault(tuple(labels.items()), _Histogram()).add(seconds * 1e6)

    def _lines(self) -> Iterator[str]:
        yield f"# TYPE {_PREFIX}batching_session:wrapped_run_count counter"
        yield f"{_PREFIX}batching_session:wrapped_run_count{{}} {self._batches}"
        yield f"# TYPE {_PREFIX}request_count counter"
        for labels, count in sorted(self._requests.items()):
            yield f"{_PREFIX}request_count{{{_spell(labels)}}} {count}"
        for name, series in self._histograms.items():
            yield f"# TYPE {_PREFIX}{name} histogram"
            for labels, histogram in sorted(series.items()):
                yield from _histogram_lines(f"{_PREFIX}{name}", _spell(labels), histogram)


def _histogram_lines(name: str, labels: str, histogram: _Histogram) -> Iterator[str]:
    ends = [*(f"{limit:.6g}" for limit in _LIMITS), "+Inf"]
    for end, count in zip(ends, accumulate(histogram.counts), strict=True):
        yield f'{name}_bucket{{{labels},le="{end}"}} {count}'
    yield f"{name}_sum{{{labels}}} {histogram.total:.6g}"
    yield f"{name}_count{{{labels}}} {sum(histogram.counts)}"


def _spell(labels: _Labels) -> str:
    return ",".join(f'{name}="{_escape(value)}"' for name, value in labels)


def _escape(value: str) -> str:
    """A label's value; lone surrogates, which stand for bytes that are not UTF-8, cannot be sent."""
    clean = value.encode("utf-8", "replace").decode("utf-8")
    return clean.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
