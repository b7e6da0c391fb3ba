import json
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from zoo.data.batches import AHEAD, batches
from zoo.data.encoding import encode as encode_pairs
from zoo.data.pairs import Pairs
from zoo.data.records import INDEX, PLACE, PLACES, Shards, read_shards, write_shards
from zoo.tokenizers import Characters

SOURCE, TARGET = Characters("abcdefgh"), Characters("0123456789")
LENGTHS = {"max_source_length": 50, "max_length": 50}


def many(count=100, longest=30):
    random = np.random.default_rng(0)
    return Pairs(
        ["".join(random.choice(list("abcdefgh"), random.integers(1, longest))) for _ in range(count)],
        ["".join(random.choice(list("0123456789"), random.integers(0, 9))) for _ in range(count)],
    )


def write(folder, pairs, **changed):
    return write_shards(
        folder, zip(*pairs, strict=True), SOURCE, TARGET, **{**LENGTHS, "shards": 3, **changed}
    )


def arrays(dataset):
    return [[leaf.numpy().tolist() for leaf in tf.nest.flatten(batch)] for batch in dataset]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards") / "numbers"
    write(folder, many())
    return folder


def test_records_are_examples_that_anybody_can_read(tmp_path):
    write(tmp_path / "two", Pairs(["ab\n", "c"], ["0\r\n", "12"]), shards=2)
    names = [path.name for path in sorted(tmp_path.glob("two/*.tfrecord"))]
    assert names == ["pairs-00000-of-00002.tfrecord", "pairs-00001-of-00002.tfrecord"]
    found = []
    for name in names:
        for record in tf.data.TFRecordDataset(str(tmp_path / "two" / name)):  # checks their checksums
            features = tf.train.Example.FromString(record.numpy()).features.feature
            found.append({side: list(features[side].int64_list.value) for side in ("source", "target")})
    assert found == [{"source": [4, 5, 2], "target": [4, 2]}, {"source": [6, 2], "target": [5, 6, 2]}]


@pytest.mark.parametrize("bound", [{"batch_size": 7}, {"batch_tokens": 120}])
@pytest.mark.parametrize("seed", [None, 3])
def test_batches_are_those_of_the_corpus_in_memory(folder, bound, seed):
    """So they have its order, its buckets, its bounds, and each pair once an epoch."""
    stored = read_shards(folder, SOURCE, TARGET, seed=seed, **bound)
    whole = batches(many(), SOURCE, TARGET, seed=seed, **bound, **LENGTHS)
    assert stored.steps == whole.steps > 5
    assert stored.counts == whole.counts == (100, 0, 0, 0)
    for epoch in range(2):
        assert arrays(stored.epoch(epoch)) == arrays(whole.epoch(epoch))
    assert arrays(stored.epoch(1, 3)) == arrays(whole.epoch(1))[3:]
    assert arrays(stored.dataset(2)) == arrays(whole.dataset(2))
    assert stored.epoch(0).element_spec == stored.element_spec
    assert int(stored.epoch(0).cardinality()) == stored.steps
    assert stored.epoch(0).options().autotune.enabled is False


def test_over_workers_each_pair_comes_once_and_none_reads_what_another_does(folder, monkeypatch):
    whole = read_shards(folder, SOURCE, TARGET, batch_size=4, seed=1)
    read = []
    records = Shards._records
    monkeypatch.setattr(Shards, "_records", lambda self, pairs: read.append(pairs) or records(self, pairs))
    parts = [arrays(whole.shard(index, 3).epoch(0)) for index in range(3)]
    assert sorted(np.concatenate(read)) == list(range(100))
    for together, *apart in zip(arrays(whole.epoch(0)), *parts, strict=True):
        for leaf, rows in enumerate(together):
            assert sorted(rows) == sorted(row for part in apart for row in part[leaf])


def test_filters_are_those_of_batches(tmp_path):
    pairs = Pairs(["abc", "abcd", "ab", "a", "abc"], ["012", "01", "0123", "01234", "012"])
    bounds = {"max_source_length": 4, "max_length": 5, "too_long": "left_out", "max_ratio": 1.5}
    assert write(tmp_path / "few", pairs, **bounds) == (5, 0, 2, 1)
    stored = read_shards(tmp_path / "few", SOURCE, TARGET, batch_size=9)
    assert arrays(stored.epoch(0)) == arrays(batches(pairs, SOURCE, TARGET, batch_size=9, **bounds).epoch(0))


def test_memory_holds_places_and_order_and_no_ids(tmp_path, monkeypatch):
    pairs = many(300, longest=1000)
    write(tmp_path / "long", pairs, max_source_length=1000)
    size = sum(path.stat().st_size for path in tmp_path.glob("long/*.tfrecord"))
    read = []
    records = Shards._records

    def counted(self, pairs):
        found = records(self, pairs)
        read.append(sum(map(len, found)))
        return found

    monkeypatch.setattr(Shards, "_records", counted)
    stored = read_shards(tmp_path / "long", SOURCE, TARGET, batch_size=10, seed=1)
    assert isinstance(stored.rows.places, np.memmap)
    held = stored.rows.places.nbytes + sum(bucket.pairs.nbytes for bucket in stored.buckets)
    assert held == 300 * (PLACE.itemsize + 8) < size / 15
    rest = iter(stored.epoch(0))
    for step in range(1, 5):
        next(rest)
        assert len(read) <= step + 3 * AHEAD, "not much is read ahead"
    del rest
    assert sum(read) < size / 2


def test_writing_holds_some_thousand_pairs_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr("zoo.data.records.CHUNK", 10)
    drawn, encoded = [], []

    def pairs():
        for number in range(35):
            drawn.append(number)
            yield "a" * (number % 9 + 1), "1"

    def encode(chunk, *_):
        encoded.append(len(chunk.sources))
        assert len(drawn) == sum(encoded), "what is drawn is written before more is"
        return encode_pairs(chunk, *_)

    monkeypatch.setattr("zoo.data.records.encode", encode)
    assert write_shards(tmp_path / "some", pairs(), SOURCE, TARGET, **LENGTHS).pairs == 35
    assert encoded == [10, 10, 10, 5]


def test_what_is_half_written_is_never_read(tmp_path):
    def broken():
        yield "a", "1"
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="disk is full"):
        write_shards(tmp_path / "half", broken(), SOURCE, TARGET, **LENGTHS)
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from zoo.data.records import write_shards
from zoo.tokenizers import Characters

def pairs():
    for _ in range(5000):  # more than are written at once
        yield "a", "1"
    os.kill(os.getpid(), signal.SIGKILL)

digits = Characters("a1")
write_shards(Path(sys.argv[1]), pairs(), digits, digits, max_source_length=5, max_length=5)
"""


def test_a_killed_writer_leaves_nothing_in_its_place(tmp_path):
    folder = tmp_path / "killed"
    assert subprocess.run([sys.executable, "-c", KILLED, str(folder)], timeout=120).returncode == -9
    assert not folder.exists()
    with pytest.raises(FileNotFoundError, match=r"there is no index\.json\. Write them"):
        read_shards(folder, SOURCE, TARGET, batch_size=1)
    assert write(folder, many(5)).kept == 5, "and stands in nobody's way"


def changed_copy(folder, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    return copy


def missing(path):
    path.unlink()


def cut(path):
    path.write_bytes(path.read_bytes()[:-1])


def flipped(path):
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("name", ["pairs-00001-of-00003.tfrecord", PLACES])
@pytest.mark.parametrize(
    ("harm", "error", "told"),
    [
        (missing, FileNotFoundError, "is missing, which index.json lists"),
        (cut, ValueError, "it was cut short or has changed. Copy the whole folder"),
        (flipped, ValueError, "it was cut short or has changed"),
    ],
)
def test_a_shard_that_is_not_as_it_was_is_told(folder, tmp_path, name, harm, error, told):
    copy = changed_copy(folder, tmp_path)
    harm(copy / name)
    with pytest.raises(error, match=told) as raised:
        read_shards(copy, SOURCE, TARGET, batch_size=1)
    assert str(copy / name) in str(raised.value)


def test_ids_of_another_tokenizer_are_refused(folder):
    with pytest.raises(ValueError, match="are of another target tokenizer than the one given"):
        read_shards(folder, SOURCE, Characters("0123456789x"), batch_size=1)


def test_an_index_that_was_cut_short_is_told(folder, tmp_path):
    copy = changed_copy(folder, tmp_path)
    cut(copy / INDEX)
    with pytest.raises(
        ValueError, match=r"index\.json is no JSON .*it has changed\. Copy the whole folder again"
    ):
        read_shards(copy, SOURCE, TARGET, batch_size=1)


def test_texts_that_are_not_as_many_on_both_sides_leave_nothing(tmp_path):
    with pytest.raises(ValueError, match="shorter"):
        write_shards(tmp_path / "n", zip(["a", "b"], ["1"], strict=True), SOURCE, TARGET, **LENGTHS)
    assert list(tmp_path.iterdir()) == []


def test_an_index_of_another_format_is_refused(folder, tmp_path):
    copy = changed_copy(folder, tmp_path)
    index = json.loads((copy / INDEX).read_text())
    (copy / INDEX).write_text(json.dumps({**index, "format": 2}))
    with pytest.raises(ValueError, match="of format 1, got 2: another version"):
        read_shards(copy, SOURCE, TARGET, batch_size=1)


@pytest.mark.parametrize(
    ("pairs", "options", "told"),
    [
        (Pairs([], []), {}, "There are no pairs to write"),
        (many(5), {"shards": 0}, "1 shard or more, got shards=0"),
        (many(5), {"max_length": 1, "too_long": "left_out", "max_source_length": 1}, "No pair is left"),
        (many(5), {"too_long": "kept"}, "cut, left_out, got 'kept'"),
    ],
)
def test_what_cannot_be_written_is_refused_and_leaves_nothing(tmp_path, pairs, options, told):
    with pytest.raises(ValueError, match=told):
        write(tmp_path / "none", pairs, **options)
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_not_overwritten(folder):
    with pytest.raises(FileExistsError, match="is there already"):
        write(folder, many(5))


def test_fewer_pairs_than_shards(tmp_path):
    write(tmp_path / "few", many(2), shards=5)
    stored = read_shards(tmp_path / "few", SOURCE, TARGET, batch_size=2)
    assert stored.steps == 1
    assert arrays(stored.epoch(0)) == arrays(
        batches(many(2), SOURCE, TARGET, batch_size=2, **LENGTHS).epoch(0)
    )
