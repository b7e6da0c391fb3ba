"""Tasks of public corpora, on a few pairs of our own in their place."""

from unicodedata import normalize

import numpy as np
import pytest

from zoo.data.corpora import cmudict as dictionary
from zoo.data.corpora import multi30k as captions
from zoo.data.corpora import sigmorphon2020_g2p as pronunciations
from zoo.data.corpora import tatoeba as sentences
from zoo.data.pairs import Pairs
from zoo.tasks.g2p import cmudict, g2p
from zoo.tasks.multi30k import EXAMPLES, multi30k
from zoo.tasks.own import own
from zoo.tasks.tatoeba import tatoeba_en_zh
from zoo.tokenizers import UNKNOWN, Characters, Subwords

NOUNS = [("Dog", "Hund", "狗"), ("Cat", "Kater", "猫"), ("Boy", "Junge", "男孩"), ("Bird", "Vogel", "鸟")]
VERBS = [("sleeps", "schläft", "睡觉"), ("runs", "läuft", "跑"), ("sits", "sitzt", "坐")]


def pairs(side):
    combinations = [(noun, verb) for noun in NOUNS for verb in VERBS] * 4
    english = [f"The {noun[0]} {verb[0]}." for noun, verb in combinations]
    return Pairs(english, [f"Der {noun[side]} {verb[side]}." for noun, verb in combinations])


def there_and_back(tokenizer, texts):
    found = tokenizer.decode(tokenizer.encode(list(texts)).to_tensor()).numpy()
    return [text.decode() for text in found]


def test_multi30k(monkeypatch):
    monkeypatch.setattr(captions, "load", lambda *_: captions.Multi30k(*[pairs(1)] * 4))
    task = multi30k("en", "de", vocab_size=330)
    assert list(task.splits) == ["train", "validation", "test_2016_flickr", "test_2017_flickr"]
    assert task.source is task.target, "one vocabulary for both"
    assert task.source.vocab_size == 330
    targets = task.splits["train"].targets
    assert there_and_back(task.target, targets) == [text.lower() for text in targets]
    answers = there_and_back(task.target, targets)
    assert {name: metric(answers, targets) for name, metric in task.metrics.items()} == pytest.approx(
        {"bleu_moses": 100, "bleu": 100, "chrf": 100}
    )
    assert "tok:moses-de" in task.notes[0]
    assert task.examples == EXAMPLES["en"]
    assert task.name == "multi30k_en_de"
    assert "research" in task.licence
    assert task.data == "Multi30k, task 1, English and German"


def test_g2p(monkeypatch):
    words = Pairs(["ja", "já", "ha"] * 3, ["j a", "j au̯", "h a"] * 3)
    monkeypatch.setattr(pronunciations, "load", lambda _: pronunciations.Pronunciations(words, words, words))
    task = g2p("ice")
    assert task.languages == ("is",)
    assert task.target.vocab_size == 4 + len({"j", "a", "au̯", "h"})
    assert there_and_back(task.target, words.targets) == words.targets
    assert there_and_back(task.source, words.sources) == words.sources
    answers = ["j a", "j a", "h a"] * 3
    assert task.metrics["word_error_rate"](answers, words.targets) == pytest.approx(1 / 3)
    assert task.metrics["phoneme_error_rate"](answers, words.targets) == pytest.approx(1 / 6)


def test_cmudict(monkeypatch):
    listed = {"a": ("AH", "EY"), "cat": ("K AE T",), "read": ("R EH D", "R IY D")}
    parts = dictionary.PronouncingDictionary(listed, listed, listed)
    monkeypatch.setattr(dictionary, "load", lambda seed: parts)
    task = cmudict()
    assert task.splits["train"] == Pairs(
        ["a", "a", "cat", "read", "read"], ["AH", "EY", "K AE T", "R EH D", "R IY D"]
    )
    assert task.splits["validation"] == Pairs(["a", "cat", "read"], ["AH", "K AE T", "R EH D"])
    assert task.splits["test"].sources == ["a", "cat", "read"]
    assert task.target.vocab_size == 4 + len({"AH", "EY", "K", "AE", "T", "R", "EH", "IY", "D"})
    answers = ["EY", "K AE T", "R IY T"]
    figures = {name: metric(answers, task.splits["test"].targets) for name, metric in task.metrics.items()}
    assert figures == pytest.approx({"word_error_rate": 1 / 3, "phoneme_error_rate": 1 / 7})


def test_tatoeba_en_zh(monkeypatch):
    parts = sentences.Tatoeba(pairs(2), pairs(2), pairs(2), 7)
    monkeypatch.setattr(sentences, "load", lambda _: parts)
    task = tatoeba_en_zh(vocab_size=300)
    assert list(task.splits) == ["train", "validation", "test"]
    tokens = task.target.tokens(task.target.encode(["狗睡觉"]).values).numpy()
    assert [token.decode() for token in tokens] == ["狗", "睡", "觉"]
    assert "7 pairs" in task.notes[1]
    targets = task.splits["test"].targets
    assert task.metrics["chrf"](targets, targets) == pytest.approx(100)


@pytest.mark.parametrize(("level", "kind"), [("characters", Characters), ("subwords", Subwords)])
def test_pairs_of_ones_own(level, kind):
    many = Pairs([f"the word {n} of {n * n}" for n in range(200)], [f"{n} das Wort" for n in range(200)])
    task = own("words", many, level=level)
    assert isinstance(task.source, kind)
    assert isinstance(task.target, kind)
    assert {name: len(part.sources) for name, part in task.splits.items()} == {
        "train": 180,
        "validation": 10,
        "test": 10,
    }
    assert set(task.examples) <= set(task.splits["validation"].sources)
    for tokenizer, texts in zip((task.source, task.target), task.splits["train"], strict=True):
        assert there_and_back(tokenizer, texts) == list(texts)
        assert not np.any(tokenizer.encode(list(texts)).flat_values == UNKNOWN)


@pytest.mark.parametrize("texts", [["a", "b", "c", "d"], ["aa", "aa bb", "cc", "dd"] * 30])
def test_subwords_of_very_few_texts_are_no_error(texts):
    sources = [f"{text}{'x' * n}" for n, text in enumerate(texts)]
    task = own("few", Pairs(sources, sources), level="subwords")
    assert there_and_back(task.source, sources[:2]) == sources[:2]


@pytest.mark.parametrize(
    "texts",
    [
        [f"{digit}{letter}" for digit in "123456789" for letter in "abcdefghijklmnopqrstuvwxyz"],
        [normalize("NFD", f"{chr(0xAC00 + 97 * n)} {chr(0xAC00 + 89 * n + 7)}") for n in range(100)],
        [f"{n}\0\u2585\ufffd" for n in range(9)],
    ],
    ids=["letters and digits, which are never joined", "Korean, letter by letter", "what is not learned"],
)
def test_subwords_take_what_texts_give(texts):
    task = own("few", Pairs(texts, texts), level="subwords")
    read = [normalize("NFC", text).split("\ufffd")[0] for text in task.splits["train"].sources]
    assert there_and_back(task.source, read) == read
    assert not np.any(task.source.encode(read).flat_values == UNKNOWN)


def test_nothing_that_can_be_learned_is_told():
    with pytest.raises(ValueError, match="no more than what cannot be read"):
        own("none", Pairs(["\ufffd" * n for n in range(1, 9)], list("abcdefgh")), level="subwords")


def test_a_level_that_there_is_not():
    with pytest.raises(ValueError, match="characters, subwords, got 'words'"):
        own("words", pairs(1), level="words")
