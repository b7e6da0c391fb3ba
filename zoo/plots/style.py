"""What all pictures share: colours, resolution, and how axes look."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

__all__ = [
    "ACCENT",
    "BALANCE",
    "DOTS",
    "FAINT",
    "GRID",
    "HEAT",
    "HUES",
    "INK",
    "LEGEND",
    "WARM",
    "dress",
    "panels",
]

INK = "#1d2733"
FAINT = "#7d8a99"
GRID = "#e6eaef"
ACCENT = "#0f6fb3"
WARM = "#c8375b"
HEAT = LinearSegmentedColormap.from_list("heat", ["#f3f6f9", "#b9d7ed", "#58a4d5", "#1a6aa6", "#08264a"])
HUES = LinearSegmentedColormap.from_list("hues", ["#0f6fb3", "#7a4fb5", "#c8375b", "#dd6b1f"])
BALANCE = LinearSegmentedColormap.from_list(
    "balance", ["#6e1230", "#c8375b", "#eebfca", "#f3f6f9", "#b9d7ed", "#1a6aa6", "#08264a"]
)
"""For numbers of both signs: red below zero, pale at zero, blue above."""

DOTS = 160
"""Resolution, per inch."""

LEGEND: dict[str, Any] = {
    "frameon": False,
    "fontsize": 9,
    "labelcolor": "linecolor",
    "handlelength": 1.2,
}


def panels(count: int, *, width: float = 4.4, height: float = 3.1) -> tuple[Figure, list[Axes]]:
    """A figure of axes side by side, each of that size in inches."""
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12)
    figure = Figure(figsize=(width * count, height), dpi=DOTS, facecolor="white", layout=layout)
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def dress(axes: Axes, title: str, below: str) -> None:
    """A title, a name for the horizontal axis, lines across, and a legend in the colours of its curves."""
    axes.set_title(title, loc="left", color=INK, fontsize=11, fontweight="bold")
    axes.set_xlabel(below, color=FAINT, fontsize=9)
    axes.minorticks_off()
    axes.tick_params(length=0, labelcolor=FAINT, labelsize=9)
    axes.grid(axis="y", color=GRID)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(GRID)
    axes.legend(**LEGEND)
