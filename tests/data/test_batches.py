import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.data.batches import batches
from zoo.data.pairs import Pairs
from zoo.models import RecurrentSeq2Seq
from zoo.tokenizers import END, PAD, START, Characters
from zoo.training.fit import TrainingSettings, compile_model

SOURCE, TARGET = Characters("abcdefgh"), Characters("0123456789")


def make(sources, targets, **changed):
    settings = {"batch_size": 3, "max_source_length": 50, "max_length": 50, **changed}
    return batches(Pairs(sources, targets), SOURCE, TARGET, **settings)


def pairs_of(dataset):
    """All pairs of an epoch, as texts, in their order."""
    found = []
    for inputs, labels, _ in dataset:
        sources, targets = SOURCE.decode(inputs["source"]), TARGET.decode(labels)
        found += zip(sources.numpy().tolist(), targets.numpy().tolist(), strict=True)
    return found


def many(count=40):
    random = np.random.default_rng(0)
    return (
        ["".join(random.choice(list("abcdefgh"), random.integers(1, 30))) for _ in range(count)],
        ["".join(random.choice(list("0123456789"), random.integers(0, 9))) for _ in range(count)],
    )


def test_a_batch_by_hand():
    ((inputs, labels, weights),) = list(make(["ab", "a"], ["012", ""]))
    np.testing.assert_array_equal(inputs["source"], [[4, 5, END], [4, END, PAD]])
    np.testing.assert_array_equal(inputs["target_ids"], [[START, 4, 5, 6], [START, END, PAD, PAD]])
    np.testing.assert_array_equal(labels, [[4, 5, 6, END], [END, PAD, PAD, PAD]])
    np.testing.assert_array_equal(weights, [[1, 1, 1, 1], [1, 0, 0, 0]])
    assert inputs["source"].dtype == inputs["target_ids"].dtype == labels.dtype == tf.int32
    assert weights.dtype == tf.float32


def test_forms_of_every_batch():
    for inputs, labels, weights in make(*many(), batch_size=4):
        target_ids = inputs["target_ids"].numpy()
        labels, weights = labels.numpy(), weights.numpy()
        np.testing.assert_array_equal(target_ids[:, 0], START)
        np.testing.assert_array_equal(target_ids[:, 1:], labels[:, :-1])
        np.testing.assert_array_equal(weights, labels != PAD)
        for row in (*inputs["source"].numpy(), *labels):
            end = row.tolist().index(END)  # right after the last token, and once
            assert (row[:end] > END).all()
            assert (row[end + 1 :] == PAD).all()


def test_every_pair_once_in_each_epoch():
    sources, targets = many()
    expected = sorted(zip(map(str.encode, sources), map(str.encode, targets), strict=True))
    for seed in (None, 0):
        dataset = make(sources, targets, seed=seed)
        for _ in range(2):
            assert sorted(pairs_of(dataset)) == expected


def test_cut_at_the_bounds_without_end():
    ((inputs, labels, weights),) = list(
        make(["abcabc", "ab"], ["0123", "01"], max_source_length=3, max_length=3)
    )
    np.testing.assert_array_equal(inputs["source"], [[4, 5, 6], [4, 5, END]])
    np.testing.assert_array_equal(labels, [[4, 5, 6], [4, 5, END]])
    np.testing.assert_array_equal(inputs["target_ids"], [[START, 4, 5], [START, 4, 5]])
    np.testing.assert_array_equal(weights, np.ones((2, 3)))


@pytest.mark.parametrize("batch_size", [1, 4, 100])
def test_texts_of_a_batch_have_like_lengths_and_cardinality_is_right(batch_size):
    dataset = make(*many(), batch_size=batch_size, seed=1)
    found = list(dataset)
    assert int(dataset.cardinality()) == len(found)
    for inputs, _, _ in found:
        lengths = np.sum(inputs["source"].numpy() != PAD, axis=1)
        assert len(lengths) <= batch_size
        assert lengths.max() - lengths.min() < 8


@pytest.mark.parametrize("length", [0, 7, 8])
def test_cardinality_at_the_bounds_of_buckets(length):
    dataset = make(["a" * length, "a" * length, "é" * length], ["", "1", "2"], batch_size=2)
    assert int(dataset.cardinality()) == len(list(dataset)) == 2


def test_seed_gives_the_order():
    sources, targets = many()
    first, same, other = (make(sources, targets, seed=seed) for seed in (5, 5, 6))
    epochs = [pairs_of(first), pairs_of(first)]
    assert [pairs_of(same), pairs_of(same)] == epochs
    assert epochs[0] != epochs[1]
    assert pairs_of(other) != epochs[0]


def test_without_a_seed_the_order_stays():
    dataset = make(["a", "b", "c", "d"], list("1234"), batch_size=2)
    assert pairs_of(dataset) == pairs_of(dataset) == [(b"a", b"1"), (b"b", b"2"), (b"c", b"3"), (b"d", b"4")]


def test_empty_sources_and_unknown_characters():
    ((inputs, labels, _),) = list(make(["", "zß"], ["", "x"]))
    np.testing.assert_array_equal(inputs["source"], [[END, PAD, PAD], [3, 3, END]])
    np.testing.assert_array_equal(labels, [[END, PAD], [3, END]])


@pytest.mark.parametrize(("sources", "targets"), [([], []), (["a"], []), (["a"], ["1", "2"])])
def test_pairs_that_are_not_parallel(sources, targets):
    with pytest.raises(ValueError, match=f"got {len(sources)} sources and {len(targets)} targets"):
        make(sources, targets)


def test_more_padding_changes_no_loss_and_no_metric():
    keras.utils.set_random_seed(0)
    model = RecurrentSeq2Seq(
        SOURCE.vocab_size,
        TARGET.vocab_size,
        embedding_dim=4,
        encoder_units=4,
        decoder_units=4,
    )
    compile_model(model, TrainingSettings(), steps=1)
    ((inputs, labels, weights),) = list(make(["abc", "a"], ["012", "4"]))
    pad = [[0, 0], [0, 20]]
    padded = {name: np.pad(ids, pad) for name, ids in inputs.items()}
    expected = model.test_on_batch(inputs, labels, weights, return_dict=True)
    found = model.test_on_batch(padded, np.pad(labels, pad), np.pad(weights, pad), return_dict=True)
    assert found == pytest.approx(expected, abs=1e-6)

    log_probs = tf.nn.log_softmax(model(inputs)).numpy()
    rows = [(0, 0, 4), (0, 1, 5), (0, 2, 6), (0, 3, END), (1, 0, 8), (1, 1, END)]
    assert found["loss"] == pytest.approx(-np.mean([log_probs[row] for row in rows]), abs=1e-5)
    right = np.mean([log_probs[b, t].argmax() == token for b, t, token in rows])
    assert found["token_accuracy"] == pytest.approx(right, abs=1e-6)
