"""Decoding: one loop, several strategies, one form of answer."""

from zoo.decoders.beam import Beam, length_norm
from zoo.decoders.greedy import Greedy
from zoo.decoders.logits import OnlyEnd
from zoo.decoders.loop import decode
from zoo.decoders.protocol import AligningModel, Decoded, LogitTransform, Seq2SeqModel, Strategy
from zoo.decoders.score import Scored, score

__all__ = [
    "AligningModel",
    "Beam",
    "Decoded",
    "Greedy",
    "LogitTransform",
    "OnlyEnd",
    "Scored",
    "Seq2SeqModel",
    "Strategy",
    "decode",
    "length_norm",
    "score",
]
