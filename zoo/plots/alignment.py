"""Where a model looked: alignments as heat maps and as lines."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path

from zoo.plots.sheet import (
    GAP,
    HEADLINE,
    LETTER_HEIGHT,
    LETTER_WIDTH,
    MARGIN,
    SPACE,
    WIDEST_IN_TWO_COLUMNS,
    Sheet,
)
from zoo.plots.style import FAINT, HEAT, HUES, INK
from zoo.plots.typeface import LETTERS, Typeface, typeface_for, width_in_letters

__all__ = ["WIDEST_LINE", "alignment_heat_map", "alignment_lines", "alignments"]

WIDEST_LINE = 4.0
"""Width of a line that stands for weight 1, in points."""

SCALE = 3.2
"""Room for the scale of a heat map, in cells."""

LINES = 5.5
"""From the middle of the source to that of the target, in cells."""


class _Panel(NamedTuple):
    """A heat map and its labels."""

    source: list[str]
    target: list[str]
    weights: np.ndarray
    left: float
    """Room for the target's labels."""
    top: float
    """Room for the source's labels."""

    @property
    def width(self) -> float:
        return self.left + len(self.source)

    @property
    def height(self) -> float:
        return self.top + len(self.target)


def alignment_heat_map(
    source_tokens: Sequence[str], target_tokens: Sequence[str], alignment: Any, *, title: str | None = None
) -> Figure:
    """Draw how much each target token drew on each source token: the darker, the more.

    White space is shown as a mark (`␣`), and a character that no known font has as its code point in
    hexadecimal.

    Args:
        source_tokens: S strings, one a column. Empty strings at the end are padding, which is not drawn.
        target_tokens: T strings, one a row, from top to bottom; padded in the same way.
        alignment: (T, S) weights from 0 to 1, those of padding included.
        title: above the picture.

    Raises:
        ValueError: the weights are of another shape or range, or there is nothing but padding.
    """
    return _heat_maps([(source_tokens, target_tokens, alignment)], title)


def alignments(
    examples: Sequence[tuple[Sequence[str], Sequence[str], Any]], *, title: str | None = None
) -> Figure:
    """Draw several heat maps, in two columns if they are narrow enough.

    Args:
        examples: triples of source tokens, target tokens and weights as `alignment_heat_map` takes them; what
            a client's `align` gives is a list of such triples.
        title: above all of them.

    Raises:
        ValueError: there are no examples, or one of them cannot be drawn.
    """
    if len(examples) == 0:
        raise ValueError("There must be at least one example to draw, got none.")
    return _heat_maps(examples, title)


def alignment_lines(
    source_tokens: Sequence[str], target_tokens: Sequence[str], alignment: Any, *, title: str | None = None
) -> Figure:
    """Draw the source above, the target below, and lines between: the wider and stronger, the more.

    Args:
        source_tokens, target_tokens, alignment, title: as for `alignment_heat_map`.

    Raises:
        ValueError: the weights are of another shape or range, or there is nothing but padding.
    """
    source, target, weights = _trimmed(source_tokens, target_tokens, alignment)
    typeface = typeface_for([*source, *target, title or ""])
    labels = [[typeface.label(token) for token in tokens] for tokens in (source, target)]
    width = max(_width(row) for row in labels)
    top = MARGIN + (HEADLINE if title else 0)
    sheet = Sheet(width + 2 * MARGIN, top + LINES + 1 + MARGIN)
    axes = sheet.axes(MARGIN, top, width, LINES + 1)
    axes.set(xlim=(0, width), ylim=(-0.5, LINES + 0.5))
    axes.axis("off")
    above, below = (_spread(row, width) for row in labels)
    hues = HUES(np.linspace(0, 1, len(target)))
    axes.add_collection(_lines(above, below, weights, hues))
    ends = [(x, LINES, label, INK) for x, label in zip(above, labels[0], strict=True)]
    ends += [(x, 0, label, hue) for x, label, hue in zip(below, labels[1], hues, strict=True)]
    font = typeface.font(1.15 * sheet.points)
    for x, y, label, colour in ends:
        axes.text(x, y, label, ha="center", va="center", color=colour, font=font, parse_math=False)
    sheet.headline(title, typeface)
    return sheet.figure


def _heat_maps(examples: Iterable[tuple[Sequence[str], Sequence[str], Any]], title: str | None) -> Figure:
    """Heat maps with cells of one size, and one scale for all."""
    trimmed = [_trimmed(*example) for example in examples]
    tokens = [token for source, target, _ in trimmed for token in (*source, *target)]
    typeface = typeface_for([*tokens, title or ""])
    panels = [_panel(typeface, *example) for example in trimmed]
    widest = max(panel.width for panel in panels)
    columns = 1 if len(panels) == 1 or widest > WIDEST_IN_TWO_COLUMNS else 2
    rows = [panels[first : first + columns] for first in range(0, len(panels), columns)]
    heights = [max(panel.height for panel in row) for row in rows]
    top = MARGIN + (HEADLINE if title else 0)
    width = MARGIN + columns * widest + (columns - 1) * SPACE + SCALE
    sheet = Sheet(width, top + sum(heights) + SPACE * (len(rows) - 1) + MARGIN)
    y = top
    for row, height in zip(rows, heights, strict=True):
        for column, panel in enumerate(row):
            x = MARGIN + column * (widest + SPACE) + panel.left
            axes = sheet.axes(x, y + panel.top, len(panel.source), len(panel.target))
            _draw_heat_map(axes, panel, typeface.font(sheet.points))
        y += height + SPACE
    _draw_scale(sheet, top + panels[0].top, len(panels[0].target))
    sheet.headline(title, typeface)
    return sheet.figure


def _trimmed(source: Sequence[str], target: Sequence[str], alignment: Any) -> tuple[list, list, np.ndarray]:
    """Tokens and weights without the padding."""
    weights = np.asarray(alignment, dtype=np.float64)
    if weights.shape != (len(target), len(source)):
        raise ValueError(
            "An alignment has one row for each target token and one column for each source token: expected "
            f"shape {(len(target), len(source))}, got {weights.shape}. Pass one example, not a batch."
        )
    # Written so that NaN fails too.
    if not np.all((weights >= -1e-3) & (weights <= 1 + 1e-3)):
        raise ValueError(
            f"Weights of an alignment lie between 0 and 1, got {weights.min()} to {weights.max()}. "
            "Pass them after the softmax."
        )
    source, target = _without_padding(source), _without_padding(target)
    if not source or not target:
        raise ValueError(
            f"There must be a source and a target token to draw, got {len(source)} and {len(target)} "
            "that are not empty."
        )
    return source, target, weights[: len(target), : len(source)].clip(0, 1)


def _without_padding(tokens: Sequence[str]) -> list[str]:
    length = max((place for place, token in enumerate(tokens, start=1) if token), default=0)
    return list(tokens[:length])


def _panel(typeface: Typeface, source: list[str], target: list[str], weights: np.ndarray) -> _Panel:
    above = [typeface.label(token) for token in source]
    beside = [typeface.label(token) for token in target]
    left = max(map(width_in_letters, beside)) * LETTER_WIDTH + GAP
    top = max(map(width_in_letters, above)) * LETTER_WIDTH + GAP
    return _Panel(above, beside, weights, left, max(top, LETTER_HEIGHT + GAP))


def _draw_heat_map(axes: Axes, panel: _Panel, font: FontProperties) -> None:
    axes.pcolormesh(panel.weights, cmap=HEAT, vmin=0, vmax=1, edgecolors="white", linewidth=1.0)
    axes.invert_yaxis()
    axes.set_xticks(np.arange(len(panel.source)) + 0.5, panel.source)
    axes.set_yticks(np.arange(len(panel.target)) + 0.5, panel.target)
    axes.tick_params(length=0, pad=2.5, labeltop=True, labelbottom=False, labelcolor=INK)
    axes.spines[:].set_visible(False)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set(font=font, parse_math=False)
    for label in axes.get_xticklabels():
        label.set_rotation(90 if width_in_letters(label.get_text()) > 2 else 0)


def _draw_scale(sheet: Sheet, y: float, rows: int) -> None:
    axes = sheet.axes(sheet.width - SCALE + 1.0, y, 0.5, min(rows, 8))
    axes.pcolormesh(np.linspace(0, 1, 128)[:, None], cmap=HEAT, vmin=0, vmax=1)
    axes.set_xticks([])
    axes.set_yticks([0, 64, 128], ["0", "0.5", "1"])
    axes.tick_params(length=0, pad=3, labelleft=False, labelright=True, labelcolor=FAINT)
    axes.spines[:].set_visible(False)
    for label in axes.get_yticklabels():
        label.set(fontsize=0.9 * sheet.points, family=LETTERS[0])


def _width(labels: Sequence[str]) -> float:
    """Of a line of labels."""
    return sum(max(0.72, width_in_letters(label) * LETTER_WIDTH * 1.15 + 0.3) for label in labels)


def _spread(labels: Sequence[str], width: float) -> np.ndarray:
    """Centres of labels that are spread over a width, each with room after its own width."""
    widths = np.array([_width([label]) for label in labels])
    room = (width - widths.sum()) / len(labels)
    return np.cumsum(widths + room) - (widths + room) / 2


def _lines(above: np.ndarray, below: np.ndarray, weights: np.ndarray, hues: np.ndarray) -> PathCollection:
    """One line for each pair of a target and a source token, in the order of the weights' rows."""
    high, low = LINES - 0.7, 0.7
    middle = (high + low) / 2
    codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    paths = [
        Path([(x, low), (x, middle), (other, middle), (other, high)], codes) for x in below for other in above
    ]
    colours = np.repeat(hues, len(above), axis=0)
    colours[:, 3] = weights.ravel()
    return PathCollection(
        paths, facecolors="none", edgecolors=colours, linewidths=WIDEST_LINE * weights.ravel()
    )
