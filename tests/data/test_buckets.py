from itertools import pairwise

import numpy as np
import pytest

from zoo.data.buckets import fill_buckets, plan_epoch


def lengths(count, seed=0):
    random = np.random.default_rng(seed)
    return random.integers(1, 40, count), random.integers(1, 40, count)


@pytest.mark.parametrize("bound", [{"batch_size": 7}, {"batch_tokens": 200}])
def test_every_pair_is_in_one_bucket_with_pairs_of_like_length(bound):
    source, target = lengths(1000)
    buckets = fill_buckets(source, target, **bound)
    assert sorted(np.concatenate([bucket.pairs for bucket in buckets])) == list(range(1000))
    longest = np.maximum(source, target)
    spans = [(longest[bucket.pairs].min(), longest[bucket.pairs].max()) for bucket in buckets]
    assert all(before[1] < after[0] for before, after in pairwise(spans))
    assert len(buckets) > 10


def test_buckets_by_hand():
    # Four batches of one pair make a bucket: lengths 1 to 2, then 5; what is left is the last one.
    buckets = fill_buckets(np.array([1, 5, 2, 2, 2, 5, 5, 5, 9]), np.ones(9, int), batch_size=1)
    assert [(bucket.pairs.tolist(), bucket.batches) for bucket in buckets] == [
        ([0, 2, 3, 4], 4),
        ([1, 5, 6, 7], 4),
        ([8], 1),
    ]


def test_batches_of_a_bucket_differ_by_one_pair_at_most():
    source, target = lengths(500)
    buckets = fill_buckets(source, target, batch_size=16)
    for bucket in buckets:
        sizes = np.diff(plan_epoch([bucket], 0, 0).splits)
        assert sizes.max() <= 16
        assert sizes.max() - sizes.min() <= 1
        assert sizes.sum() == len(bucket.pairs)


def test_a_plan_holds_every_pair_once_and_has_as_many_steps_in_each_epoch():
    buckets = fill_buckets(*lengths(300), batch_tokens=150)
    plans = [plan_epoch(buckets, 4, epoch) for epoch in range(4)]
    assert len({len(plan.splits) for plan in plans}) == 1
    assert len({plan.pairs.tobytes() for plan in plans}) == 4
    for plan in plans:
        assert sorted(plan.pairs) == list(range(300))


def test_batches_of_all_lengths_are_mixed():
    source, target = lengths(1000)
    plan = plan_epoch(fill_buckets(source, target, batch_size=10), 0, 0)
    longest = np.maximum(source, target)
    firsts = longest[plan.pairs[plan.splits[:-1]]]
    assert abs(firsts[: len(firsts) // 2].mean() - firsts[len(firsts) // 2 :].mean()) < 5


def test_the_longest_pair_must_have_room():
    with pytest.raises(ValueError, match="The longest pair has 30 ids, more than batch_tokens=29"):
        fill_buckets(np.array([1, 20]), np.array([1, 10]), batch_tokens=29)
