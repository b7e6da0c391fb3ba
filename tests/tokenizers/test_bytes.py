import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from zoo.tokenizers import END, UNKNOWN, Bytes, Normalization

NONE = Bytes(normalization=Normalization("none"))


def test_ids_are_bytes():
    assert NONE.vocab_size == 260
    assert NONE.encode(["a\0é", "", "語"]).to_list() == [
        [0x61 + 4, 4, 0xC3 + 4, 0xA9 + 4],
        [],
        [0xE8 + 4, 0xAA + 4, 0x9E + 4],
    ]


@given(st.lists(st.binary(max_size=12), min_size=1))
def test_ids_that_a_model_makes_are_read_as_python_reads_bytes(rows):
    ids = tf.ragged.constant([[byte + 4 for byte in row] + [END] for row in rows], tf.int32).to_tensor()
    texts = [text.decode("utf-8") for text in NONE.decode(ids).numpy()]
    assert texts == [row.decode("utf-8", "replace") for row in rows]


def test_names():
    names = NONE.tokens([UNKNOWN, 0x61 + 4, 0x20 + 4, 0xC3 + 4, 4])
    assert names.numpy().tolist() == [b"<unk>", b"a", b"<0x20>", b"<0xC3>", b"<0x00>"]


def test_normalization_comes_first():
    assert Bytes().encode(["e\u0301"]).to_list() == NONE.encode(["é"]).to_list()
    lower = Bytes(normalization=Normalization(case="lower"))
    assert lower.encode(["É"]).to_list() == NONE.encode(["é"]).to_list()


@pytest.mark.parametrize("text", ["👩\u200d👩\u200d👧", "\r\n", "\ufeff", "\ufffd"])
def test_nothing_is_unknown(text):
    ids = NONE.encode([text])
    assert UNKNOWN not in ids.values.numpy()
    assert NONE.decode(ids.to_tensor()).numpy()[0].decode("utf-8") == text
