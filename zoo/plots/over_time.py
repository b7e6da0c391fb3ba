"""What the units of a layer do over time: gates and states."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from zoo.plots.sheet import (
    GAP,
    HEADLINE,
    LETTER_WIDTH,
    MARGIN,
    WIDEST_IN_TWO_COLUMNS,
    Sheet,
)
from zoo.plots.style import BALANCE, FAINT, HEAT, INK
from zoo.plots.typeface import LETTERS, typeface_for, width_in_letters

__all__ = ["gates"]

MOST_WITH_EDGES = 16
"""Of more units than these, rows are too thin to be set apart."""

# All lengths are in cells, as those of a sheet.
SHORTEST, TALLEST = 3.0, 10.0
SCALE = 3.2
NAME = 1.4

NAME_SIZE = 1.15
"""Of the letters of a name, in those of a label."""


class _Range(NamedTuple):
    """Which colours stand for which numbers."""

    lowest: float
    highest: float
    colours: Colormap


def gates(
    values: Mapping[str, Any], tokens: Sequence[str] | None = None, *, title: str | None = None
) -> Figure:
    """Draw what each unit does at each step, one heat map a name: gates, or states of several layers.

    Numbers without a sign, such as gates, are drawn from 0, pale, to 1, dark. Signed ones are drawn around 0:
    red below, blue above, as far as the largest goes, at least from -1 to 1.

    Args:
        values: (T, D) by name, such as the fields of `zoo.diagnostics.gates_over_time` of one example.
        tokens: T strings, what was read at each step. Empty strings at the end are padding, which is not
            drawn; without tokens steps are numbered from 1.
        title: above the picture.

    Raises:
        ValueError: there is nothing to draw, the values are of different lengths, or not finite.
    """
    arrays = {name: np.asarray(array, np.float64) for name, array in values.items()}
    steps = _steps(arrays, tokens)
    typeface = typeface_for([*steps, *arrays, title or ""])
    labels = [typeface.label(step) for step in steps]
    names = [typeface.text(name) for name in arrays]
    height = min(TALLEST, max(SHORTEST, *(0.5 * array.shape[1] for array in arrays.values())))
    below = max(*map(width_in_letters, labels), 2) * LETTER_WIDTH + GAP
    widest_name = max(map(width_in_letters, names)) * LETTER_WIDTH * NAME_SIZE
    across = max(len(steps) + SCALE, widest_name + GAP)
    down = NAME + height + below + GAP
    columns = 1 if len(arrays) == 1 or len(steps) > WIDEST_IN_TWO_COLUMNS else 2
    top = MARGIN + (HEADLINE if title else 0)
    sheet = Sheet(MARGIN + columns * across, top + -(-len(arrays) // columns) * down)
    for number, (name, array) in enumerate(zip(names, arrays.values(), strict=True)):
        row, column = divmod(number, columns)
        x, y = MARGIN + column * across, top + row * down + NAME
        shown = array[: len(steps)]
        limits = _range(shown)
        axes = sheet.axes(x, y, len(steps), height)
        _draw_units(axes, shown, limits, labels, typeface.font(sheet.points))
        size = NAME_SIZE * sheet.points
        axes.set_title(name, loc="left", pad=4, color=INK, fontsize=size, fontweight="bold", parse_math=False)
        _draw_scale(sheet.axes(x + len(steps) + 0.4, y, 0.4, height), limits, sheet.points)
    sheet.headline(title, typeface)
    return sheet.figure


def _steps(arrays: Mapping[str, np.ndarray], tokens: Sequence[str] | None) -> list[str]:
    """What is written below each step that is drawn."""
    shapes = {name: array.shape for name, array in arrays.items()}
    expected = max((shape[:1] for shape in shapes.values()), default=()) if tokens is None else (len(tokens),)
    if not arrays or any(len(s) != 2 or s[:1] != expected or 0 in s for s in shapes.values()):
        raise ValueError(
            "Expected values (T, D) by name, as many steps T for each as there are tokens, got shapes "
            f"{shapes} and {'no' if tokens is None else len(tokens)} tokens. Pass one example, not a batch."
        )
    for name, array in arrays.items():
        if not np.all(np.isfinite(array)):
            raise ValueError(f"Values to draw must be finite, got {array} for {name!r}.")
    if tokens is None:
        return [str(step) for step in range(1, expected[0] + 1)]
    length = max((place for place, token in enumerate(tokens, start=1) if token), default=0)
    if not length:
        raise ValueError(f"There must be a token that is not empty, got {len(tokens)} empty ones.")
    return list(tokens[:length])


def _range(array: np.ndarray) -> _Range:
    if array.min() >= 0:
        return _Range(0, max(1.0, array.max()), HEAT)
    largest = max(1.0, np.abs(array).max())
    return _Range(-largest, largest, BALANCE)


def _draw_units(
    axes: Axes, array: np.ndarray, limits: _Range, labels: list[str], font: FontProperties
) -> None:
    axes.pcolormesh(
        array.T,
        cmap=limits.colours,
        vmin=limits.lowest,
        vmax=limits.highest,
        edgecolors="white",
        linewidth=1.0 if array.shape[1] <= MOST_WITH_EDGES else 0.0,
    )
    axes.invert_yaxis()
    axes.set_yticks([])
    axes.set_xticks(np.arange(len(labels)) + 0.5, labels)
    axes.tick_params(length=0, pad=2.5, labelcolor=INK)
    axes.spines[:].set_visible(False)
    for label in axes.get_xticklabels():
        label.set(font=font, parse_math=False, rotation=90 if width_in_letters(label.get_text()) > 2 else 0)


def _draw_scale(axes: Axes, limits: _Range, points: float) -> None:
    axes.pcolormesh(np.linspace(limits.lowest, limits.highest, 128)[:, None], cmap=limits.colours)
    axes.set_xticks([])
    ends = (limits.lowest, (limits.lowest + limits.highest) / 2, limits.highest)
    axes.set_yticks([0, 64, 128], [f"{number:.2g}".replace("-", "−") for number in ends])
    axes.tick_params(length=0, pad=3, labelleft=False, labelright=True, labelcolor=FAINT)
    axes.spines[:].set_visible(False)
    for label in axes.get_yticklabels():
        label.set(fontsize=0.9 * points, family=LETTERS[0])
