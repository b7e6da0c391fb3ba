import pytest

from zoo.tokenizers import Characters, Normalization
from zoo.tokenizers.specials import SPECIALS


def test_ids_are_those_of_the_sorted_characters():
    tokenizer = Characters("bac\U0001f600éb")
    assert tokenizer.characters == ("a", "b", "c", "é", "\U0001f600")
    assert tokenizer.vocab_size == len(SPECIALS) + 5
    assert tokenizer.encode(["a😀", "éc"]).to_list() == [[4, 8], [7, 6]]
    assert tokenizer.encode(["a\ufffdz", "\0"]).to_list() == [[4, 3, 3], [3]]


def test_decomposed_text_meets_a_composed_vocabulary():
    assert Characters("é").encode(["e\u0301"]).to_list() == [[4]]
    assert Characters("é", normalization=Normalization("none")).encode(["e\u0301"]).to_list() == [[3, 3]]
    assert Characters("2", normalization=Normalization("NFKC")).encode(["２"]).to_list() == [[4]]


def test_a_joined_emoji_is_as_many_tokens_as_code_points():
    family = "👩\u200d👩\u200d👧"
    assert len(Characters.learn([family]).encode([family])[0]) == len(family) == 5


def test_the_most_frequent_are_learned():
    texts = ["abc", "cb\ufffd", "c"]
    assert Characters.learn(texts).characters == ("a", "b", "c")
    assert Characters.learn(texts, vocab_size=6).characters == ("b", "c")
    assert Characters.learn(["ba"], vocab_size=5).characters == ("a",)


def test_a_vocabulary_may_be_empty():
    assert Characters([]).encode(["a", ""]).to_list() == [[3], []]


@pytest.mark.parametrize("wrong", ["ab", "", "\ud800"])
def test_an_entry_that_is_no_code_point(wrong):
    with pytest.raises(ValueError, match="must be one Unicode code point, got"):
        Characters(["a", wrong])
