"""Pairs as ids in TFRecord files, for corpora beyond memory: written once, read by their places.

A folder of shards has files `pairs-00000-of-00016.tfrecord` and so on. A record is a `tf.train.Example` with
the features `source` and `target`, lists of ids; pair n is in shard n modulo their number. `places.bin` has
the place and the lengths of each pair, `index.json` counts, bounds, and checksums of files and tokenizers.
"""

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from zoo.data.batches import Batches, make_batches
from zoo.data.encoding import CHUNK, Bounds, Counts, Encoded, Reader, encode
from zoo.data.pairs import Pairs
from zoo.tokenizers import Tokenizer

__all__ = ["INDEX", "PLACE", "PLACES", "Shards", "read_shards", "write_shards"]

FORMAT = 1

INDEX = "index.json"
PLACES = "places.bin"

PLACE = np.dtype([("start", "<u8"), ("size", "<u4"), ("source", "<u4"), ("target", "<u4")])
"""Of a pair: where its record's data begin in their shard, how many bytes they have; its numbers of ids."""

HEADER, FOOTER = 12, 4
"""Bytes of a TFRecord before and after its data: length and checksum, checksum."""

REMEDY = "Copy the whole folder again, or write it again."
"""For shards that are not as they were written."""

FEATURES = {
    "source": tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64),
    "target": tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64),
}


def write_shards(
    folder: Path,
    pairs: Iterable[tuple[str, str]],
    source: Tokenizer,
    target: Tokenizer,
    *,
    shards: int = 16,
    max_source_length: int,
    max_length: int,
    too_long: str = "cut",
    max_ratio: float | None = None,
) -> Counts:
    """Encode pairs and write them to shards; memory holds some thousand pairs at a time.

    The folder appears when all is written. What a killed process leaves is beside it, in a hidden folder that
    is never read.

    Args:
        folder: to be made.
        pairs: (source, target) texts, read once, such as
            `zip(open("my.en"), open("my.de"), strict=True)`; line ends are dropped.
        source, target: tokenizers.
        shards: number of files.
        max_source_length, max_length, too_long, max_ratio: see `zoo.data.batches.batches`.

    Returns:
        What became of the pairs.

    Raises:
        FileExistsError: the folder is there already.
        ValueError: there are no pairs, or none is left; there is no shard, or a bound is less than 1.
    """
    if folder.exists():
        raise FileExistsError(f"{folder} is there already. Delete it, or write to another folder.")
    if shards < 1:
        raise ValueError(f"Pairs are written to 1 shard or more, got shards={shards}.")
    bounds = Bounds(max_source_length, max_length, too_long, max_ratio)
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(mkdtemp(prefix=f".{folder.name}-new-", dir=folder.parent))
    try:
        names = [f"pairs-{shard:05}-of-{shards:05}.tfrecord" for shard in range(shards)]
        encoded = (encode(chunk, source, target, bounds) for chunk in _chunks(pairs))
        counts = _write(beside, names, encoded)
        bounds.require_some(counts)
        index = {
            "format": FORMAT,
            "counts": counts._asdict(),
            "bounds": asdict(bounds),
            "tokenizers": {"source": _fingerprint(source), "target": _fingerprint(target)},
            "shards": names,
            "files": {name: _checksum(beside / name) for name in (*names, PLACES)},
        }
        (beside / INDEX).write_text(json.dumps(index, indent=1), encoding="utf-8")
        beside.chmod(0o755)
        beside.rename(folder)
    except BaseException:
        shutil.rmtree(beside)
        raise
    return counts


def read_shards(
    folder: Path,
    source: Tokenizer,
    target: Tokenizer,
    *,
    batch_size: int | None = None,
    batch_tokens: int | None = None,
    seed: int | None = None,
) -> Batches:
    """The batches of a corpus in shards, the same that `zoo.data.batches.batches` makes of it in memory.

    All files are read once to compare their checksums. Memory holds lengths and order, some 50 bytes a pair;
    ids are read when their batch is made, several batches at the same time.

    Args:
        folder: what `write_shards` wrote.
        source, target: tokenizers, the same as then.
        batch_size, batch_tokens, seed: see `zoo.data.batches.batches`.

    Raises:
        FileNotFoundError: there are no shards in the folder, or one is missing.
        ValueError: a file has changed, or another tokenizer made the ids; or the bounds of a batch are wrong.
    """
    index = _index(folder)
    for side, tokenizer in (("source", source), ("target", target)):
        if index["tokenizers"][side] != _fingerprint(tokenizer):
            raise ValueError(
                f"The ids in {folder} are of another {side} tokenizer than the one given. Give the one that "
                "they were written with, or write them again."
            )
    for name, sha256 in index["files"].items():
        _require(folder / name, sha256)
    places = np.memmap(folder / PLACES, PLACE, mode="r")
    rows = Shards(tuple(folder / name for name in index["shards"]), places, Counts(**index["counts"]))
    return make_batches(rows, batch_size=batch_size, batch_tokens=batch_tokens, seed=seed)


class Shards(NamedTuple):
    """Pairs that are kept in files; see `zoo.data.encoding.Rows`."""

    files: Sequence[Path]
    places: np.ndarray
    """(N,) of `PLACE`, a file that is read as it is needed."""
    counts: Counts

    @property
    def source_lengths(self) -> np.ndarray:
        """(N,) number of ids of each source, END counted."""
        return self.places["source"].astype(np.int64)

    @property
    def target_lengths(self) -> np.ndarray:
        """(N,) number of ids of each target, END counted."""
        return self.places["target"].astype(np.int64)

    def reader(self) -> Reader:
        """What fetches them."""

        def read(pairs: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
            records = tf.numpy_function(self._records, [pairs], tf.string, stateful=False)
            found = tf.io.parse_example(tf.ensure_shape(records, (None,)), FEATURES)
            return tf.cast(found["source"], tf.int32), tf.cast(found["target"], tf.int32)

        return read

    def _records(self, pairs: np.ndarray) -> np.ndarray:
        """The data of records (B,), each file opened once."""
        records = np.full(len(pairs), b"", object)
        shard_of = pairs % len(self.files)
        for shard in np.unique(shard_of):
            with self.files[shard].open("rb", buffering=0) as file:
                for row in np.flatnonzero(shard_of == shard):
                    place = self.places[pairs[row]]
                    file.seek(int(place["start"]))
                    records[row] = file.read(int(place["size"]))
        return records


def _chunks(pairs: Iterable[tuple[str, str]]) -> Iterator[Pairs]:
    rest = iter(pairs)
    while chunk := list(islice(rest, CHUNK)):
        yield Pairs(*([text.rstrip("\r\n") for text in side] for side in zip(*chunk, strict=True)))


def _write(folder: Path, names: Sequence[str], chunks: Iterable[Encoded]) -> Counts:
    """Write records and places; what is left of the pairs may be nothing."""
    counts, written = Counts(0, 0, 0, 0), 0
    ends = [0] * len(names)
    with ExitStack() as stack:
        files = [stack.enter_context(tf.io.TFRecordWriter(str(folder / name))) for name in names]
        places_file = stack.enter_context((folder / PLACES).open("wb"))
        for chunk in chunks:
            counts = Counts(*map(sum, zip(counts, chunk.counts, strict=True)))
            places = np.empty(len(chunk.source.lengths), PLACE)
            for row, example in enumerate(_examples(chunk)):
                shard, record = (written + row) % len(names), example.SerializeToString(deterministic=True)
                files[shard].write(record)
                lengths = [len(example.features.feature[side].int64_list.value) for side in FEATURES]
                places[row] = (ends[shard] + HEADER, len(record), *lengths)
                ends[shard] += HEADER + len(record) + FOOTER
            written += len(places)
            places_file.write(places.tobytes())
    if not counts.pairs:
        raise ValueError("There are no pairs to write. Give at least one source and its target.")
    return counts


def _examples(encoded: Encoded) -> Iterator[tf.train.Example]:
    sides = {"source": encoded.source, "target": encoded.target}
    for row in range(len(encoded.source.lengths)):
        ids = {
            side: sequences.ids[sequences.splits[row] : sequences.splits[row + 1]].tolist()
            for side, sequences in sides.items()
        }
        lists = {side: tf.train.Int64List(value=values) for side, values in ids.items()}
        feature = {side: tf.train.Feature(int64_list=values) for side, values in lists.items()}
        yield tf.train.Example(features=tf.train.Features(feature=feature))


def _index(folder: Path) -> Mapping[str, Any]:
    path = folder / INDEX
    if not path.is_file():
        raise FileNotFoundError(
            f"No shards in {folder}: there is no {INDEX}. Write them with zoo.data.records.write_shards."
        )
    try:
        index = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON ({error}): it has changed. {REMEDY}") from error
    if index.get("format") != FORMAT:
        raise ValueError(
            f"{path} must be of format {FORMAT}, got {index.get('format')}: another version of the zoo wrote "
            "it. Write the shards again."
        )
    return index


def _require(path: Path, sha256: str) -> None:
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing, which {INDEX} lists. {REMEDY}")
    found = _checksum(path)
    if found != sha256:
        raise ValueError(
            f"{path} must have the SHA-256 {sha256}, as {INDEX} lists it, got {found}: it was cut short or "
            f"has changed. {REMEDY}"
        )


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fingerprint(tokenizer: Tokenizer) -> str:
    """What tells a tokenizer from any other: its kind and its vocabulary."""
    return hashlib.sha256(f"{type(tokenizer).__name__}\n{tokenizer.describe()}".encode()).hexdigest()
