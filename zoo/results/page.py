"""The page of results: Markdown, and pictures beside it, made of records and of nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import matplotlib

from zoo import plots
from zoo.markdown import table
from zoo.results.alignments import read_alignments
from zoo.results.published import Published, published
from zoo.results.records import FINISHED, SHORT, UNFINISHED, read_records

__all__ = ["page", "pictures", "write_page"]

Record = Mapping[str, Any]

STATUS = {
    FINISHED: "finished",
    SHORT: "**short run**: fewer epochs than the recipe has",
    UNFINISHED: "**not finished**: no figures yet",
}

FAMILY = "g2p"
"""Recipes of this name with a language behind it are judged by their mean, as in the shared task."""

LANGUAGES = 10
"""Of that family; the mean of fewer would stand beside that of all."""

SYSTEM = "beam"
"""Whose figures stand beside the published ones."""

HEAD = """# Results

What the recipes come to. `zoo results` makes this page and its pictures of the records in
[docs/results](results), which `zoo record NAME` writes after `zoo train NAME`; no figure in it is typed by
hand. Figures are in the units of their metrics: BLEU and chrF from 0 to 100, rates and shares from 0 to 1.
Published ones were reached by others, with the source that is named, on the same test unless the words
beside them say otherwise; they stand in `zoo/results/published.py`."""

NOT_RECORDED = "not recorded"

IN_WORDS = {"batch_size": "pairs a batch", "batch_tokens": "tokens a batch"}


def page(records: Sequence[Record], alignments: Sequence[Record] = ()) -> str:
    """The whole page, Markdown; the same for the same records.

    Args:
        records: what `zoo.results.read_records` gave.
        alignments: what `zoo.results.read_alignments` gave.
    """
    overview = [_overview(records)] if records else ["There is no record of a training yet."]
    sections = [*_compared(records), *_aligned(alignments), *map(_section, records)]
    return "\n\n".join([HEAD, *overview, *sections]) + "\n"


def pictures(records: Sequence[Record]) -> dict[str, Any]:
    """The figures that the page shows, by the name of their file."""
    drawn = {}
    for record in records:
        if record["epochs"] > 1:
            drawn[f"{record['recipe']}.svg"] = plots.learning_curve(_drawn(record["history"]))
    for name, metric, group in _comparable(records):
        split = _first_split(group[0])
        buckets = group[0]["by_length"][split]["buckets"]
        scores = {record["recipe"]: record["by_length"][split]["scores"][metric] for record in group}
        drawn[f"{name}_by_length.svg"] = plots.scores_by_length(scores, buckets, metric=metric)
    return drawn


def write_page(folder: Path) -> Path:
    """Make the page of a folder of records, such as `docs/results`, beside it, and the pictures in it.

    Returns:
        The page, such as `docs/results.md`.
    """
    records = read_records(folder)
    style: Any = {"svg.fonttype": "none", "svg.hashsalt": "zoo"}  # letters stay letters, and ids the same
    for name, figure in pictures(records).items():
        with matplotlib.rc_context(style):
            figure.savefig(folder / name, metadata={"Date": None, "Creator": None})
    file = folder.with_suffix(".md")
    file.write_text(page(records, read_alignments(folder)), encoding="utf-8")
    return file


def _overview(records: Sequence[Record]) -> str:
    rows = [row for record in records for row in _rows_beside_published(record)]
    rows += _mean_of_the_family(records)
    return table(("recipe", "test", "metric", "here", "published", "what reached that", "source"), rows)


def _rows_beside_published(record: Record) -> Iterator[Sequence[str]]:
    """A row for each published figure; the first metric of the first test, where there is none."""
    link = f"[{record['recipe']}](#{record['recipe']})"
    if record["status"] == UNFINISHED:
        yield link, "", "", f"{STATUS[UNFINISHED]}, {_epochs(record)}", "", "", ""
        return
    mark = " (short run)" if record["status"] == SHORT else ""
    found = False
    for split, systems in record["figures"].items():
        for metric, value in systems[SYSTEM].items():
            for other in published(record["recipe"], split, metric):
                found = True
                yield link, split, metric, f"**{_shown(value)}**{mark}", *_other(other)
    if not found:
        split = _first_split(record)
        metric, value = next(iter(record["figures"][split][SYSTEM].items()))
        yield link, split, metric, f"**{_shown(value)}**{mark}", "", "", ""


def _mean_of_the_family(records: Sequence[Record]) -> Iterator[Sequence[str]]:
    family = [
        record
        for record in records
        if record["recipe"].startswith(f"{FAMILY}_") and record["status"] != UNFINISHED
    ]
    if len(family) < LANGUAGES:
        return
    split = _first_split(family[0])
    for metric in family[0]["figures"][split][SYSTEM]:
        mean = fmean(record["figures"][split][SYSTEM][metric] for record in family)
        others = [_other(other) for other in published(FAMILY, split, metric)] or [("", "", "")]
        for other in others:
            name = f"{FAMILY}, mean of {len(family)} languages"
            yield name, split, metric, f"**{_shown(mean)}**", *other


def _other(figure: Published) -> tuple[str, str, str]:
    return _shown(figure.value), figure.system, figure.source


def _compared(records: Sequence[Record]) -> Iterator[str]:
    """Systems that answer the same questions, by the length of these."""
    for name, metric, group in _comparable(records):
        split = _first_split(group[0])
        head = f"## {group[0]['task']} by length of the source\n\n"
        names = [record["recipe"] for record in group]
        rows = [
            (_range(bucket), f"{bucket[2]:,}", *map(_shown, scores))
            for bucket, *scores in zip(
                group[0]["by_length"][split]["buckets"],
                *(record["by_length"][split]["scores"][metric] for record in group),
                strict=True,
            )
        ]
        picture = f"![{metric} over source tokens](results/{name}_by_length.svg)"
        scored = table(("source tokens", "pairs", *names), rows)
        yield f"{head}`{metric}` on {split}, {SYSTEM}.\n\n{scored}\n\n{picture}"


def _aligned(alignments: Sequence[Record]) -> Iterator[str]:
    """Error rates of word alignments, a row for each set and system."""
    if not alignments:
        return
    rows = [row for entry in alignments for row in _rows_of_set(entry)]
    head = ("set", "languages", "pairs", "links by hand", "system", "alignment error rate")
    yield f"## Word alignments\n\nWhat this is about: [Alignment](alignment.md).\n\n{table(head, rows)}"


def _rows_of_set(entry: Record) -> Iterator[Sequence[str]]:
    """Ours, and then the published ones."""
    links = f"{entry['sure']:,} sure, {entry['possible']:,} possible"
    facts = (entry["set"], f"en–{entry['language']}", f"{entry['pairs']:,}", links)
    for system, rate in entry["error_rates"].items():
        yield *facts, system, _shown(rate)
    for other in published("alignments", entry["set"], "alignment_error_rate"):
        yield *facts, f"published: {other.system} ({other.source})", _shown(other.value)


def _comparable(records: Sequence[Record]) -> Iterator[tuple[str, str, list[Record]]]:
    """Name, metric and records of each task that several systems have learned."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        if record["status"] != UNFINISHED:
            groups.setdefault(record["task"], []).append(record)
    for name, group in groups.items():
        split = _first_split(group[0])
        same = [r for r in group if r["by_length"].get(split, {}).get("buckets") == _buckets(group[0], split)]
        if len(same) > 1:
            yield name, next(iter(group[0]["by_length"][split]["scores"])), same


def _buckets(record: Record, split: str) -> Any:
    return record["by_length"][split]["buckets"]


def _section(record: Record) -> str:
    facts = [
        ("status", f"{STATUS[record['status']]}, {_epochs(record)}"),
        ("command", f"`{record['command']}`"),
        ("time", f"{record['hours']:.2f} hours"),
        ("machine", _machine(record["machine"])),
        ("versions", _named(record["versions"])),
        ("parameters", f"{record['parameters']:,}" if record["parameters"] else "not counted"),
        ("model", _named(record.get("model"))),
        ("pairs", ", ".join(f"{name} {count:,}" for name, count in record["pairs"].items())),
        ("settings", _settings(record["settings"])),
    ]
    parts = [f"## {record['recipe']}", record["description"], table(("", ""), facts)]
    if record["status"] != UNFINISHED:
        parts += _figures(record)
    if record["epochs"] > 1:
        parts.append(f"![learning curve](results/{record['recipe']}.svg)")
    if record.get("samples"):
        parts.append(table(("source", "target", "answer"), map(dict.values, record["samples"])))
    return "\n\n".join(parts)


def _figures(record: Record) -> list[str]:
    rows = []
    for split, systems in record["figures"].items():
        for system, metrics in systems.items():
            for metric, value in metrics.items():
                others = published(record["recipe"], split, metric) if system == SYSTEM else []
                beside = "; ".join(
                    f"{_shown(other.value)}, {other.system} ({other.source})" for other in others
                )
                rows.append((split, system, metric, _shown(value), beside))
    beam = ", ".join(f"{name} {value}" for name, value in record["beam"].items())
    signatures = [f"- `{name}`: `{signature}`" for name, signature in record["signatures"].items()]
    lines = [f"- `{SYSTEM}`: {beam}, at most {record['max_length']} tokens", *signatures]
    lines += [f"- {note}" for note in record["notes"]]
    figures = table(("test", "system", "metric", "here", "published"), rows)
    return [figures, "\n".join(lines), *_lengths(record)]


def _lengths(record: Record) -> list[str]:
    split = _first_split(record)
    buckets, scores = _buckets(record, split), record["by_length"][split]["scores"]
    rows = [
        (_range(bucket), f"{bucket[2]:,}", *map(_shown, values))
        for bucket, *values in zip(buckets, *scores.values(), strict=True)
    ]
    return [
        f"By the length of the source, {split}, {SYSTEM}:",
        table(("source tokens", "pairs", *scores), rows),
    ]


def _drawn(history: Mapping[str, Sequence[float]]) -> dict[str, Sequence[float]]:
    """What was recorded of every epoch; a figure of some epochs alone cannot share their axis."""
    longest = max(map(len, history.values()))
    return {name: values for name, values in history.items() if len(values) == longest}


def _first_split(record: Record) -> str:
    return next(iter(record["figures"]))


def _epochs(record: Record) -> str:
    return f"{record['epochs']} of {record['settings']['epochs']} epochs"


def _named(values: Mapping[str, Any] | None) -> str:
    return ", ".join(f"{name} {value}" for name, value in (values or {}).items()) or NOT_RECORDED


def _machine(machine: Mapping[str, Any] | None) -> str:
    if machine is None:
        return NOT_RECORDED
    accelerators = ", ".join(machine["accelerators"]) or "no accelerator"
    return f"{machine['processor']}, {machine['cores']} cores, {accelerators}"


def _settings(settings: Mapping[str, Any]) -> str:
    given = {name: value for name, value in settings.items() if value is not None and name != "epochs"}
    return ", ".join(
        f"{value:,} {IN_WORDS[name]}" for name, value in given.items() if name in IN_WORDS
    ) + "".join(f", {name} {_setting(value)}" for name, value in given.items() if name not in IN_WORDS)


def _setting(value: Any) -> str:
    if isinstance(value, Mapping):
        return "(" + ", ".join(f"{name} {part}" for name, part in value.items()) + ")"
    return str(value)


def _range(bucket: Sequence[int]) -> str:
    shortest, longest, _ = bucket
    return f"{shortest}–{longest}"


def _shown(value: float) -> str:
    return f"{value:.4f}" if abs(value) <= 1 else f"{value:.2f}"
