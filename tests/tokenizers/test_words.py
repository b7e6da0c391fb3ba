import pytest

from zoo.tokenizers import UNKNOWN, Normalization, Words


def names(tokenizer, text):
    return [name.decode("utf-8") for name in tokenizer.tokens(tokenizer.encode([text]).values).numpy()]


def back(tokenizer, text):
    return tokenizer.decode(tokenizer.encode([text]).to_tensor()).numpy()[0].decode("utf-8")


def test_the_most_frequent_come_first():
    texts = ["the dog, the cat", "the cat!", "the dog"]
    assert Words.learn(texts).words == ("the", "cat", "dog", "##!", "##,")
    assert Words.learn(texts, vocab_size=6).words == ("the", "cat")
    assert Words.learn(texts, vocab_size=5).words == ("the",)


def test_a_vocabulary_by_hand():
    tokenizer = Words(["Oh", "##,", "no", "##!"])
    assert tokenizer.encode(["Oh, no!", "no Oh"]).to_list() == [[4, 5, 6, 7], [6, 4]]
    assert names(tokenizer, "Oh, no, yes!") == ["Oh", "##,", "no", "##,", "<unk>", "##!"]
    assert back(tokenizer, "Oh, yes!no") == "Oh, \ufffd! \ufffd"  # `##no` is another word
    assert Words([]).encode(["a", ""]).to_list() == [[UNKNOWN], []]


def test_normalization_comes_first():
    lower = Normalization("NFKC", "lower", "split")
    tokenizer = Words.learn(["Oh, NO!"], normalization=lower)
    assert tokenizer.words == ("!", ",", "no", "oh")
    assert back(tokenizer, "NO,oh! ｎｏ") == "no , oh ! no"


def test_chinese_words_are_set_apart_by_spaces():
    tokenizer = Words.learn(["請 看 那邊"])
    assert names(tokenizer, "請 看 那邊") == ["請", "看", "那邊"]
    assert names(tokenizer, "請看那邊") == ["<unk>"]


@pytest.mark.parametrize("texts", [[], [""], ["\ufffd"]])
def test_nothing_to_learn_from(texts):
    with pytest.raises(ValueError, match="nothing to learn from: the texts hold not one word"):
        Words.learn(texts)


def test_no_room():
    with pytest.raises(ValueError, match="vocab_size=4 is too small: the special ids and one word take 5"):
        Words.learn(["a"], vocab_size=4)


@pytest.mark.parametrize(("wrong", "number"), [("two words", 2), ("a,", 2), ("", 1), ("a##", 3)])
def test_an_entry_that_is_cut(wrong, number):
    if number > 1:
        with pytest.raises(ValueError, match=f"one word or mark, .* got '{wrong}', which is {number} of"):
            Words(["a", wrong])


def test_an_entry_that_is_there_twice():
    with pytest.raises(ValueError, match="A word must be there once, got 'b' twice"):
        Words(["a", "b", "b"])
