"""SentencePiece models: learned, and written as the bytes that its encoder takes (Kudo and Richardson, 2018).

What is here of a model is what people can review: pieces and their scores. A piece that begins a word has `▁`
(U+2581) for the space before it.
"""

import io
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

__all__ = ["BYTES", "CUT_AND_COUNTED", "KINDS", "SPACE", "learn_pieces", "learnable", "model_bytes"]

KINDS = {"unigram": 1, "bpe": 2}
"""Ways to choose and to cut pieces, and their numbers in SentencePiece's own format."""

SPACE = "\u2581"

BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
"""What the pieces are called that stand for single bytes."""

CONTROL = {"\ufdd0": 3, "\ufdd1": 3, "\ufdd2": 3, "\ufdd3": 2}
"""PAD, START, END and UNKNOWN, and the numbers of their types.

They are called by noncharacters: SentencePiece would not learn from a text that holds one of their names.
"""

RESERVED = re.compile("[\0\u2585]")
"""Characters whose texts SentencePiece passes over as it learns."""

NORMAL, BYTE = 1, 6
THREADS = 4
"""The sums of the unigram model depend on their number, not on the machine's."""


CUT_AND_COUNTED = MappingProxyType({"input_format": "tsv", "add_dummy_prefix": False})
"""For texts that are pieces with their own spaces, a tab, and how often each occurs."""


def learnable(texts: Iterable[str]) -> list[str]:
    """What SentencePiece can learn from: texts without what it reserves, or the ends of their last lines."""
    parts = (part.rstrip("\r\n") for text in texts for part in RESERVED.split(text))
    return [part for part in parts if part]


def learn_pieces(
    texts: Iterable[str], kind: str, size: int, options: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, float]:
    """Learn up to `size` pieces, single characters counted; each piece with its score, in the order of ids.

    Args:
        texts: what `learnable` gave; at least one.
        kind: one of `KINDS`.
        size: greatest number of pieces; at least the number of different characters, the space counted.
        options: more of the trainer's own, such as `CUT_AND_COUNTED`.

    Raises:
        ImportError: sentencepiece is not installed.
        ValueError: SentencePiece cannot learn from these texts; says why.
    """
    trainer, processor = _sentencepiece()
    model = io.BytesIO()
    try:
        trainer.train(
            sentence_iterator=iter(texts),
            model_writer=model,
            model_type=kind,
            vocab_size=size + len(CONTROL),
            hard_vocab_limit=False,
            character_coverage=1.0,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            max_sentence_length=2**30,
            num_threads=THREADS,
            pad_id=0,
            bos_id=1,
            eos_id=2,
            unk_id=3,
            **dict(zip(("pad_piece", "bos_piece", "eos_piece", "unk_piece"), CONTROL, strict=True)),
            minloglevel=3,
            **options,
        )
    except RuntimeError as error:
        raise ValueError(
            f"SentencePiece cannot learn {size} pieces from these texts ({error}). Give other "
            "texts, or another vocab_size."
        ) from error
    learned = processor(model_proto=model.getvalue())
    ids = range(len(CONTROL), learned.get_piece_size())
    return {learned.id_to_piece(i): learned.get_score(i) for i in ids}


def model_bytes(pieces: Mapping[str, float], kind: str, *, byte_fallback: bool) -> bytes:
    """A `ModelProto` of SentencePiece: the four special pieces, those of bytes if need be, then the pieces.

    The model leaves texts as they are, but for a space that it puts before each.

    Args:
        pieces: each with its score, in the order of ids.
        kind: one of `KINDS`.
        byte_fallback: whether what no piece covers is cut into bytes.
    """
    listed = [_piece(name, 0.0, number) for name, number in CONTROL.items()]
    listed += [_piece(name, 0.0, BYTE) for name in BYTES if byte_fallback]
    listed += [_piece(name, score, NORMAL) for name, score in pieces.items()]
    trainer = [_number(3, KINDS[kind]), _number(4, len(listed)), _number(35, byte_fallback)]
    trainer += [_number(40, 3), _number(41, 1), _number(42, 2), _number(43, 0)]
    normalizer = [_bytes(1, b"identity"), _number(3, True), _number(4, False), _number(5, True)]
    return _message(
        [
            *(_bytes(1, piece) for piece in listed),
            _bytes(2, _message(trainer)),
            _bytes(3, _message(normalizer)),
        ]
    )


def _sentencepiece():
    try:
        import sentencepiece
    except ImportError as error:
        raise ImportError(
            f"Learning pieces needs the package sentencepiece, which cannot be imported here ({error}). "
            "Install it with: pip install sentencepiece"
        ) from error
    return sentencepiece.SentencePieceTrainer, sentencepiece.SentencePieceProcessor


def _piece(name: str, score: float, kind: int) -> bytes:
    return _message([_bytes(1, name.encode("utf-8")), _float(2, score), _number(3, kind)])


# Fields as Protocol Buffers write them: the number of the field and how it is written, then the value.


def _message(fields: Sequence[bytes]) -> bytes:
    return b"".join(fields)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _float(field: int, value: float) -> bytes:
    return _varint(field << 3 | 5) + struct.pack("<f", value)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _varint(value: int) -> bytes:
    """Seven bits a byte, lowest first; the eighth bit says that there is more."""
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])
