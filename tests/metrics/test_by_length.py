"""Buckets and their scores, counted by hand."""

import pytest

from zoo.metrics import Bleu, exact_match
from zoo.metrics.by_length import Bucket, length_buckets, scores_by_length


def test_buckets_of_equal_width():
    assert length_buckets([1, 2, 5, 6, 11], width=5) == [Bucket(1, 5, 3), Bucket(6, 10, 1), Bucket(11, 11, 1)]


def test_small_buckets_are_put_together():
    lengths = [1, 6, 7, 12, 13, 14, 21]
    assert length_buckets(lengths, width=5, fewest=3) == [Bucket(1, 10, 3), Bucket(11, 21, 4)]
    assert length_buckets(lengths, width=5, fewest=9) == [Bucket(1, 21, 7)]


def test_a_gap_belongs_to_nobody():
    assert length_buckets([1, 11], width=5) == [Bucket(1, 5, 1), Bucket(11, 11, 1)]


def test_an_empty_source_is_among_the_short():
    assert length_buckets([0, 3], width=2) == [Bucket(0, 2, 1), Bucket(3, 3, 1)]


@pytest.mark.parametrize(("lengths", "width", "fewest"), [([], 5, 1), ([-1], 5, 1), ([1], 0, 1), ([1], 5, 0)])
def test_what_makes_no_bucket_is_told(lengths, width, fewest):
    with pytest.raises(ValueError, match="width and a fewest of 1 or more"):
        length_buckets(lengths, width=width, fewest=fewest)


def test_scores_are_those_of_the_pairs_of_each_bucket():
    lengths = [2, 9, 3, 10, 10]
    buckets = length_buckets(lengths, width=5)
    scores = scores_by_length(
        exact_match, ["a", "b", "c", "d", "e"], ["a", "x", "y", "d", "e"], lengths, buckets
    )
    assert scores == [1 / 2, 2 / 3]


def test_a_corpus_metric_is_not_a_mean_over_sentences():
    """BLEU of both long pairs together, as sacrebleu counts it, is not the mean of each alone."""
    predictions = ["the cat sat on the mat", "a dog ran over a green hill today", "yes"]
    references = ["the cat sat on a mat", "a dog ran over the green hill today", "yes"]
    lengths, metric = [6, 8, 1], Bleu()
    buckets = length_buckets(lengths, width=5)
    short, long = scores_by_length(metric, predictions, references, lengths, buckets)
    assert long == metric(predictions[:2], references[:2])
    assert short == metric(predictions[2:], references[2:])
    alone = [metric(predictions[n : n + 1], references[n : n + 1]) for n in (0, 1)]
    assert long != pytest.approx(sum(alone) / 2, abs=0.01)


def test_as_many_lengths_as_pairs():
    with pytest.raises(ValueError, match="2 predictions and 1 references"):
        scores_by_length(exact_match, ["a", "b"], ["a", "b"], [1], [Bucket(1, 5, 2)])
