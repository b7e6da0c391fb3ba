"""From what was measured to what is shown: medians, ratios, and how they stand beside the goals."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from rich import box
from rich.table import Table

from benchmarks.measure import Measured
from benchmarks.work import Goal, Work

__all__ = ["OURS", "Ratio", "ratios", "ratios_table", "verdict"]

OURS = "zoo"
"""The system that goals speak of. Its variants are named after it, as `zoo-step`."""


class Ratio(NamedTuple):
    """A variant of the zoo beside a peer, at one piece of work."""

    work: str
    system: str
    tokens_per_s: float
    """Of the zoo: the median over rounds of each round's median."""
    peer: str
    peer_tokens_per_s: float
    """Of the peer, likewise."""
    ratio: float
    """The median over rounds of the zoo's figure over the peer's figure of the same round."""
    least: float
    greatest: float
    """The ratios of single rounds lie between these."""
    goal: Goal | None


def ratios(rounds: Sequence[Sequence[Measured]], works: Mapping[str, Work]) -> Iterator[Ratio]:
    """Every variant of the zoo beside every peer that did the same work, where a round has both.

    Args:
        rounds: what was measured, round by round; machines change their pace, so only figures of one round
            are set against each other.
        works: name to work.
    """
    figures = [{(m.work, m.system): median(m.tokens_per_s) for m in measured} for measured in rounds]
    seen = dict.fromkeys(key for figure in figures for key in figure)
    for name, work in works.items():
        systems = [system for of, system in seen if of == name]
        variants = [system for system in systems if system == OURS or system.startswith(f"{OURS}-")]
        peers = [system for system in systems if system not in variants]
        for peer in peers:
            for variant in variants:
                goal = work.goals.get(peer) if variant == OURS else None
                yield from _ratio(figures, work.name, variant, peer, goal)


def _ratio(figures, work: str, system: str, peer: str, goal: Goal | None) -> Iterator[Ratio]:
    pairs = [(f[work, system], f[work, peer]) for f in figures if (work, system) in f and (work, peer) in f]
    if pairs:
        ours, theirs = (median(side) for side in zip(*pairs, strict=True))
        single = [mine / other for mine, other in pairs]
        yield Ratio(work, system, ours, peer, theirs, median(single), min(single), max(single), goal)


def verdict(ratio: Ratio) -> str:
    """How a ratio stands beside its goal, in words; nothing where there is none."""
    if ratio.goal is None:
        return ""
    if ratio.ratio >= ratio.goal.ratio:
        return "goal reached"
    if ratio.goal.owed is None or ratio.ratio >= ratio.goal.owed:
        return "below the goal"
    return "below what is owed"


def ratios_table(found: Sequence[Ratio]) -> Table:
    """A row for each ratio."""
    table = Table(box=box.SIMPLE)
    table.add_column("work")
    table.add_column("system")
    table.add_column("tokens/s", justify="right")
    table.add_column("peer")
    for heading in ("tokens/s", "ratio", "of single rounds", "goal", "owed"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for row in found:
        table.add_row(
            row.work,
            row.system,
            f"{row.tokens_per_s:,.0f}",
            row.peer,
            f"{row.peer_tokens_per_s:,.0f}",
            f"{row.ratio:.2f}",
            f"{row.least:.2f} to {row.greatest:.2f}",
            _number(row.goal and row.goal.ratio),
            _number(row.goal and row.goal.owed),
            verdict(row),
        )
    return table


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
