"""What every tokenizer promises."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizer_cases import TOKENIZERS

from zoo.tokenizers import END, PAD, START, UNKNOWN, Tokenizer, load_tokenizer
from zoo.verify.graph import known_operations, operations, read_meta_graph

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
    "<s></s><pad><unk> <0x41> ## ##a ▁ <glued>",
]
GERMAN = ["Ein Mann fährt Rad.", "Zwei Hunde laufen über die Straße!"]
KOREAN = ["한 남자가 자전거를 탄다.", "개 두 마리가 길을 건너 달린다!"]

SCRIPTS = (
    "ab Z\u0301\u0308é\u1e9bकि्ंगाไทยี่日語각\u1100\u1161אבت\u0651\u200f\u200d\ufe0f👩👧🏽🇩🇪"
    "\r\n\t\ufeff\0ﬁ２▁#'.,-"
)
ANY = st.characters(exclude_categories=["Cs", "Cn"], exclude_characters="\ufffd")
VALID = st.text(st.sampled_from(SCRIPTS) | ANY, max_size=12)

each_case = pytest.mark.parametrize("case", TOKENIZERS.values(), ids=TOKENIZERS.keys())


def texts_of(strings):
    return [string.decode("utf-8") for string in strings.numpy().tolist()]


def round_trip(tokenizer, texts):
    return texts_of(tokenizer.decode(tokenizer.encode(tf.constant(texts, tf.string)).to_tensor(PAD)))


def known(case, texts):
    return [text for text in texts if not set(case.never_known) & set(text)]


@pytest.fixture(scope="module")
def learned():
    """Each tokenizer, which has learned from all the texts."""
    return {case: case.learn(TEXTS) for case in TOKENIZERS.values()}


@each_case
def test_is_a_tokenizer(case, learned):
    assert isinstance(learned[case], Tokenizer)


@each_case
def test_round_trip(case, learned):
    texts = known(case, TEXTS)
    assert len(texts) >= len(TEXTS) - 2
    assert round_trip(learned[case], texts) == [case.canonical(text) for text in texts]
    for text in texts:
        assert round_trip(learned[case], [text]) == [case.canonical(text)]


@each_case
@settings(max_examples=40)
@given(texts=st.lists(VALID, min_size=1, max_size=4))
def test_round_trip_of_any_text_that_it_has_seen(case, texts):
    seen = known(case, texts)
    assert round_trip(case.learn(["a first text", *seen]), ["", *seen]) == [
        "",
        *(case.canonical(text) for text in seen),
    ]


@each_case
@settings(max_examples=40)
@given(texts=st.lists(VALID, min_size=1, max_size=4))
def test_round_trip_of_any_text(case, learned, texts):
    """What is unknown is replaced; the others in the batch are not harmed."""
    tokenizer = learned[case]
    together, known_ = round_trip(tokenizer, [*texts, "plain words, 42!"]), "plain words, 42!"
    assert together[-1] == known_
    assert together[:-1] == [text for one in texts for text in round_trip(tokenizer, [one])]
    ids = tokenizer.encode(tf.constant(texts, tf.string))
    for text, row, back in zip(texts, ids.to_list(), together[:-1], strict=True):
        assert ("\ufffd" in back) == (UNKNOWN in row)
        assert back == case.canonical(text) or UNKNOWN in row
        assert not (case.whole and UNKNOWN in row)


@each_case
@settings(max_examples=40)
@given(data=st.lists(st.binary(max_size=8), min_size=1, max_size=4))
@pytest.mark.parametrize("more", [[b"ab\xc2", b"\xff\xfea", b"a\xe2\x82b", b"ab"]])
def test_bytes_that_are_not_utf8_are_read_as_replacements(case, learned, data, more):
    tokenizer, data = learned[case], data + more
    ids = tokenizer.encode(tf.constant(data, tf.string))
    assert np.all((ids.values >= UNKNOWN) & (ids.values < tokenizer.vocab_size))
    assert ids.to_list() == tokenizer.encode([b.decode("utf-8", "replace") for b in data]).to_list()
    texts_of(tokenizer.decode(ids.to_tensor(PAD)))  # raises where it is not valid UTF-8


@each_case
def test_what_was_never_seen_is_unknown_and_comes_back_as_a_replacement(case):
    tokenizer = case.learn(["ab ab ab"])
    for text in ("z", "\ufffd", "語", "\0"):
        (ids,) = tokenizer.encode([text]).to_list()
        assert (UNKNOWN in ids) == (not case.whole)
        if not case.whole:
            assert round_trip(tokenizer, [f"ab {text} ab"]) == ["ab \ufffd ab"]
    assert texts_of(tokenizer.decode([[UNKNOWN]])) == ["\ufffd"]


@each_case
def test_form_of_ids(case, learned):
    ids = learned[case].encode(TEXTS)
    assert isinstance(ids, tf.RaggedTensor)
    assert ids.dtype == tf.int32
    assert ids.shape.as_list() == [len(TEXTS), None]
    assert int(ids.row_lengths()[1]) == 0
    assert np.all((ids.values >= UNKNOWN) & (ids.values < learned[case].vocab_size))


@each_case
def test_no_texts(case, learned):
    tokenizer = learned[case]
    ids = tokenizer.encode(tf.constant([], tf.string))
    assert ids.shape[0] == 0
    assert tokenizer.decode(ids.to_tensor(PAD)).shape == (0,)
    assert tokenizer.decode(tf.zeros([0, 4], tf.int32)).shape == (0,)
    assert texts_of(tokenizer.decode(tf.zeros([2, 0], tf.int32))) == ["", ""]


@each_case
def test_decodes_up_to_the_first_end_without_special_ids(case, learned):
    (row,) = learned[case].encode(["plain words"]).to_list()
    rows = tf.ragged.constant([[START, PAD, *row, PAD, END, *row], [END, *row], [*row, END, END], row])
    assert texts_of(learned[case].decode(rows.to_tensor(PAD))) == ["plain words", "", *["plain words"] * 2]


@each_case
def test_every_id_has_a_name_of_its_own(case, learned):
    tokenizer = learned[case]
    every = tf.range(tokenizer.vocab_size)
    for name in (tokenizer.tokens, tf.function(tokenizer.tokens)):
        names = texts_of(name(every))
        assert names[:4] == ["", "<s>", "</s>", "<unk>"]
        assert len(set(names)) == len(names)
        assert np.array_equal(name(tf.reshape(every[:4], [2, 2])), [[b"", b"<s>"], [b"</s>", b"<unk>"]])
    assert tokenizer.tokens(tf.zeros([0, 3], tf.int32)).shape == (0, 3)


@each_case
def test_every_id_can_be_decoded(case, learned):
    every = tf.range(learned[case].vocab_size)[:, None]
    assert texts_of(learned[case].decode(every))[:4] == ["", "", "", "\ufffd"]


@each_case
def test_save_and_load(case, learned, tmp_path):
    tokenizer = learned[case]
    tokenizer.save(tmp_path / "new" / "folder")
    for loaded in (
        type(tokenizer).load(tmp_path / "new" / "folder"),
        load_tokenizer(tmp_path / "new" / "folder"),
    ):
        assert type(loaded) is type(tokenizer)
        assert loaded.describe() == tokenizer.describe()
        assert loaded.vocab_size == tokenizer.vocab_size
        assert loaded.encode(TEXTS).to_list() == tokenizer.encode(TEXTS).to_list()
        assert np.array_equal(
            loaded.tokens(range(loaded.vocab_size)), tokenizer.tokens(range(loaded.vocab_size))
        )


@each_case
def test_a_damaged_file_is_refused(case, learned, tmp_path):
    learned[case].save(tmp_path)
    (path,) = tmp_path.iterdir()
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for damaged in (
        "",
        "[]",
        "{}",
        "".join(lines[:-1]),
        "".join(re.sub('"(none|NFK?C)"', '"NFD"', line) for line in lines),
        "".join(line for line in lines if '"normalization"' not in line),
        "".join(line.replace('"vocab_size": ', '"vocab_size": 1') for line in lines),
    ):
        path.write_text(damaged, encoding="utf-8")
        with pytest.raises(ValueError, match=f"{path.name} is not a vocabulary of .*put back the file"):
            load_tokenizer(tmp_path)


@each_case
def test_the_same_in_a_dataset(case, learned):
    there = [*TEXTS, "never seen: ß 語 ⅷ"]
    dataset = tf.data.Dataset.from_tensor_slices(there).batch(5).map(learned[case].encode)
    expected = learned[case].encode(there).to_list()
    assert [row for batch in dataset for row in batch.to_list()] == expected


def serve(tokenizer):
    """Functions that encode texts, and decode ids, as an export has them."""
    return (
        tf.function(
            lambda texts: tokenizer.encode(texts).to_tensor(PAD),
            input_signature=[tf.TensorSpec([None], tf.string)],
        ),
        tf.function(tokenizer.decode, input_signature=[tf.TensorSpec([None, None], tf.int32)]),
    )


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    """All tokenizers, each of two languages, in one SavedModel."""
    module = tf.Module()
    module.languages = {
        f"{name}, {language}": serve(case.learn(texts))
        for name, case in TOKENIZERS.items()
        for language, texts in (("de", GERMAN), ("ko", KOREAN))
    }
    folder = tmp_path_factory.mktemp("export")
    tf.saved_model.save(module, str(folder / "saved"))
    return module, folder


def test_an_export_has_only_operations_that_the_server_knows(export):
    _, folder = export
    assert operations(read_meta_graph(folder / "saved")) - known_operations().keys() == set()


def test_an_export_in_another_process_keeps_the_languages_apart(export):
    """Two models of SentencePiece that share a name become one as they are loaded."""
    module, folder = export
    texts = [*GERMAN, *KOREAN, *TEXTS]
    script = Path(__file__).with_name("reload_tokenizers.py")
    done = subprocess.run(
        [sys.executable, str(script), str(folder / "saved")],
        input=json.dumps(texts),
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    answers = json.loads(done.stdout)
    assert set(answers) == set(module.languages)
    for name, (encode, decode) in module.languages.items():
        ids = encode(texts)
        assert answers[name]["ids"] == ids.numpy().tolist(), name
        assert answers[name]["texts"] == texts_of(decode(ids)), name
        own = slice(0, 2) if name.endswith("de") else slice(2, 4)
        assert answers[name]["texts"][own] == texts[own], name
        assert answers[name]["none"] == 0
