"""How answers are judged: `metric(predictions, references)` gives one number for the whole."""

from zoo.metrics.alignments import alignment_error_rate
from zoo.metrics.corpus import Bleu, ChrF, signatures
from zoo.metrics.moses import moses_tokens
from zoo.metrics.strings import (
    character_error_rate,
    edit_distance,
    exact_match,
    phoneme_error_rate,
    string_error_rate,
    word_error_rate,
)

__all__ = [
    "Bleu",
    "ChrF",
    "alignment_error_rate",
    "character_error_rate",
    "edit_distance",
    "exact_match",
    "moses_tokens",
    "phoneme_error_rate",
    "signatures",
    "string_error_rate",
    "word_error_rate",
]
