"""Text cut into the tokens that the statistical translation system Moses (Koehn et al. 2007) works on."""

import re
from collections.abc import Callable

__all__ = ["LANGUAGES", "moses_tokens"]

LANGUAGES = ("de", "en", "fr")

QUOTES = str.maketrans(
    {"„": '"', "“": '"', "”": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "´": "'", "`": "'"}
)
DASHES_AND_DOTS = str.maketrans({"–": "-", "—": " - ", "…": "...", "\u00a0": " "})

ABBREVIATIONS = {
    "de": "bzgl bzw ca d.h etc evtl ggf i.d.r inkl max min o.ä s.o sog str u.a usw v.chr vgl vs z.b z.t",
    "en": "e.g i.e rev v vs",
    "fr": "adj adm adv av bd c.-à-d cf env etc ex fig max min p.ex vol vs",
}
"""After which a full stop is no end. They are in lower case; Moses' names and titles begin with capitals."""

APOSTROPHES: dict[str, Callable[[str], str]] = {
    "en": lambda text: re.sub(r"([^\W\d_])'(?=[^\W\d_])", r"\1 '", text),
    "fr": lambda text: re.sub(r"([^\W\d_])'(?=[^\W\d_])", r"\1' ", text),
    "de": lambda text: text.replace("'", " ' "),
}
"""Between two letters: with the right one in English (it 's), with the left one in French (l' air), alone in
German. Elsewhere an apostrophe stands alone."""


def moses_tokens(text: str, language: str) -> list[str]:
    """Normalise the punctuation of a text, and cut it into tokens, in the way of Moses' two scripts.

    Marks and symbols stand alone, but for hyphens, which stay in their words; commas and full stops stay in
    numbers, several full stops together, and one after an abbreviation or before a small letter with its
    word. It is meant for lower-cased text, where few of Moses' abbreviations count; and no mark is written as
    an HTML entity, which changes no score.

    Args:
        text: a sentence.
        language: one of `LANGUAGES`.

    Raises:
        ValueError: the language is not one of them.
    """
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, got {language!r}.")
    text = _normalised(text, language)
    text = re.sub(r"([^\w\s.'`,\-]|_)", r" \1 ", text)
    text = re.sub(r"\.{2,}", lambda dots: f" {dots[0]} ", text)
    text = re.sub(r"(?<!\d),|,(?!\d)", " , ", text)
    if language != "de":
        text = re.sub(r"(?<![^\W\d_])'|'(?![^\W\d_])", " ' ", text)
    words = APOSTROPHES[language](text).split()
    following = [*words, ""][1:]
    return [
        part for word, after in zip(words, following, strict=True) for part in _ended(word, after, language)
    ]


def _normalised(text: str, language: str) -> str:
    text = text.translate(QUOTES).translate(DASHES_AND_DOTS).replace("''", '"')
    text = re.sub(r" ([.,;:!?%])(?=\s|$)", r"\1", text)
    if language == "en":
        return re.sub(r'"([,.]+)', r'\1"', text)
    return re.sub(r'(\.+)"(\s*[^<])', r'"\1\2', text.replace(',"', '",'))


def _ended(word: str, after: str, language: str) -> list[str]:
    """A word and the full stop after it, together or apart."""
    stem = word[:-1]
    if not word.endswith(".") or not stem or stem.endswith("."):
        return [word]
    letters = any(character.isalpha() for character in stem)
    abbreviated = ("." in stem and letters) or stem in ABBREVIATIONS[language].split()
    ordinal = stem.isdecimal() and (language == "de" or after[:1].isdecimal())
    return [word] if abbreviated or after[:1].islower() or (ordinal and after) else [stem, "."]
