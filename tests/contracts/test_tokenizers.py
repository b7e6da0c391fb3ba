"""What every tokenizer promises."""

import unicodedata

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizer_cases import TOKENIZERS

from zoo.tokenizers import END, PAD, START, UNKNOWN, Tokenizer

TEXTS = [
    "plain words, 42!",
    "",
    " ",
    " \t  two  spaces ",
    "Straße ÉCOLE",
    "e\u0301 as two, \u00e9 as one, \u1e9b\u0323",  # NFD, NFC, and what NFKC alone changes
    "हिन्दी में",
    "ภาษาไทย",
    "日本語 中文 한국어 각",
    "עברית ثلاثة \u200fabc",
    "👩\u200d👩\u200d👧 🇩🇪 👍🏽 ☺\ufe0f",
    "line\r\nbreak\rand\n",
    "\ufeffwith a mark",
    "nul\0inside\0",
    "ﬁ ２ ℌ",
    "\U0010fffd \ue000 \u0378",  # private use, and a code point that is not assigned
]
VALID = st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=12).filter(
    lambda t: "\ufffd" not in t
)

each_case = pytest.mark.parametrize("case", TOKENIZERS.values(), ids=TOKENIZERS.keys())


def texts_of(strings):
    return [string.decode("utf-8") for string in strings.numpy().tolist()]


def round_trip(tokenizer, texts):
    return texts_of(tokenizer.decode(tokenizer.encode(tf.constant(texts, tf.string)).to_tensor(PAD)))


@each_case
def test_is_a_tokenizer(case):
    assert isinstance(case.learn(["a"]), Tokenizer)


@each_case
def test_round_trip(case):
    tokenizer = case.learn(TEXTS)
    assert round_trip(tokenizer, TEXTS) == [case.canonical(text) for text in TEXTS]
    for text in TEXTS:
        assert round_trip(tokenizer, [text]) == [case.canonical(text)]


@each_case
@settings(max_examples=60)
@given(texts=st.lists(VALID, min_size=1, max_size=4))
def test_round_trip_of_any_text(case, texts):
    assert round_trip(case.learn(texts), texts) == [case.canonical(text) for text in texts]


@each_case
@settings(max_examples=60)
@given(data=st.lists(st.binary(max_size=8), min_size=1, max_size=4))
def test_any_bytes_are_read_and_come_back_as_valid_text(case, data):
    """As Python's decoder reads them, but for what the tokenizer does not know."""
    tokenizer = case.learn([chr(i) for i in range(128)])
    ids = tokenizer.encode(tf.constant(data, tf.string))
    assert np.all((ids.values >= UNKNOWN) & (ids.values < tokenizer.vocab_size))
    for bytes_, text in zip(data, texts_of(tokenizer.decode(ids.to_tensor(PAD))), strict=True):
        if not any(unicodedata.combining(c) for c in bytes_.decode("utf-8", "replace")):
            known = [
                c if ord(c) < 128 else "\ufffd" for c in case.canonical(bytes_.decode("utf-8", "replace"))
            ]
            assert text == "".join(known)


@each_case
def test_invalid_utf8(case):
    tokenizer = case.learn(["ab"])
    a, b = tokenizer.encode(["ab"]).to_list()[0]
    read = tokenizer.encode(tf.constant([b"ab\xc2", b"\xff\xfea", b"a\xe2\x82b", b"ab"]))
    assert read.to_list() == [[a, b, UNKNOWN], [UNKNOWN, UNKNOWN, a], [a, UNKNOWN, b], [a, b]]
    assert texts_of(tokenizer.decode(read.to_tensor(PAD)))[0] == "ab\ufffd"


@each_case
def test_unknown_text_is_unknown_and_comes_back_as_a_replacement(case):
    tokenizer = case.learn(["ab"])
    for text in ("z", "\ufffd", "語", "\0"):
        assert tokenizer.encode([text]).to_list() == [[UNKNOWN]]
        assert round_trip(tokenizer, [f"a{text}b"]) == ["a\ufffdb"]


@each_case
@pytest.mark.parametrize("learned_from", [[], [""], ["\ufffd"]])
def test_an_empty_vocabulary(case, learned_from):
    tokenizer = case.learn(learned_from)
    assert tokenizer.vocab_size == UNKNOWN + 1
    assert tokenizer.encode(["a\ufffd\0", ""]).to_list() == [[UNKNOWN] * 3, []]
    assert round_trip(tokenizer, ["é", ""]) == ["\ufffd", ""]


@each_case
def test_form_of_ids(case):
    tokenizer = case.learn(TEXTS)
    ids = tokenizer.encode(TEXTS)
    assert isinstance(ids, tf.RaggedTensor)
    assert ids.dtype == tf.int32
    assert ids.shape.as_list() == [len(TEXTS), None]
    assert int(ids.row_lengths()[1]) == 0
    assert np.all((ids.values >= UNKNOWN) & (ids.values < tokenizer.vocab_size))
    assert UNKNOWN not in ids.values.numpy()


@each_case
def test_no_texts(case):
    tokenizer = case.learn(TEXTS)
    ids = tokenizer.encode(tf.constant([], tf.string))
    assert ids.shape[0] == 0
    assert tokenizer.decode(ids.to_tensor(PAD)).shape == (0,)
    assert tokenizer.decode(tf.zeros([0, 4], tf.int32)).shape == (0,)
    assert texts_of(tokenizer.decode(tf.zeros([2, 0], tf.int32))) == ["", ""]


@each_case
def test_decodes_up_to_the_first_end_without_special_ids(case):
    tokenizer = case.learn(["ab"])
    a, b = tokenizer.encode(["ab"]).to_list()[0]
    rows = [
        [START, a, PAD, b, END, a],
        [END, a, a, a, a, a],
        [a, UNKNOWN, b, END, END, b],
        [a, b, b, b, a, a],
    ]
    assert texts_of(tokenizer.decode(rows)) == ["ab", "", "a\ufffdb", "abbbaa"]


@each_case
def test_names_of_tokens(case):
    tokenizer = case.learn(["ab\0"])
    a, b, nul = tokenizer.encode(["ab\0"]).to_list()[0]
    for name in (tokenizer.tokens, tf.function(tokenizer.tokens)):
        names = name(tf.constant([[PAD, START, END, UNKNOWN], [a, b, a, nul]]))
        assert names.numpy().tolist() == [[b"", b"<s>", b"</s>", b"<unk>"], [b"a", b"b", b"a", b"\0"]]
    assert tokenizer.tokens(tf.zeros([0, 3], tf.int32)).shape == (0, 3)


@each_case
def test_save_and_load(case, tmp_path):
    tokenizer = case.learn(TEXTS)
    tokenizer.save(tmp_path / "new" / "folder")
    loaded = type(tokenizer).load(tmp_path / "new" / "folder")
    assert loaded.describe() == tokenizer.describe()
    assert loaded.vocab_size == tokenizer.vocab_size
    assert loaded.encode(TEXTS).to_list() == tokenizer.encode(TEXTS).to_list()


@each_case
def test_the_same_in_a_dataset_and_in_a_saved_function(case, tmp_path):
    tokenizer = case.learn(TEXTS)
    there = [*TEXTS, "never seen: ß 語 ⅷ"]
    expected = tokenizer.encode(there).to_list()

    dataset = tf.data.Dataset.from_tensor_slices(there).batch(5).map(tokenizer.encode)
    assert [row for batch in dataset for row in batch.to_list()] == expected

    module = tf.Module()
    module.encode = tf.function(
        lambda texts: tokenizer.encode(texts).to_tensor(PAD),
        input_signature=[tf.TensorSpec([None], tf.string)],
    )
    module.decode = tf.function(tokenizer.decode, input_signature=[tf.TensorSpec([None, None], tf.int32)])
    tf.saved_model.save(module, str(tmp_path / "saved"))
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    ids = loaded.encode(there)
    assert [[i for i in row if i != PAD] for row in ids.numpy().tolist()] == expected
    assert texts_of(loaded.decode(ids)) == round_trip(tokenizer, there)
    assert loaded.encode(tf.constant([], tf.string)).shape[0] == 0
