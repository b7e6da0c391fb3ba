"""Fonts that have the letters of a text, and marks for what would not be seen."""

import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font

__all__ = ["FURTHER_LETTERS", "LETTERS", "Typeface", "typeface_for", "width_in_letters"]

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


class Typeface(NamedTuple):
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


def typeface_for(texts: Iterable[str]) -> Typeface:
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
    return Typeface(families, missing)


def width_in_letters(label: str) -> int:
    """Width of a label in Latin letters: Chinese characters and the like are twice as wide."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in label)
