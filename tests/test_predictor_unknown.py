"""Unknown words of an answer, replaced by what the model looked at."""

import itertools
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.decoders import Beam, Greedy, decode
from zoo.models import RecurrentSeq2Seq, TransformerSeq2Seq
from zoo.predictor import Predictor
from zoo.tokenizers import END, UNKNOWN, Characters, Normalization, Words
from zoo.tokenizers.sequences import read_sources, teacher_forced

PAGE = Path(__file__).parents[1] / "docs" / "decoding.md"
SOURCE = Words(["the", "cat", "sees", "##,", "##.", "##!"])
TARGET = Words(["die", "katze", "sieht", "##."])
DIE, KATZE, SIEHT, DOT = range(4, 8)
TEXTS = ["the Xyzzy sees.", "", "the cat", " \t", "Müller, Maier, the cat!", "sees (Mr O'Neil) the 😀"]


class Mirror:
    """Answers the same to every text, and looks at the text from its end to its beginning."""

    vocab_size = TARGET.vocab_size

    def __init__(self, *answer):
        self.answer = tf.constant(answer)

    def encode(self, source):
        return source

    def init_state(self, memory, width, max_length):
        return tf.zeros([tf.shape(memory)[0], width, 1])

    def step(self, token_ids, index, state, memory):
        token = self.answer[tf.minimum(index, self.answer.shape[0] - 1)]
        return tf.zeros_like(state) + tf.one_hot(token, self.vocab_size, 20.0), state

    def alignment(self, source, target_ids):
        length = tf.reduce_sum(tf.cast(source != 0, tf.int32), axis=1)[:, None]
        places = tf.maximum(length - 1 - tf.range(tf.shape(target_ids)[1]), 0)
        return 0.5 * tf.one_hot(places, tf.shape(source)[1]) + 0.01


def texts_of(predictor, texts, strategy=None):
    return [text.decode() for text in predictor.answer(texts, strategy or Greedy()).text.numpy()[:, 0]]


@pytest.mark.parametrize(
    ("text", "answer", "expected"),
    [
        # At first it looks at the end mark, which is no word: of the others, equal here, the first.
        ("the Xyzzy sees.", [UNKNOWN, DIE], "the die"),
        ("the Xyzzy sees.", [DIE, UNKNOWN, KATZE, UNKNOWN, DOT], "die . katze Xyzzy."),
        ("the Xyzzy sees.", [DIE, KATZE, SIEHT, UNKNOWN], "die katze sieht Xyzzy"),
        ("  Ångström  !", [DIE, DIE, UNKNOWN], "die die Ångström"),
        ("😀 a", [DIE, DIE, UNKNOWN, UNKNOWN], "die die 😀 😀"),
        ("the cat", [DIE, KATZE], "die katze"),
    ],
)
def test_the_word_that_was_looked_at_most_is_copied(text, answer, expected):
    predictor = Predictor(Mirror(*answer, END), SOURCE, TARGET, max_length=8, replace_unknown=True)
    assert texts_of(predictor, [text]) == [expected]
    plain = Predictor(Mirror(*answer, END), SOURCE, TARGET, max_length=8)
    assert texts_of(plain, [text])[0].count("\ufffd") == answer.count(UNKNOWN)


def test_a_text_that_was_cut_is_copied_from_up_to_there():
    predictor = Predictor(
        Mirror(UNKNOWN, UNKNOWN, END), SOURCE, TARGET, max_source_length=3, max_length=8, replace_unknown=True
    )
    assert texts_of(predictor, ["one two three four", "one"]) == ["three two", "one one"]


def test_words_are_copied_as_the_source_tokenizer_reads_them():
    assert SOURCE.surfaces(["the Cat, (x)", ""]).to_list() == [[b"the", b"Cat", b",", b"(", b"x", b")"], []]
    lower = Words(["the"], normalization=Normalization("NFKC", "lower", "split"))
    assert lower.surfaces(["The ＣＡＴ!"]).to_list() == [[b"the", b"cat", b"!"]]
    for text in ("the Cat, (x)", "a\tb", "...", "", "a  b"):
        assert len(SOURCE.surfaces([text]).values) == len(SOURCE.encode([text]).values)


def test_the_example_of_the_page():
    class Straight(Mirror):
        def alignment(self, source, target_ids):
            places = tf.range(tf.shape(target_ids)[1])[None]
            return tf.one_hot(places, tf.shape(source)[1]) + tf.zeros([tf.shape(source)[0], 1, 1])

    for replaced, expected in ((True, "die Xyzzy sieht."), (False, "die \ufffd sieht.")):
        model = Straight(DIE, UNKNOWN, SIEHT, DOT, END)
        predictor = Predictor(model, SOURCE, TARGET, max_length=8, replace_unknown=replaced)
        assert texts_of(predictor, ["the Xyzzy sees ."]) == [expected]
        assert expected in PAGE.read_text(encoding="utf-8")


def test_copies_are_written_where_unknown_stands():
    ids = [[DIE, UNKNOWN, DOT, END, UNKNOWN], [UNKNOWN, UNKNOWN, END, 0, 0]]
    copies = tf.constant([["x", "Mr", "x", "x", "x"], ["", "B", "x", "x", "x"]])
    assert [text.decode() for text in TARGET.decode_copying(ids, copies).numpy()] == ["die Mr.", "\ufffd B"]


def make_predictor(model_of, **kwargs):
    keras.utils.set_random_seed(3)
    model = model_of(SOURCE.vocab_size, TARGET.vocab_size)
    model.set_weights([weight * 3 for weight in model.get_weights()])
    return Predictor(model, SOURCE, TARGET, beam=Beam(3, 0.6), max_length=6, **kwargs)


def recurrent(*sizes):
    model = RecurrentSeq2Seq(*sizes, embedding_dim=6, encoder_units=6, decoder_units=8)
    model.decoder.readout.logits.bias.assign(np.eye(TARGET.vocab_size)[UNKNOWN])
    return model


MODELS = {
    "recurrent": recurrent,
    "transformer": lambda *sizes: TransformerSeq2Seq(*sizes, width=8, depth=2, heads=2, units=8),
}


def by_hand(predictor, texts):
    """Answers (B, K) of the beam, put together word by word from ids and alignments."""
    sources, found = read_sources(SOURCE, tf.constant(texts), 256), []
    decoded = decode(predictor.model, sources.ids, predictor.beam, max_length=6)
    for row, text in enumerate(texts):
        words = [word.decode() for word in SOURCE.surfaces([text.strip()]).to_list()[0]]
        alignments = predictor.model.alignment(
            np.repeat(sources.ids[row : row + 1], 3, axis=0), teacher_forced(decoded.token_ids[row])
        )
        answers = []
        for ids, alignment in zip(decoded.token_ids[row].numpy(), np.array(alignments), strict=True):
            said = list(itertools.takewhile(lambda token: token not in (0, END), ids)) if words else []
            spoken = ["\0", "", "", " ?", *(f" {word}" for word in TARGET.words)]
            spoken[DOT] = "."
            for place, token in enumerate(said):
                copied = " " + words[alignment[place, : len(words)].argmax()]
                said[place] = copied if token == UNKNOWN else spoken[token]
            answers.append("".join(said).removeprefix(" "))
        found.append(answers)
    return found, decoded


@pytest.mark.parametrize("name", MODELS)
def test_equals_copying_by_hand(name):
    """For each hypothesis of each text, blank ones among them; scores and lengths are those of the ids."""
    predictor, plain = (make_predictor(MODELS[name], replace_unknown=value) for value in (True, False))
    expected, decoded = by_hand(predictor, TEXTS)
    found, before = predictor.answer(TEXTS), plain.answer(TEXTS)
    rows = [row for row, text in enumerate(TEXTS) if text.strip()]
    assert (decoded.token_ids.numpy()[rows] == UNKNOWN).any()
    for row, _ in enumerate(TEXTS):
        assert [text.decode() for text in found.text.numpy()[row]] == (
            expected[row] if row in rows else [""] * 3
        )
    for leaf, other in zip(found[1:], before[1:], strict=True):
        np.testing.assert_array_equal(leaf, other)
    assert any(b"\xef\xbf\xbd" in text for text in before.text.numpy().ravel())
    assert not any(b"\xef\xbf\xbd" in text for text in found.text.numpy().ravel())


def test_alone_as_in_any_batch_and_in_an_export(tmp_path):
    """Loaded without the predictor; also a batch of no texts, and one of blank ones."""
    predictor = make_predictor(MODELS["recurrent"], replace_unknown=True, parts=1)
    signature = predictor.signatures()["beam"]
    module = tf.Module()
    module.kept = [variable.value for variable in predictor.model.variables]
    traced = tf.function(signature.function).get_concrete_function(**signature.inputs)
    tf.saved_model.save(module, str(tmp_path), signatures={"beam": traced})
    loaded = tf.saved_model.load(str(tmp_path)).signatures["beam"]
    together = predictor.answer(TEXTS).text.numpy()
    for texts in (TEXTS, TEXTS[::-1], TEXTS[:1], ["", " \t"], []):
        found = loaded(text=tf.constant(texts, tf.string))["text"].numpy()
        np.testing.assert_array_equal(found, together[[TEXTS.index(text) for text in texts]])


def test_what_grows_is_what_is_answered():
    predictor = make_predictor(MODELS["recurrent"], replace_unknown=True)
    for text in (TEXTS[0], ""):
        so_far = list(predictor.stream(text))
        assert so_far[-1] == texts_of(predictor, [text])[0]
        for shorter, longer in itertools.pairwise(so_far):
            assert longer.startswith(shorter)


def test_where_nothing_can_be_copied():
    blind = RecurrentSeq2Seq(SOURCE.vocab_size, TARGET.vocab_size, attention="none")
    with pytest.raises(ValueError, match="RecurrentSeq2Seq has no attention"):
        Predictor(blind, SOURCE, TARGET, replace_unknown=True)
    letters = Characters("abc")
    for source, target, member in ((letters, TARGET, "surfaces"), (SOURCE, letters, "decode_copying")):
        with pytest.raises(ValueError, match=f"`{member}` such as Words, and Characters has none"):
            Predictor(Mirror(END), source, target, replace_unknown=True)


def test_a_beam_that_the_model_cannot_follow_is_refused_at_once():
    blind = RecurrentSeq2Seq(SOURCE.vocab_size, TARGET.vocab_size, attention="none")
    with pytest.raises(ValueError, match="coverage_penalty at 0"):
        Predictor(blind, SOURCE, TARGET, beam=Beam(2, coverage_penalty=0.2))
