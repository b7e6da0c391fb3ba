"""BLEU and chrF against their definitions, worked out here on small corpora."""

import math
from collections import Counter

import pytest

from zoo.metrics import Bleu, ChrF

PREDICTIONS = [
    "the cat sat on the mat near the old door",
    "a dog runs over the green field today",
    "two men are reading a book",
]
REFERENCES = [
    "the cat sat on the mat by the old door",
    "a dog is running over the green field today with a ball",
    "two men are reading a book",
]


def grams(items, n):
    return Counter(tuple(items[i : i + n]) for i in range(len(items) - n + 1))


def bleu_by_definition(predictions, references):
    """Papineni et al. (2002): clipped precisions of 1 to 4 words, geometric mean, brevity penalty."""
    hits, totals = [0] * 4, [0] * 4
    for prediction, reference in zip(predictions, references, strict=True):
        for n in range(4):
            left, right = grams(prediction.split(), n + 1), grams(reference.split(), n + 1)
            hits[n] += sum(min(count, right[gram]) for gram, count in left.items())
            totals[n] += sum(left.values())
    mean = math.exp(sum(math.log(hit / total) for hit, total in zip(hits, totals, strict=True)) / 4)
    shorter, longer = (sum(len(text.split()) for text in texts) for texts in (predictions, references))
    return 100 * mean * min(1.0, math.exp(1 - longer / shorter))


def chrf_by_definition(predictions, references):
    """Popović (2015): mean over 1 to 6 characters, without blanks, of precision and recall; F with beta 2."""
    precision = recall = 0.0
    for n in range(1, 7):
        hits = left_total = right_total = 0
        for prediction, reference in zip(predictions, references, strict=True):
            left, right = (grams(text.replace(" ", ""), n) for text in (prediction, reference))
            hits += sum((left & right).values())
            left_total += sum(left.values())
            right_total += sum(right.values())
        precision += hits / left_total / 6
        recall += hits / right_total / 6
    return 100 * 5 * precision * recall / (4 * precision + recall)


def test_bleu_is_its_definition():
    expected = bleu_by_definition(PREDICTIONS, REFERENCES)
    assert 40 < expected < 80
    assert Bleu()(PREDICTIONS, REFERENCES) == pytest.approx(expected)
    assert Bleu("moses-en")(PREDICTIONS, REFERENCES) == pytest.approx(expected)
    assert Bleu()(REFERENCES, REFERENCES) == pytest.approx(100)


def test_chrf_is_its_definition():
    # Of equal lengths, precision and recall are one, so it does not matter where the mean over n is taken.
    predictions, references = ["abcdefgh"], ["abcdefgx"]
    assert ChrF()(predictions, references) == pytest.approx(chrf_by_definition(predictions, references))
    assert ChrF()(REFERENCES, REFERENCES) == pytest.approx(100)
    assert ChrF(word_order=2)(PREDICTIONS, REFERENCES) < 100


def test_case_counts_unless_it_is_dropped():
    predictions, references = ["Two Men are reading a Book now"], ["two men are reading a book now"]
    for tokens in ("13a", "moses-en"):
        assert Bleu(tokens)(predictions, references) < 50
        assert Bleu(tokens, lower_case=True)(predictions, references) == pytest.approx(100)
    assert ChrF(lower_case=True)(predictions, references) == pytest.approx(100)


def test_bleu_over_moses_tokens_is_bleu_over_text_that_was_cut_by_hand():
    predictions = ["Der 3-jährige Junge sagt: „Nein!“", "L'été est chaud."]
    references = ["Der 3-jährige Junge sagt: „Ja!“", "L'hiver est chaud."]
    cut_predictions = ['der 3-jährige junge sagt : " nein ! "', "l ' été est chaud ."]
    cut_references = ['der 3-jährige junge sagt : " ja ! "', "l ' hiver est chaud ."]
    expected = bleu_by_definition(cut_predictions, cut_references)
    assert Bleu("moses-de", lower_case=True)(predictions, references) == pytest.approx(expected)


def test_signatures_say_how():
    assert Bleu().signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert "|case:lc|eff:no|tok:moses-de|" in Bleu("moses-de", lower_case=True).signature
    assert "|tok:zh|" in Bleu("zh").signature
    assert "|case:mixed|eff:yes|nc:6|nw:0|space:no|" in ChrF().signature
    assert "|nw:2|" in ChrF(word_order=2).signature


@pytest.mark.parametrize("metric", [Bleu(), Bleu("moses-de"), ChrF()])
def test_what_cannot_be_judged_is_refused(metric):
    with pytest.raises(ValueError, match="2 predictions and 1 references"):
        metric(["a", "b"], ["a"])
    with pytest.raises(ValueError, match="at least one pair"):
        metric([], [])
