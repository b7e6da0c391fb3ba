import io
import itertools
import json
import sys

import pytest
import sentencepiece
import tensorflow as tf
import tensorflow_text
from hypothesis import given
from hypothesis import strategies as st

from zoo.tokenizers import UNKNOWN, Normalization, Subwords
from zoo.tokenizers.sentencepiece import learnable

WORDS = "low low low low low lower lower newest newest newest newest newest newest widest widest widest"
CORPUS = [
    f"{who} {does} {what}{end}"
    for who, does, what, end in itertools.product(
        ["A man", "Two dogs", "The children", "请看那边", "Eine Frau"],
        ["rides", "are carrying", "läuft über", "watch"],
        ["a bicycle", "the street", "über Straßen", "那边的山", "mountains \t 12"],
        [".", "!", " …", ""],
    )
]
UNSEEN = ["Two men watch bicycles?", "", "  zß 语\0\r\n", "請看那邊", "<s></s><0x41>"]

SIZES = {"bpe": 110, "unigram": 58}

each_kind = pytest.mark.parametrize("kind", ["bpe", "unigram"])


def names(tokenizer, text):
    return [name.decode("utf-8") for name in tokenizer.tokens(tokenizer.encode([text]).values).numpy()]


def back(tokenizer, text):
    return tokenizer.decode(tokenizer.encode([text]).to_tensor()).numpy()[0].decode("utf-8")


@each_kind
@pytest.mark.parametrize("byte_fallback", [False, True])
def test_ids_are_those_of_sentencepiece_itself(kind, byte_fallback):
    """Its own program learns and encodes; ours learns, writes a model, and encodes in the graph."""
    model, size = io.BytesIO(), SIZES[kind] + 256 * byte_fallback
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS),
        model_writer=model,
        model_type=kind,
        vocab_size=size,
        byte_fallback=byte_fallback,
        pad_id=0,
        bos_id=1,
        eos_id=2,
        unk_id=3,
        character_coverage=1.0,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        num_threads=4,
        minloglevel=3,
    )
    own = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    ours = Subwords.learn(CORPUS, vocab_size=size, kind=kind, byte_fallback=byte_fallback)
    assert ours.vocab_size == own.get_piece_size() == size
    assert ours.tokens(range(4, ours.vocab_size)).numpy().tolist() == [
        own.id_to_piece(i).encode() for i in range(4, ours.vocab_size)
    ]
    texts = [*CORPUS, *UNSEEN]
    assert ours.encode(texts).to_list() == [own.encode(text) for text in texts]
    known = CORPUS if not byte_fallback else texts
    assert [back(ours, text) for text in known] == [own.decode(own.encode(text)) for text in known]


def cuts(text):
    """All ways to part a text."""
    for marks in itertools.product([False, True], repeat=max(len(text) - 1, 0)):
        places = [0, *(place + 1 for place, mark in enumerate(marks) if mark), len(text)]
        yield [text[a:b] for a, b in itertools.pairwise(places)]


@given(
    st.dictionaries(st.text("ab▁", min_size=2, max_size=3), st.integers(-80, -10)),
    st.text("ab ", min_size=1, max_size=6),
)
def test_unigram_takes_the_best_of_all_cuts(pieces, text):
    scores = {"a": -7.5, "b": -8.25, "▁": -9.125} | {piece: score / 8 for piece, score in pieces.items()}
    tokenizer = Subwords(scores, kind="unigram", byte_fallback=False)
    found = names(tokenizer, text)
    escaped = f" {text}".replace(" ", "▁")
    assert "".join(found) == escaped
    possible = [cut for cut in cuts(escaped) if all(piece in scores for piece in cut)]
    best = max(sum(scores[piece] for piece in cut) for cut in possible)
    assert sum(scores[piece] for piece in found) == best


def merged(ranks, text):
    """Byte-pair encoding as its paper says: the pair learned first is joined first, from the left."""
    parts = list(text)
    while True:
        joined = [a + b for a, b in itertools.pairwise(parts)]
        known = [pair for pair in joined if pair in ranks]
        if not known:
            return parts
        place = joined.index(max(known, key=ranks.get))
        parts[place : place + 2] = [joined[place]]


@given(
    st.lists(st.text("ab▁", min_size=2, max_size=3), unique=True),
    st.text("ab ", min_size=1, max_size=8),
)
def test_bpe_joins_the_earliest_pair_first(pairs, text):
    ranks = {piece: -float(rank) for rank, piece in enumerate([*pairs, "a", "b", "▁"])}
    tokenizer = Subwords(ranks, kind="bpe", byte_fallback=False)
    assert names(tokenizer, text) == merged(ranks, f" {text}".replace(" ", "▁"))


def test_bpe_merges_the_most_frequent_neighbours_first():
    """Counted by hand: e and s stand together 9 times, then es and t 9 times, then l and o 7 times."""
    pieces = list(Subwords.learn([WORDS], vocab_size=19, byte_fallback=False).pieces)
    assert pieces[:3] == ["es", "est", "lo"]
    assert sorted(pieces[4:]) == sorted(set(WORDS) - {" "} | {"▁"})


@each_kind
def test_learning_is_repeatable(kind):
    first, second = (Subwords.learn(CORPUS, vocab_size=SIZES[kind] + 256, kind=kind) for _ in range(2))
    assert first.describe() == second.describe()


def test_bytes_are_the_fallback():
    tokenizer = Subwords.learn(CORPUS, vocab_size=366)
    assert names(tokenizer, "請") == ["▁", "<0xE8>", "<0xAB>", "<0x8B>"]
    assert back(tokenizer, "請\0\r\n👩\u200d👧") == "請\0\r\n👩\u200d👧"
    cut_off = tokenizer.encode(["請"]).to_tensor()[:, :3]
    assert tokenizer.decode(cut_off).numpy()[0].decode("utf-8") == "\ufffd"


def test_without_them_a_run_is_one_unknown():
    tokenizer = Subwords.learn(CORPUS, vocab_size=110, byte_fallback=False)
    assert tokenizer.encode(["請邊"]).to_list()[0][1:] == [UNKNOWN]
    assert back(tokenizer, "A 請邊 man") == "A \ufffd man"


def test_one_vocabulary_for_two_languages():
    sources, targets = ["a house", "the house"] * 3, ["ein Haus", "das Haus"] * 3
    both = Subwords.learn([*sources, *targets], vocab_size=290)
    assert names(both, "the house") == ["▁the", "▁house"]
    assert names(both, "das Haus")[-1] == "▁Haus"


def test_normalization_comes_first():
    tokenizer = Subwords.learn(CORPUS, vocab_size=366, normalization=Normalization("NFKC", "lower", "split"))
    assert back(tokenizer, "Ｔｗｏ Dogs!") == "two dogs !"
    assert json.loads(tokenizer.describe())["case"] == "lower"


def test_what_sentencepiece_cannot_learn_from():
    assert learnable(["a\0b\r\n", "\r\n", "", "\u2585c\nd"]) == ["a", "b", "c\nd"]


@each_kind
@pytest.mark.parametrize("texts", [[], ["", ""], [" ", "\n"], ["\ufffd\0"]])
def test_nothing_to_learn_from(kind, texts):
    with pytest.raises(ValueError, match="nothing to learn from: the texts hold no more than white space"):
        Subwords.learn(texts, vocab_size=1000, kind=kind)


@pytest.mark.parametrize(
    ("kind", "vocab_size", "message"),
    [
        (
            "bpe",
            270,
            "too small: 260 ids that are always there and 11 different characters take 271. Give 271",
        ),
        ("unigram", 270, "vocab_size=270 is too small: 260 ids"),
        ("bpe", 1000, r"vocab_size=1000 is too large: these texts give no more than \d+. Give that or less"),
        ("unigram", 1000, r"vocab_size=1000 is too large: these texts give no more than \d+. Give that"),
        ("word", 300, "kind must be one of bpe, unigram, got 'word'"),
    ],
)
def test_what_cannot_be_learned(kind, vocab_size, message):
    with pytest.raises(ValueError, match=message):
        Subwords.learn([WORDS], vocab_size=vocab_size, kind=kind)


@each_kind
def test_the_least_size_is_enough(kind):
    assert Subwords.learn([WORDS], vocab_size=271, kind=kind).vocab_size == 271
    assert back(Subwords.learn([WORDS], vocab_size=271, kind=kind), "lowest wind") == "lowest wind"


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        ({"a b": -1.0}, "a score that is finite in 32 bits; got 'a b' with -1.0"),
        ({"a": 1e39}, "got 'a' with 1e\\+39"),
        ({"": -1.0}, "A piece must not be called as a special one or as a byte, got ''"),
        ({"a": float("nan")}, "got 'a' with nan"),
        ({"<s>": -1.0}, "must not be called as a special one or as a byte, got '<s>'"),
        ({"<0x41>": -1.0}, "or as a byte, got '<0x41>'"),
    ],
)
def test_pieces_that_cannot_be(pieces, message):
    with pytest.raises(ValueError, match=message):
        Subwords(pieces)


@pytest.mark.parametrize(
    ("package", "use", "message"),
    [
        ("tensorflow_text", lambda t: t.encode(["a"]), "Subwords needs the package tensorflow-text"),
        (
            "sentencepiece",
            lambda t: Subwords.learn(["a b"], vocab_size=264, normalization=t.normalization),
            "Learning pieces needs the package sentencepiece",
        ),
    ],
)
def test_where_a_package_is_missing(monkeypatch, package, use, message):
    tokenizer = Subwords({"a": -1.0}, normalization=Normalization("none"))
    missing = [name for name in sys.modules if name.partition(".")[0] == package]
    for name in missing:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=message):
        use(tokenizer)


def served(encode):
    return tf.function(
        lambda texts: encode(texts).to_tensor(), input_signature=[tf.TensorSpec([None], tf.string)]
    )


def test_the_fault_that_the_names_of_models_guard_against(tmp_path):
    """Two of tensorflow-text's own become one as they are loaded. Should that end, the names may go."""
    languages = {
        "de": Subwords.learn(["ein Hund", "ein Haus"], vocab_size=270),
        "ko": Subwords.learn(["한 남자", "한 개"], vocab_size=268),
    }
    module = tf.Module()
    module.theirs = [
        tensorflow_text.SentencepieceTokenizer(model=tokenizer._model) for tokenizer in languages.values()
    ]
    module.answers = [
        *(served(tokenizer.tokenize) for tokenizer in module.theirs),
        *(served(tokenizer.encode) for tokenizer in languages.values()),
    ]
    before = [answer(["한 Hund"]).numpy().tolist() for answer in module.answers]
    tf.saved_model.save(module, str(tmp_path / "saved"))
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    after = [answer(["한 Hund"]).numpy().tolist() for answer in loaded.answers]
    assert before[:2] == before[2:]
    assert before[0] != before[1]
    assert after[2:] == before[2:]
    assert after[0] == after[1]
