import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from zoo.tokenizers.cutting import after_a_space, cut, name_of, piece_of, without_the_space

VALID = st.text(
    st.sampled_from("ab é,.!€#語\n\t\0👍🏽\u200d🇩🇪\u0301") | st.characters(exclude_categories=["Cs"])
)


def pieces(text):
    return [piece.decode("utf-8") for piece in cut(tf.constant([text])).to_list()[0]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" Oh,  no!", [" Oh", ",", " ", " no", "!"]),
        (" don't 3.14", [" don", "'", "t", " 3", ".", "14"]),
        (" \r\n\tx ", [" ", "\r", "\n", "\t", "x", " "]),
        (" 請看，那邊", [" 請看", "，", "那邊"]),
        (" 👩\u200d👩\u200d👧 🇩🇪🇫🇷👍🏽☺\ufe0f", [" 👩\u200d👩\u200d👧", " 🇩🇪", "🇫🇷", "👍🏽", "☺\ufe0f"]),
        (" हिन्दी ภาษาไทย", [" हिन्दी", " ภาษาไทย"]),
        (" a\u00a0b\u3000c", [" a", "\u00a0", "b", "\u3000", "c"]),
        ("", []),
    ],
)
def test_pieces(text, expected):
    assert pieces(text) == expected


@given(VALID)
def test_pieces_are_the_text_and_are_cut_no_further(text):
    found = pieces(text)
    assert "".join(found) == text
    assert [pieces(piece) for piece in found] == [[piece] for piece in found]


@given(VALID)
def test_names_tell_pieces_apart(text):
    for piece in pieces(text):
        assert piece_of(name_of(piece)) == piece


def test_names():
    assert [name_of(piece) for piece in (" Oh", ",", " ", " #", "#")] == ["Oh", "##,", "## ", "#", "###"]


@given(VALID)
def test_the_space_before_a_text(text):
    spaced = after_a_space(tf.constant([text]))
    assert spaced.numpy()[0].decode("utf-8") == (f" {text}" if text else "")
    assert without_the_space(spaced).numpy()[0].decode("utf-8") == text
