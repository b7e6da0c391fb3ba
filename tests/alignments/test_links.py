"""Links of the diagonal and of attention, by hand."""

import keras
import pytest

from zoo.alignments import attention_links, diagonal_links, links_of_model, word_of_each_token
from zoo.decoders import Beam
from zoo.metrics import alignment_error_rate
from zoo.models import RecurrentSeq2Seq
from zoo.predictor import Predictor
from zoo.tokenizers import Subwords


@pytest.mark.parametrize(
    ("source", "target", "links"),
    [
        (3, 3, {(0, 0), (1, 1), (2, 2)}),
        (2, 4, {(0, 0), (0, 1), (1, 2), (1, 3)}),
        (4, 2, {(1, 0), (3, 1)}),  # half of 2, and three halves of 2
        (5, 1, {(2, 0)}),
        (1, 2, {(0, 0), (0, 1)}),
        (0, 2, set()),
        (2, 0, set()),
    ],
)
def test_the_diagonal(source, target, links):
    assert diagonal_links(source, target) == links


def test_pieces_are_counted_by_words():
    assert word_of_each_token(["▁a", "▁dog", "gy", "</s>", "", ""]) == [0, 1, 1, -1, -1, -1]
    assert word_of_each_token(["a", "b", "▁c"]) == [0, 0, 1], (
        "a first piece without a space begins a word too"
    )
    assert word_of_each_token([]) == []


def test_weights_of_a_words_pieces_add_up():
    """The second source word has less than the first in each piece, but more in both together."""
    weights = [[0.4, 0.3, 0.3, 0.0], [0.7, 0.1, 0.1, 0.1], [0.1, 0.2, 0.0, 0.7]]
    source = word_of_each_token(["▁a", "▁dog", "gy", "</s>"])
    assert attention_links(weights, source, [0, 1, -1]) == {(1, 0), (0, 1)}
    # One target word of both tokens: 1.1 for the first source word, 0.8 for the second.
    assert attention_links(weights, source, [0, 0, -1]) == {(0, 0)}


def test_who_looks_at_no_word_has_no_link():
    assert attention_links([[0.0, 1.0], [0.5, 0.5]], [0, -1], [0, 1]) == {(0, 1)}
    assert attention_links([[1.0]], [-1], [0]) == set()


def test_as_many_weights_as_tokens():
    with pytest.raises(ValueError, match=r"\(T, S\) = \(2, 1\), .* got \(1, 2\)"):
        attention_links([[0.5, 0.5]], [0], [0, 1])


def test_attention_is_judged_against_sure_and_possible_links():
    """A = {00, 11}, S = {00}, P = {00, 11}: 1 - (1 + 2) / (2 + 1) = 0; without that one, 1 - 2 / 3."""
    links = attention_links([[0.9, 0.1], [0.2, 0.8]], [0, 1], [0, 1])
    assert alignment_error_rate([links], [{(0, 0)}], [{(1, 1)}]) == 0
    assert alignment_error_rate([links], [{(0, 0)}]) == pytest.approx(1 / 3)


@pytest.fixture(scope="module")
def translator():
    """An untrained model over real pieces: where it looks is a guess, that it is read right is not."""
    pieces = Subwords.learn(
        ["the dog sleeps in the house", "der hund schläft im haus"], vocab_size=300, byte_fallback=True
    )
    keras.utils.set_random_seed(3)
    model = RecurrentSeq2Seq(300, 300, embedding_dim=4, encoder_units=4, decoder_units=8)
    return Predictor(model, pieces, pieces, beam=Beam(2), max_source_length=40, max_length=40)


SOURCES = [["the", "dog"], ["the", "hippopotamus", "sleeps", "☃"], ["in"]]
TARGETS = [["der", "hund"], ["der", "hund", "schläft"], ["im", "haus"]]


def test_a_model_links_each_word_of_the_target(translator):
    links = links_of_model(translator.align, SOURCES, TARGETS)
    for found, source, target in zip(links, SOURCES, TARGETS, strict=True):
        assert {j for _, j in found} == set(range(len(target)))
        assert {i for i, _ in found} <= set(range(len(source)))
    alone = links_of_model(translator.align, SOURCES[1:2], TARGETS[1:2])
    assert alone == links[1:2], "companions and padding change nothing"


def test_words_that_become_others_are_told(translator):
    with pytest.raises(ValueError, match="a sentence of 1 words, 'two words', make up 2"):
        links_of_model(translator.align, [["two words"]], [["der"]])
