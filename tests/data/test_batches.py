import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.data.batches import batches
from zoo.data.pairs import Pairs
from zoo.models import RecurrentSeq2Seq
from zoo.tokenizers import END, PAD, START, Characters
from zoo.training.epochs import SharedEpochs
from zoo.training.fit import TrainingSettings, compile_model

SOURCE, TARGET = Characters("abcdefgh"), Characters("0123456789")


def make(sources, targets, **changed):
    settings = {"max_source_length": 50, "max_length": 50, **changed}
    if "batch_tokens" not in settings:
        settings.setdefault("batch_size", 3)
    return batches(Pairs(sources, targets), SOURCE, TARGET, **settings)


def pairs_of(dataset):
    """All pairs of an epoch, as texts, in their order."""
    found = []
    for inputs, labels, _ in dataset:
        sources, targets = SOURCE.decode(inputs["source"]), TARGET.decode(labels)
        found += zip(sources.numpy().tolist(), targets.numpy().tolist(), strict=True)
    return found


def arrays(dataset):
    """The batches of an epoch, as something that can be compared."""
    return [[leaf.numpy().tolist() for leaf in tf.nest.flatten(batch)] for batch in dataset]


def many(count=40):
    random = np.random.default_rng(0)
    return (
        ["".join(random.choice(list("abcdefgh"), random.integers(1, 30))) for _ in range(count)],
        ["".join(random.choice(list("0123456789"), random.integers(0, 9))) for _ in range(count)],
    )


def test_a_batch_by_hand():
    ((inputs, labels, weights),) = list(make(["ab", "a"], ["012", ""]).epoch(0))
    np.testing.assert_array_equal(inputs["source"], [[4, 5, END], [4, END, PAD]])
    np.testing.assert_array_equal(inputs["target_ids"], [[START, 4, 5, 6], [START, END, PAD, PAD]])
    np.testing.assert_array_equal(labels, [[4, 5, 6, END], [END, PAD, PAD, PAD]])
    np.testing.assert_array_equal(weights, [[1, 1, 1, 1], [1, 0, 0, 0]])
    assert inputs["source"].dtype == inputs["target_ids"].dtype == labels.dtype == tf.int32
    assert weights.dtype == tf.float32


def test_forms_of_every_batch():
    data = make(*many(), batch_size=4)
    assert data.epoch(0).element_spec == data.dataset(2).element_spec == data.element_spec
    for inputs, labels, weights in data.epoch(0):
        target_ids = inputs["target_ids"].numpy()
        labels, weights = labels.numpy(), weights.numpy()
        np.testing.assert_array_equal(target_ids[:, 0], START)
        np.testing.assert_array_equal(target_ids[:, 1:], labels[:, :-1])
        np.testing.assert_array_equal(weights, labels != PAD)
        for row in (*inputs["source"].numpy(), *labels):
            end = row.tolist().index(END)  # right after the last token, and once
            assert (row[:end] > END).all()
            assert (row[end + 1 :] == PAD).all()


@pytest.mark.parametrize("bound", [{"batch_size": 4}, {"batch_tokens": 80}])
def test_every_pair_once_in_each_epoch(bound):
    sources, targets = many()
    expected = sorted(zip(map(str.encode, sources), map(str.encode, targets), strict=True))
    for seed in (None, 0):
        data = make(sources, targets, seed=seed, **bound)
        for epoch in range(2):
            assert sorted(pairs_of(data.epoch(epoch))) == expected


def test_cut_at_the_bounds_without_end():
    data = make(["abcabc", "ab"], ["0123", "01"], max_source_length=3, max_length=3)
    ((inputs, labels, weights),) = list(data.epoch(0))
    np.testing.assert_array_equal(inputs["source"], [[4, 5, 6], [4, 5, END]])
    np.testing.assert_array_equal(labels, [[4, 5, 6], [4, 5, END]])
    np.testing.assert_array_equal(inputs["target_ids"], [[START, 4, 5], [START, 4, 5]])
    np.testing.assert_array_equal(weights, np.ones((2, 3)))
    assert data.counts == (2, 1, 0, 0)


def test_too_long_and_uneven_pairs_are_left_out_and_counted(caplog):
    sources = ["abc", "abcd", "ab", "a", "abc"]
    targets = ["012", "01", "0123", "01234", "012"]
    data = make(sources, targets, max_source_length=4, max_length=5, too_long="left_out")
    assert pairs_of(data.epoch(0)) == [(b"abc", b"012"), (b"ab", b"0123"), (b"abc", b"012")]
    assert data.counts == (5, 0, 2, 0)
    # END counts: 2 and 5 ids are 2.5 times, 3 and 5 less than 2 times as many.
    data = make(["a", "ab", "abcd"], ["0123", "0123", "0"], max_ratio=2)
    assert pairs_of(data.epoch(0)) == [(b"ab", b"0123")]
    assert data.counts.kept == 1
    assert str(data.counts) == "1 of 3 pairs, 0 of them cut; left out: 0 too long, 2 uneven"
    assert caplog.messages == [
        "Of the data: 3 of 5 pairs, 0 of them cut; left out: 2 too long, 0 uneven",
        f"Of the data: {data.counts}",
    ]
    caplog.clear()
    make(["a"], ["1"])
    assert caplog.messages == []


@pytest.mark.parametrize("batch_size", [1, 4, 100])
def test_batches_have_at_most_so_many_pairs_and_cardinality_is_right(batch_size):
    data = make(*many(), batch_size=batch_size, seed=1)
    sizes = [inputs["source"].shape[0] for inputs, _, _ in data.epoch(0)]
    assert max(sizes) <= batch_size
    assert int(data.epoch(0).cardinality()) == int(data.epoch(5).cardinality()) == data.steps == len(sizes)
    assert int(data.epoch(3, data.steps - 1).cardinality()) == 1


def test_batches_have_at_most_so_many_tokens_and_little_of_it_is_padding():
    data = make(*many(2000), batch_tokens=300, seed=1)
    room = tokens = 0
    for inputs, labels, weights in data.epoch(0):
        padded = inputs["source"].shape[0] * (inputs["source"].shape[1] + labels.shape[1])
        assert padded <= 300
        room += padded
        tokens += np.sum(inputs["source"].numpy() != PAD) + np.sum(weights)
    assert tokens > 0.8 * room


def test_order_and_content_are_a_function_of_seed_epoch_and_step():
    sources, targets = many(100)
    first, same, other = (make(sources, targets, batch_size=4, seed=seed) for seed in (5, 5, 6))
    epochs = [arrays(first.epoch(epoch)) for epoch in range(3)]
    assert arrays(same.epoch(2)) == epochs[2], "whatever was read before"
    assert epochs[0] != epochs[1] != epochs[2] != epochs[0]
    assert arrays(other.epoch(0)) != epochs[0]
    for step in (0, 1, first.steps - 1, first.steps):
        assert arrays(first.epoch(1, step)) == epochs[1][step:]
    assert arrays(first.dataset(3)) == [batch for epoch in epochs for batch in epoch]
    met = [{frozenset(map(tuple, batch[0])) for batch in epoch} for epoch in epochs[:2]]
    assert len(met[0] & met[1]) < len(met[0]) / 4, "other pairs meet in another epoch"


def test_the_global_seed_of_tensorflow_has_no_say():
    data = make(*many(), seed=3)
    tf.random.set_seed(1)
    first = arrays(data.epoch(1))
    tf.random.set_seed(2)
    assert arrays(data.epoch(1)) == first


def test_nobody_waits_for_the_tuner_of_pipelines():
    data = make(*many(), batch_size=4)
    shared = SharedEpochs(data, group=2, devices=2)
    for dataset in (data.epoch(0), data.dataset(2), data.shard(0, 2).epoch(1), shared.epoch(0)):
        assert dataset.options().autotune.enabled is False


def test_without_a_seed_the_order_stays():
    data = make(["a", "b", "c", "d"], list("1234"), batch_size=2)
    assert pairs_of(data.epoch(0)) == [(b"a", b"1"), (b"b", b"2"), (b"c", b"3"), (b"d", b"4")]
    assert arrays(data.epoch(1)) == arrays(data.epoch(0))


@pytest.mark.parametrize("bound", [{"batch_size": 5}, {"batch_tokens": 100}])
def test_over_workers_each_pair_comes_once_and_every_step_adds_up(bound):
    sources, targets = many(100)
    whole = make(sources, targets, seed=2, **bound)
    parts = [whole.shard(index, 3) for index in range(3)]
    assert {part.steps for part in parts} == {whole.steps}
    for epoch in range(2):
        for together, *apart in zip(whole.epoch(epoch), *(part.epoch(epoch) for part in parts), strict=True):
            lengths = {(one[0]["source"].shape[1], one[1].shape[1]) for one in (together, *apart)}
            assert len(lengths) == 1, "padded to the same lengths, also without a row"
            assert sorted(pairs_of([together])) == sorted(pair for one in apart for pair in pairs_of([one]))


def test_parts_that_there_are_not():
    data = make(["a"], ["1"])
    for index, count in ((-1, 2), (2, 2), (0, 0)):
        with pytest.raises(ValueError, match="parts from 0 to count - 1"):
            data.shard(index, count)
    with pytest.raises(ValueError, match="of part 1 of 2"):
        data.shard(1, 2).shard(0, 2)


def test_empty_sources_and_unknown_characters():
    ((inputs, labels, _),) = list(make(["", "zß"], ["", "x"]).epoch(0))
    np.testing.assert_array_equal(inputs["source"], [[END, PAD, PAD], [3, 3, END]])
    np.testing.assert_array_equal(labels, [[END, PAD], [3, END]])


@pytest.mark.parametrize(("sources", "targets"), [([], []), (["a"], []), (["a"], ["1", "2"])])
def test_pairs_that_are_not_parallel(sources, targets):
    with pytest.raises(ValueError, match=f"got {len(sources)} sources and {len(targets)} targets"):
        make(sources, targets)


REFUSED = [
    ({"batch_size": None}, "batch_size=None and batch_tokens=None"),
    ({"batch_size": 2, "batch_tokens": 20}, "one of them"),
    ({"batch_size": 0}, "at least 1"),
    ({"batch_tokens": 5}, "The longest pair has 6 ids, more than batch_tokens=5"),
    ({"max_length": 0}, "max_length=0"),
    ({"too_long": "shortened"}, "cut, left_out, got 'shortened'"),
    ({"max_ratio": 0.5}, "max_ratio must be 1 or more"),
    ({"max_length": 1, "too_long": "left_out"}, r"No pair is left .*2 too long.* max_length=1"),
]


@pytest.mark.parametrize(("changed", "told"), REFUSED)
def test_what_cannot_be_is_refused(changed, told):
    with pytest.raises(ValueError, match=told):
        make(["ab", "ab"], ["01", "23"], **changed)


@pytest.mark.parametrize(("epoch", "step"), [(-1, 0), (0, -1), (0, 2)])
def test_epochs_and_steps_that_there_are_not(epoch, step):
    with pytest.raises(ValueError, match=f"got epoch {epoch} and step {step}"):
        make(["a"], ["1"]).epoch(epoch, step)


def test_a_plain_fit_goes_through_all_epochs():
    data = make(*many(), seed=0)
    model = keras.Sequential([keras.layers.Embedding(16, 4), keras.layers.Dense(16)])
    model.compile(loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    plain = data.dataset(3).map(lambda inputs, labels, weights: (inputs["target_ids"], labels, weights))
    history = model.fit(plain, epochs=3, steps_per_epoch=data.steps, shuffle=False, verbose=0)
    assert len(history.history["loss"]) == 3
    assert int(model.optimizer.iterations) == 3 * data.steps


def test_more_padding_changes_no_loss_and_no_metric():
    keras.utils.set_random_seed(0)
    model = RecurrentSeq2Seq(
        SOURCE.vocab_size,
        TARGET.vocab_size,
        embedding_dim=4,
        encoder_units=4,
        decoder_units=4,
    )
    compile_model(model, TrainingSettings(batch_size=2), steps=1)
    ((inputs, labels, weights),) = list(make(["abc", "a"], ["012", "4"]).epoch(0))
    pad = [[0, 0], [0, 20]]
    padded = {name: np.pad(ids, pad) for name, ids in inputs.items()}
    names = ("loss", "token_accuracy")
    expected = model.test_on_batch(inputs, labels, weights, return_dict=True)
    found = model.test_on_batch(padded, np.pad(labels, pad), np.pad(weights, pad), return_dict=True)
    assert [found[name] for name in names] == pytest.approx([expected[name] for name in names], abs=1e-6)

    log_probs = tf.nn.log_softmax(model(inputs)).numpy()
    rows = [(0, 0, 4), (0, 1, 5), (0, 2, 6), (0, 3, END), (1, 0, 8), (1, 1, END)]
    assert found["loss"] == pytest.approx(-np.mean([log_probs[row] for row in rows]), abs=1e-5)
    right = np.mean([log_probs[b, t].argmax() == token for b, t, token in rows])
    assert found["token_accuracy"] == pytest.approx(right, abs=1e-6)
