import sys
import unicodedata

import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from zoo.tokenizers.normalize import BATCH, Normalization, normalized


def apply(text, *policies, **more):
    return Normalization(*policies, **more).apply(tf.constant(text)).numpy().decode("utf-8")


@pytest.mark.parametrize(
    ("form", "expected"),
    [("none", "e\u0301 ﬁ é"), ("NFC", "é ﬁ é"), ("NFKC", "é fi é")],
)
def test_forms(form, expected):
    assert apply("e\u0301 ﬁ é", form) == expected


def test_of_any_shape():
    for normalization in (Normalization(), Normalization("NFKC", "lower", "split")):
        assert normalization.apply([["a", "b"], ["", " "]]).numpy().tolist() == [[b"a", b"b"], [b"", b" "]]
        assert normalization.apply(tf.constant([], tf.string)).shape == (0,)


@pytest.mark.parametrize("form", ["none", "NFC", "NFKC"])
def test_invalid_bytes_are_replaced(form):
    assert apply(b"ab\xc2", form) == "ab\ufffd"


def test_a_long_run_of_marks_is_cut_and_quick():
    """A megabyte of them would take minutes, for one request of a server."""
    marks = "\u0301\u0316" * 250_000
    (short, long) = Normalization("NFC").apply(tf.constant(["e\u0301", f"e{marks}x"])).numpy()
    assert short.decode() == "é"
    assert long.decode().endswith("x")
    assert len(long.decode()) <= 33


@given(st.text(st.sampled_from("aBÉé\u0301ßẞIİıΑΣΠДжǅ\0 .-ﬁℌ"), max_size=10))
def test_lower_case_is_that_of_unicode(text):
    """Words end at a NUL too, and what was lower-cased is brought into the form again."""
    assert apply(text, "none", "lower") == text.lower()
    for form in ("NFC", "NFKC"):
        lowered = unicodedata.normalize(form, text).lower()
        assert apply(text, form, "lower") == unicodedata.normalize(form, lowered)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Oh, no!", "Oh , no !"),
        ("(a)b", "( a ) b"),
        ("a--b ... c", "a - - b . . . c"),
        ("3.14 €5", "3 . 14 € 5"),
        (" a , b ", " a , b "),
        ("請看，那邊。", "請看 ， 那邊 。"),
        ("ok👍🏽👩\u200d👩\u200d👧🇩🇪", "ok 👍🏽 👩\u200d👩\u200d👧 🇩🇪"),
        ("a!\r\nb", "a ! \r\nb"),
        ("!\0!", "! \0 !"),
        ("", ""),
        ("!", "!"),
        ("  ", "  "),
    ],
)
def test_punctuation_is_set_apart(text, expected):
    assert apply(text, punctuation="split") == expected
    assert apply(text) == unicodedata.normalize("NFC", text)


@given(st.text(st.sampled_from("ab,.!€é語 \n\0"), max_size=10))
def test_split_punctuation_has_spaces_around_it_and_loses_nothing(text):
    split = apply(text, punctuation="split")
    assert split.replace(" ", "") == text.replace(" ", "")
    assert apply(split, punctuation="split") == split
    for place, character in enumerate(split):
        if unicodedata.category(character)[0] in "PS":
            assert split[:place] == "" or split[place - 1] == " "
            assert split[place + 1 :] == "" or split[place + 1] == " "


@pytest.mark.parametrize(
    ("policies", "message"),
    [
        ({"form": "NFD"}, "form of a Normalization must be one of none, NFC, NFKC, got 'NFD'"),
        ({"case": "upper"}, "case of a Normalization must be one of kept, lower, got 'upper'"),
        ({"punctuation": None}, "punctuation of a Normalization must be one of kept, split, got None"),
    ],
)
def test_unknown_policies(policies, message):
    with pytest.raises(ValueError, match=message):
        Normalization(**policies)


def test_as_it_stands_in_a_file():
    every = Normalization("NFKC", "lower", "split")
    assert Normalization.read(every.described()) == every
    assert Normalization.read({"normalization": "none", "characters": []}) == Normalization("none")


def test_where_tensorflow_text_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow_text", None)
    with pytest.raises(ImportError, match=r"Normalization\('NFC'\) needs the package tensorflow-text"):
        apply("a", "NFC")
    assert apply("É, é", "none", "lower", "split") == "é , é"


def test_a_corpus():
    texts = [f"e\u0301{number}" for number in range(2 * BATCH + 1)]
    assert list(normalized(iter(texts), Normalization())) == [f"é{number}" for number in range(2 * BATCH + 1)]
    assert list(normalized(["a\ufffdb", ""], Normalization())) == ["a", "b", ""]
    assert list(normalized([], Normalization())) == []
    with pytest.raises(TypeError, match=r"got the one text 'hello'. Pass a list"):
        list(normalized("hello", Normalization()))
