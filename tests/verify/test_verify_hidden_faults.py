"""Faults that hide where a check looks away: in an empty list, in infinity, in a text beside the question."""

from pathlib import Path

import pytest
import tensorflow as tf
from broken_exports import (
    assert_one_fails,
    edit_answer,
    edit_graph,
    edit_manifest,
    edit_warm_up,
    failing,
    lengths,
    replace_file,
    with_odd,
    write_unverified,
)
from fake_predictor import BOTH, TEXT, FakePredictor

from zoo.predictor import Signature
from zoo.verify.graph import IMAGE_GRAPHS


@pytest.mark.parametrize("output", [{"text": []}, {"score": []}, {"length": [[]]}])
def test_an_empty_list_is_no_answer(copy, output):
    edit_answer(copy, lambda outputs: outputs.update(output))
    assert_one_fails(copy, "golden answers", f"{next(iter(output))} is ")


@pytest.mark.parametrize("score", [float("inf"), -float("inf"), float("nan"), 1e39])
def test_a_golden_number_is_finite(copy, score):
    edit_answer(copy, lambda outputs: outputs.update(score=score))
    assert_one_fails(copy, "golden questions", "Expected finite numbers of float32")


def valid(text):
    return tf.strings.unicode_transcode(text, "UTF-8", "UTF-8", errors="replace")


def echoes(text, target):
    return {"y": tf.strings.join([valid(text), target])}


def decodes_strictly(text, target):
    decoded = tf.strings.unicode_decode(target, "UTF-8", errors="strict")
    return {"y": tf.cast(decoded.row_lengths(), tf.int32)}


def has_few_places(text, target):
    length = tf.minimum(tf.strings.length(text), 1) * tf.strings.length(target)
    return {"y": tf.gather(tf.range(4096), length)}


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (echoes, "which is not UTF-8"),
        (decodes_strictly, "odd, asked "),
        (has_few_places, "odd, asked "),
    ],
)
def test_every_text_of_a_request_may_be_unusual(tmp_path, function, reason):
    predictor = FakePredictor()
    good = Signature(lambda text: {"text": FakePredictor.shout(None, text)}, TEXT)
    predictor.signatures = lambda: {"serving_default": good, "odd": Signature(function, BOTH)}
    failures = failing(write_unverified(predictor, tmp_path))
    assert reason in failures["unusual texts"]


def cut_at_4096_bytes(text):
    return {"y": tf.strings.substr(valid(text), 0, 4096)}


def exclaims_at_white_space(text):
    blank = tf.strings.regex_full_match(text, r"[\pZ\t\r\n]+") & ~tf.strings.regex_full_match(text, " *")
    return {"text": tf.where(blank, "!", FakePredictor.shout(None, text))}


def other_in_batches_of(size):
    return lambda text: {"y": lengths(text) + tf.cast(tf.equal(tf.size(text), size), tf.float32)}


@pytest.mark.parametrize(
    ("function", "check", "reason"),
    [
        (cut_at_4096_bytes, "unusual texts", "which is not UTF-8"),
        (exclaims_at_white_space, "blank texts", "answered b'\\t\\r\\n' with"),
        (other_in_batches_of(8), "batches", "asked in a batch of 8: y is"),
        (other_in_batches_of(32), "batches", "asked in a batch of 32: y is"),
    ],
)
def test_what_only_some_texts_and_batches_show(tmp_path, function, check, reason):
    assert reason in failing(with_odd(function, tmp_path))[check]


def restores(text):
    number = tf.raw_ops.RestoreV2(
        prefix="ckpt/x", tensor_names=["w"], shape_and_slices=[""], dtypes=[tf.float32]
    )
    return {"y": lengths(text) + tf.reshape(number[0], [])}


def caches(text):
    numbers = tf.data.Dataset.range(3).cache("cachefile")
    return {"y": lengths(text) + numbers.reduce(0.0, lambda total, _: total + 1.0)}


def prints(text):
    tf.print(text, output_stream="file://said.txt")
    return {"y": lengths(text)}


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (restores, "is the op RestoreV2, which opens ckpt/x, a file that is no asset."),
        (caches, "is the op CacheDatasetV2, which opens cachefile, a file that is no asset."),
        (prints, "holds the path file://said.txt."),
    ],
)
def test_a_file_by_a_relative_name_is_one_too(tmp_path, monkeypatch, function, reason):
    monkeypatch.chdir(tmp_path)
    Path("ckpt").mkdir()
    tf.raw_ops.SaveV2(prefix="ckpt/x", tensor_names=["w"], shape_and_slices=[""], tensors=[1.0])
    assert reason in failing(with_odd(function, tmp_path))["paths"]


def test_a_table_is_filled_from_an_asset_and_from_no_other_file(tmp_path):
    """TensorFlow copies the file into the export; what is still refused is its path in the table's name."""
    words = tmp_path / "words.txt"
    words.write_text("hello\n")
    table = tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer(
            str(words),
            tf.string,
            tf.lookup.TextFileIndex.WHOLE_LINE,
            tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER,
        ),
        -1,
    )
    predictor = FakePredictor()
    predictor.table = table
    good = Signature(lambda text: {"text": FakePredictor.shout(None, text)}, TEXT)
    looked_up = Signature(lambda text: {"y": tf.cast(table.lookup(text), tf.int32)}, TEXT)
    predictor.signatures = lambda: {"serving_default": good, "odd": looked_up}
    failures = failing(write_unverified(predictor, tmp_path / "exports"))
    assert list(failures) == ["paths"]
    assert "no asset" not in failures["paths"]


def test_a_version_of_graphs_that_is_ruled_out(copy):
    edit_graph(copy, lambda meta_graph: meta_graph.graph_def.versions.bad_consumers.append(IMAGE_GRAPHS))
    assert_one_fails(copy, "operations", f"rules version {IMAGE_GRAPHS} of graphs out")


@pytest.mark.parametrize(
    ("change", "check", "reason"),
    [
        (lambda manifest: manifest.update(needs=[]), "signatures", "the graph ['tensorflow-text']"),
        (
            lambda manifest: manifest["card"].update(metrics={"bleu": float("nan")}),
            "files",
            "card.metrics is \"{'bleu': nan}\", expected an object of finite numbers",
        ),
    ],
)
def test_a_manifest_says_what_is_so(copy, change, check, reason):
    edit_manifest(copy, change)
    assert_one_fails(copy, check, reason)


def test_the_size_of_a_warm_up_request_is_a_number(copy):
    def change(logs):
        logs[0].predict_log.request.inputs["text"].tensor_shape.dim[0].size = -1
        return logs

    edit_warm_up(copy, change)
    failures = failing(copy)
    assert list(failures) == ["warm-up"]
    assert "Request 0 gives" in failures["warm-up"]
    assert "not fully defined" in failures["warm-up"]


@pytest.mark.parametrize("content", [b"{}", b"[]", b'{"letters": ["a", "b"], "vocab_size": 6}'])
def test_a_vocabulary_lists_something(copy, content):
    replace_file(copy, "assets.extra/source_vocabulary.json", content)
    assert_one_fails(copy, "vocabularies", "lists no entries, expected characters, words or pieces")


@pytest.mark.parametrize("content", [b'["a", "b"]', b'{"merges": [["a", "b"]]}'])
def test_files_of_another_name_are_written_as_one_likes(copy, content):
    replace_file(copy, "assets.extra/my_vocabulary.json", content)
    assert failing(copy) == {}


def test_bytes_have_nothing_to_list(copy):
    replace_file(copy, "assets.extra/source_vocabulary.json", b'{"vocab_size": 260}')
    assert failing(copy) == {}


def test_no_pattern_is_in_the_path(copy):
    odd = copy.rename(copy.parent / "[1]")
    assert_one_fails(odd, "files", "TensorFlow takes for a pattern")


def test_a_file_may_be_read(copy, monkeypatch):
    """Tests may run as root, who can read everything: the answer of the system is put in its place."""
    monkeypatch.setattr("os.access", lambda path, mode: Path(path).name != "variables.index")
    assert_one_fails(copy, "files", "variables/variables.index may not be read by this user.")
