"""Decoding: one loop, several strategies, one form of answer."""

from zoo.decoders.beam import Beam, length_norm
from zoo.decoders.copying import most_attended
from zoo.decoders.greedy import Greedy
from zoo.decoders.logits import (
    AllowedTokens,
    ForbiddenTokens,
    ForcedPrefix,
    MinimumLength,
    NoRepeatNGram,
    OnlyEnd,
    RepetitionPenalty,
    Temperature,
    TopK,
    TopP,
)
from zoo.decoders.loop import decode, grow
from zoo.decoders.next_tokens import NextTokens
from zoo.decoders.parts import in_parts
from zoo.decoders.protocol import AligningModel, Decoded, LogitTransform, Seq2SeqModel, Strategy
from zoo.decoders.reading import log_coverage, reading_of
from zoo.decoders.sample import Sample
from zoo.decoders.score import Scored, score
from zoo.decoders.traced import TracedModel

__all__ = [
    "AligningModel",
    "AllowedTokens",
    "Beam",
    "Decoded",
    "ForbiddenTokens",
    "ForcedPrefix",
    "Greedy",
    "LogitTransform",
    "MinimumLength",
    "NextTokens",
    "NoRepeatNGram",
    "OnlyEnd",
    "RepetitionPenalty",
    "Sample",
    "Scored",
    "Seq2SeqModel",
    "Strategy",
    "Temperature",
    "TopK",
    "TopP",
    "TracedModel",
    "decode",
    "grow",
    "in_parts",
    "length_norm",
    "log_coverage",
    "most_attended",
    "reading_of",
    "score",
]
