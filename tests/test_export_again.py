"""An export can be moved, and what was loaded from it can be exported again."""

import json
import shutil

import pytest
import tensorflow as tf
from broken_exports import write_unverified
from fake_predictor import TEXT
from predictor_cases import make_predictor

from zoo.predictor import Signature
from zoo.verify import verify
from zoo.verify.answers import RULES, Served, ask_alone
from zoo.verify.layout import MANIFEST, read_golden, read_manifest
from zoo.verify.servable import load_both_ways


class WithVocabularyInAFile(tf.Module):
    """Words to numbers, by a file that becomes an asset of the export."""

    def __init__(self, file):
        super().__init__()
        file.write_text("hello\nbye\n")
        lines = tf.lookup.TextFileInitializer(
            str(file),
            tf.string,
            tf.lookup.TextFileIndex.WHOLE_LINE,
            tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER,
        )
        self.table = tf.lookup.StaticHashTable(lines, -1)

    def signatures(self):
        return {"serving_default": Signature(lambda text: {"id": self.table.lookup(text)}, TEXT)}

    def assets(self):
        return {}


@pytest.fixture(scope="module")
def moved(tmp_path_factory):
    """An export elsewhere, and the folder where it was written, which is gone."""
    folder = tmp_path_factory.mktemp("before")
    path = write_unverified(make_predictor(), folder / "models")
    there = tmp_path_factory.mktemp("after") / "other name" / "5"
    shutil.copytree(path, there)
    shutil.rmtree(folder)
    return there, folder


def test_what_was_moved_passes_every_check(moved):
    report = verify(moved[0])
    assert report.ok, str(report)


def test_a_table_that_is_named_after_its_file_is_found(tmp_path):
    """TensorFlow copies the file, and keeps its path in the name of the table."""
    file = tmp_path / "vocabulary.txt"
    failures = verify(write_unverified(WithVocabularyInAFile(file), tmp_path / "models")).failures
    assert [check.name for check in failures] == ["paths"]
    assert f"holds the path {file}" in failures[0].detail
    assert "KeyValueTensorInitializer" in failures[0].detail


def test_nothing_in_it_names_where_it_was_written(moved):
    path, before = moved
    for file in path.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert str(before).encode() not in content, file
            assert str(path).encode() not in content, file
    assert not any(name.startswith("/") for name in json.loads((path / MANIFEST).read_text())["files"])


def test_what_was_loaded_can_be_exported_again(moved, tmp_path):
    path, _ = moved
    loaded = tf.saved_model.load(str(path))
    again = tmp_path / "again" / "1"
    tf.saved_model.save(loaded, str(again), signatures=dict(loaded.signatures))
    del loaded
    signatures = read_manifest(path)["signatures"]
    golden = read_golden(path, signatures)
    ways = load_both_ways(again)
    answers = (ask_alone(ask, golden) for ask in (ways.function, ways.session))
    served = Served(signatures, golden, ways.function, ways.session, *answers)
    for rule in RULES:
        check = rule.check(served)
        assert check.ok, str(check)
