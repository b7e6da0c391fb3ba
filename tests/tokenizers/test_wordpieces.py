import sys

import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from zoo.tokenizers import UNKNOWN, Normalization, WordPieces

WORDS = "low low low low low lower lower newest newest newest newest newest newest widest widest widest"


def names(tokenizer, text):
    return [name.decode("utf-8") for name in tokenizer.tokens(tokenizer.encode([text]).values).numpy()]


def back(tokenizer, text):
    return tokenizer.decode(tokenizer.encode([text]).to_tensor()).numpy()[0].decode("utf-8")


def longest_match(pieces, word):
    """Of a word after a space, in plain Python."""
    found, rest = [], word
    while rest:
        prefix = "##" if found else ""
        lengths = [length for length in range(1, len(rest) + 1) if prefix + rest[:length] in pieces]
        if not lengths:
            return ["<unk>"]
        found.append(prefix + rest[: lengths[-1]])
        rest = rest[lengths[-1] :]
    return found


@given(
    st.lists(st.from_regex(r"(##)?[abé]{1,4}", fullmatch=True), unique=True),
    st.lists(st.text("abé", min_size=1, max_size=9)),
)
def test_words_are_cut_by_the_longest_match(pieces, words):
    expected = [piece for word in words for piece in longest_match(pieces, word)]
    assert names(WordPieces(pieces), " ".join(words)) == expected


def test_what_is_glued_has_the_mark_of_a_piece_that_is():
    tokenizer = WordPieces(["un", "##aff", "##able", "##,", "yes", "(", "##yes"])
    assert names(tokenizer, "unaffable, yes (yes,able") == [
        *("un", "##aff", "##able", "##,", "yes", "(", "##yes", "##,", "##able")
    ]
    assert back(tokenizer, "unaffable, yes (yes,able") == "unaffable, yes (yes,able"
    assert back(tokenizer, "yes,no, un!") == "yes, \ufffd, un \ufffd"


def test_a_dictionary_cuts_chinese_words():
    assert names(WordPieces(["請", "##看", "##那邊"]), "請看那邊") == ["請", "##看", "##那邊"]


def test_a_long_word_is_cut_too():
    tokenizer = WordPieces(["a", "##a"])
    assert tokenizer.encode(["a" * 5000]).to_list() == [[4] + [5] * 4999]


def test_the_most_frequent_neighbours_are_merged_first():
    """Counted by hand: e and s stand together 9 times, then es and t 9 times, then l and o 7 times."""
    learned = WordPieces.learn([WORDS], vocab_size=31).pieces
    characters = sorted(set(WORDS) - {" "})
    assert learned[:21] == (*characters, "## ", *(f"##{character}" for character in characters))
    assert learned[21:23] == ("##es", "##est")
    assert set(learned[23:25]) == {"##lo", "##low"}
    assert len(learned) == 31 - 4


def test_it_is_repeatable():
    assert WordPieces.learn([WORDS], vocab_size=31).pieces == WordPieces.learn([WORDS], vocab_size=31).pieces


def test_normalization_comes_first():
    tokenizer = WordPieces.learn([WORDS.upper()], vocab_size=31, normalization=Normalization(case="lower"))
    assert back(tokenizer, "Newest LOWER") == "newest lower"


@pytest.mark.parametrize("text", [" ", "\n", "a", "!"])
def test_least_texts(text):
    assert back(WordPieces.learn([text], vocab_size=5 + 2 * (text != " ")), text) == text


@pytest.mark.parametrize(
    ("vocab_size", "message"),
    [
        (24, "too small: the special ids and 10 different characters, after a space and glued, take 25"),
        (56, "vocab_size=56 is too large: these texts give no more than 55"),
    ],
)
def test_sizes_that_these_texts_do_not_give(vocab_size, message):
    with pytest.raises(ValueError, match=message):
        WordPieces.learn([WORDS], vocab_size=vocab_size)


@pytest.mark.parametrize("texts", [[], ["", ""]])
def test_nothing_to_learn_from(texts):
    with pytest.raises(ValueError, match="nothing to learn from"):
        WordPieces.learn(texts, vocab_size=100)


@pytest.mark.parametrize("wrong", ["", "##", "<unk>", "<pad>", "<glued>", "a\0"])
def test_an_entry_that_cannot_be_a_piece(wrong):
    with pytest.raises(ValueError, match=r"A piece is text without NUL, .* got "):
        WordPieces(["a", wrong])


def test_an_entry_that_is_there_twice():
    with pytest.raises(ValueError, match="A piece must be there once, got 'a' twice"):
        WordPieces(["a", "b", "a"])


def test_where_tensorflow_text_is_missing(monkeypatch):
    tokenizer = WordPieces(["a"], normalization=Normalization("none"))
    monkeypatch.setitem(sys.modules, "tensorflow_text", None)
    with pytest.raises(ImportError, match="WordPieces needs the package tensorflow-text"):
        tokenizer.encode(["a"])


def test_an_unknown_word_is_one_token():
    tokenizer = WordPieces(["a", "##b"])
    ids = tokenizer.encode(tf.constant(["abzab a", "z", "a\0"]))
    assert ids.to_list() == [[UNKNOWN, 4], [UNKNOWN], [UNKNOWN]]
