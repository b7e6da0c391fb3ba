"""Pictures: where a model looked, and how its training went.

Every function gives a `matplotlib.figure.Figure` that belongs to nobody: there is no window to close and no
screen needed. Save it, `figure.savefig("alignment.png")`, or leave it as the last line of a notebook's cell.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

__all__ = ["alignment_heat_map", "alignment_lines", "alignments", "learning_curve"]

INK = "#1d2733"
FAINT = "#7d8a99"
GRID = "#e6eaef"
ACCENT = "#0f6fb3"
HEAT = LinearSegmentedColormap.from_list("heat", ["#f3f6f9", "#b9d7ed", "#58a4d5", "#1a6aa6", "#08264a"])
HUES = LinearSegmentedColormap.from_list("hues", ["#0f6fb3", "#7a4fb5", "#c8375b", "#dd6b1f"])

LETTERS = ("DejaVu Sans Mono", "DejaVu Sans")
"""Come with matplotlib: Latin, Greek, Cyrillic and more."""

FURTHER_LETTERS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Noto Sans JP", "Source Han Sans SC"),
    *("WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback", "Unifont"),
    *("PingFang SC", "Hiragino Sans GB", "Heiti TC", "Apple SD Gothic Neo", "Arial Unicode MS"),
    *("Microsoft YaHei", "SimHei", "Yu Gothic", "Malgun Gothic", "Nirmala UI", "Segoe UI Symbol"),
    *("Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari", "Noto Sans Thai", "FreeSans"),
)
"""Looked for, in this order, when a text needs more than `LETTERS` have."""

WHITE_SPACE = {"\t": "⇥", "\n": "⏎", "\r": "⏎"}
"""How white space is shown; any other is `␣`."""

DOTS = 160
"""Resolution, per inch."""

WIDEST_LINE = 4.0
"""Width of a line that stands for weight 1, in points."""

# All lengths from here on are in cells of a heat map, whose size follows from how many have to fit.
LETTER_HEIGHT = 0.62
LETTER_WIDTH = 0.6 * LETTER_HEIGHT
GAP = 0.3
MARGIN = 0.5
SPACE = 1.6
HEADLINE = 1.7
SCALE = 3.2
LINES = 5.5
WIDEST_IN_TWO_COLUMNS = 36


class _Typeface(NamedTuple):
    """Font families that together show a text, and the characters that none of them has."""

    families: list[str]
    missing: set[str]

    def font(self, points: float) -> FontProperties:
        return FontProperties(family=self.families, size=points)

    def text(self, text: str) -> str:
        """A text with code points in place of what cannot be shown."""
        return "".join(
            f"{ord(letter):04X}" if letter in self.missing or not letter.isprintable() else letter
            for letter in text
        )

    def label(self, token: str) -> str:
        """A token as it is shown: a mark for white space, and something below an accent that stands alone."""
        marked = "".join(WHITE_SPACE.get(letter, "␣") if letter.isspace() else letter for letter in token)
        shown = self.text(marked)
        return f"◌{shown}" if unicodedata.combining(shown[:1] or " ") else shown


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


class _Sheet:
    """A figure that is measured in cells from its upper left corner."""

    def __init__(self, width: float, height: float) -> None:
        self.width = width
        self.height = height
        self.cell = float(np.clip(12 / width, 0.17, 0.3))
        """In inches."""
        self.points = LETTER_HEIGHT * self.cell * 72
        """Size of the letters of a label."""
        size = (width * self.cell, height * self.cell)
        self.figure = Figure(figsize=size, dpi=DOTS, facecolor="white")

    def axes(self, x: float, y: float, width: float, height: float) -> Axes:
        """Axes whose upper left corner is x to the right and y down."""
        bottom = self.height - y - height
        place = (x / self.width, bottom / self.height, width / self.width, height / self.height)
        return self.figure.add_axes(place)

    def headline(self, title: str | None, typeface: _Typeface) -> None:
        if title:
            place = (MARGIN / self.width, 1 - (MARGIN + 0.4) / self.height)
            font = FontProperties(family=typeface.families[1:], size=12)
            text = typeface.text(title)
            self.figure.text(*place, text, va="center", color=INK, font=font, parse_math=False)


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
    typeface = _typeface([*source, *target, title or ""])
    labels = [[typeface.label(token) for token in tokens] for tokens in (source, target)]
    width = max(_width(row) for row in labels)
    top = MARGIN + (HEADLINE if title else 0)
    sheet = _Sheet(width + 2 * MARGIN, top + LINES + 1 + MARGIN)
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


def learning_curve(history: Mapping[str, Sequence[float]]) -> Figure:
    """Draw what `fit` recorded of each epoch: one panel a quantity, training and validation together.

    Args:
        history: values of each epoch by name, as in Keras' `History.history`; names of what was measured in
            validation begin with `val_`.

    Raises:
        ValueError: nothing was recorded, or not the same number of epochs for all.
    """
    epochs = {name: len(values) for name, values in history.items()}
    if len(set(epochs.values())) != 1 or 0 in epochs.values():
        raise ValueError(
            f"A history must hold one value per epoch for every name, got these numbers of values: {epochs}. "
            "Pass what `fit` returned after at least one epoch."
        )
    names = list(dict.fromkeys(name.removeprefix("val_") for name in history))
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12)
    figure = Figure(figsize=(4.4 * len(names), 3.1), dpi=DOTS, facecolor="white", layout=layout)
    for name, axes in zip(names, figure.subplots(1, len(names), squeeze=False)[0], strict=True):
        _draw_curves(axes, name, history)
    return figure


def _heat_maps(examples: Iterable[tuple[Sequence[str], Sequence[str], Any]], title: str | None) -> Figure:
    """Heat maps with cells of one size, and one scale for all."""
    trimmed = [_trimmed(*example) for example in examples]
    tokens = [token for source, target, _ in trimmed for token in (*source, *target)]
    typeface = _typeface([*tokens, title or ""])
    panels = [_panel(typeface, *example) for example in trimmed]
    widest = max(panel.width for panel in panels)
    columns = 1 if len(panels) == 1 or widest > WIDEST_IN_TWO_COLUMNS else 2
    rows = [panels[first : first + columns] for first in range(0, len(panels), columns)]
    heights = [max(panel.height for panel in row) for row in rows]
    top = MARGIN + (HEADLINE if title else 0)
    width = MARGIN + columns * widest + (columns - 1) * SPACE + SCALE
    sheet = _Sheet(width, top + sum(heights) + SPACE * (len(rows) - 1) + MARGIN)
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


def _typeface(texts: Iterable[str]) -> _Typeface:
    """The families to draw texts with; further ones are opened only if a character needs them."""
    missing = {letter for text in texts for letter in text if letter.isprintable() and not letter.isspace()}
    families: list[str] = []
    installed = {font.name for font in fontManager.ttflist}
    for family in (*LETTERS, *FURTHER_LETTERS):
        if not missing and len(families) >= len(LETTERS):
            break
        if family not in installed:
            continue
        font = get_font(findfont(family))
        found = {letter for letter in missing if font.get_char_index(ord(letter))}
        if found or family in LETTERS:
            families.append(family)
            missing -= found
    return _Typeface(families, missing)


def _panel(typeface: _Typeface, source: list[str], target: list[str], weights: np.ndarray) -> _Panel:
    above = [typeface.label(token) for token in source]
    beside = [typeface.label(token) for token in target]
    left = max(map(_letters, beside)) * LETTER_WIDTH + GAP
    top = max(map(_letters, above)) * LETTER_WIDTH + GAP
    return _Panel(above, beside, weights, left, max(top, LETTER_HEIGHT + GAP))


def _letters(label: str) -> int:
    """Width of a label in Latin letters: Chinese characters and the like are twice as wide."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in label)


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
        label.set_rotation(90 if _letters(label.get_text()) > 2 else 0)


def _draw_scale(sheet: _Sheet, y: float, rows: int) -> None:
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
    return sum(max(0.72, _letters(label) * LETTER_WIDTH * 1.15 + 0.3) for label in labels)


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


def _draw_curves(axes: Axes, name: str, history: Mapping[str, Sequence[float]]) -> None:
    """A quantity in training and in validation."""
    epochs = range(1, len(next(iter(history.values()))) + 1)
    for label, key, colour in (("training", name, FAINT), ("validation", f"val_{name}", ACCENT)):
        if key in history:
            axes.plot(epochs, history[key], "o-", label=label, color=colour, linewidth=1.8, markersize=3.5)
    axes.set_title(name.replace("_", " "), loc="left", color=INK, fontsize=11, fontweight="bold")
    axes.set_xlabel("epoch", color=FAINT, fontsize=9)
    axes.set_xlim(0.7, epochs[-1] + 0.3)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8, min_n_ticks=1))
    axes.tick_params(length=0, labelcolor=FAINT, labelsize=9)
    axes.grid(axis="y", color=GRID)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(GRID)
    axes.legend(frameon=False, fontsize=9, labelcolor="linecolor", handlelength=1.2)
