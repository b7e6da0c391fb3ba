"""A figure that is measured in cells of a heat map, so that letters and cells fit however many there are."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from zoo.plots.style import DOTS, INK
from zoo.plots.typeface import Typeface

__all__ = [
    "GAP",
    "HEADLINE",
    "LETTER_HEIGHT",
    "LETTER_WIDTH",
    "MARGIN",
    "SPACE",
    "WIDEST_IN_TWO_COLUMNS",
    "Sheet",
]

# All lengths are in cells, whose size follows from how many have to fit.
LETTER_HEIGHT = 0.62
LETTER_WIDTH = 0.6 * LETTER_HEIGHT
GAP = 0.3
MARGIN = 0.5
SPACE = 1.6
HEADLINE = 1.7
WIDEST_IN_TWO_COLUMNS = 36


class Sheet:
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

    def headline(self, title: str | None, typeface: Typeface) -> None:
        """A title in the upper left corner, `MARGIN + HEADLINE` high with what is above it."""
        if title:
            place = (MARGIN / self.width, 1 - (MARGIN + 0.4) / self.height)
            font = FontProperties(family=typeface.families[1:], size=12)
            text = typeface.text(title)
            self.figure.text(*place, text, va="center", color=INK, font=font, parse_math=False)
