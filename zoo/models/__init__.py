"""The models of the zoo, all behind one protocol (`zoo.decoders.protocol`)."""

from zoo.models.encoded import Encoded
from zoo.models.recurrent import BahdanauDecoder, LuongDecoder, RecurrentDecoder, RecurrentEncoder
from zoo.models.seq2seq import RecurrentSeq2Seq, Seq2Seq, TransformerSeq2Seq
from zoo.models.transformer import TransformerDecoder, TransformerEncoder

__all__ = [
    "BahdanauDecoder",
    "Encoded",
    "LuongDecoder",
    "RecurrentDecoder",
    "RecurrentEncoder",
    "RecurrentSeq2Seq",
    "Seq2Seq",
    "TransformerDecoder",
    "TransformerEncoder",
    "TransformerSeq2Seq",
]
