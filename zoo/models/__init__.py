"""The models of the zoo, all behind one protocol (`zoo.decoders.protocol`)."""

from zoo.models.recurrent_seq2seq import RecurrentSeq2Seq

__all__ = ["RecurrentSeq2Seq"]
