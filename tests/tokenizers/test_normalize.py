import pytest
import tensorflow as tf

from zoo.tokenizers.normalize import normalize


@pytest.mark.parametrize(
    ("form", "expected"),
    [("none", "e\u0301 ﬁ é"), ("NFC", "é ﬁ é"), ("NFKC", "é fi é")],
)
def test_forms(form, expected):
    assert normalize(tf.constant("e\u0301 ﬁ é"), form).numpy().decode() == expected


def test_of_any_shape():
    assert normalize(tf.constant([["a", "b"], ["", " "]]), "NFC").numpy().tolist() == [
        [b"a", b"b"],
        [b"", b" "],
    ]
    assert normalize(tf.constant([], tf.string), "NFC").shape == (0,)


@pytest.mark.parametrize("form", ["none", "NFC", "NFKC"])
def test_invalid_bytes_are_replaced(form):
    assert normalize(tf.constant(b"ab\xc2"), form).numpy().decode() == "ab\ufffd"


def test_unknown_form():
    with pytest.raises(ValueError, match="none, NFC, NFKC, got 'NFD'"):
        normalize(tf.constant("a"), "NFD")


def test_a_long_run_of_marks_is_cut_and_quick():
    """A megabyte of them would take minutes, for one request of a server."""
    marks = "\u0301\u0316" * 250_000
    (short, long) = normalize(tf.constant(["e\u0301", f"e{marks}x"]), "NFC").numpy()
    assert short.decode() == "é"
    assert long.decode().endswith("x")
    assert len(long.decode()) <= 33
