"""Exports whose faults show only at a second look: what they promise and what they do are not the same."""

from pathlib import Path

import pytest
import tensorflow as tf
from broken_exports import (
    assert_one_fails,
    edit_golden,
    edit_graph,
    edit_manifest,
    edit_warm_up,
    failing,
    lengths,
    replace_file,
    with_odd,
)
from tensorflow.core.protobuf import config_pb2

import zoo.verify.servable
from zoo.verify.graph import IMAGE_GRAPHS
from zoo.verify.layout import MANIFEST, WARMUP
from zoo.verify.operations import nodes


@pytest.mark.parametrize("name", ["saved_model.pb", "variables", "variables/variables.index"])
def test_a_link_would_stay_behind(copy, tmp_path, name):
    (copy / name).rename(tmp_path / "moved")
    (copy / name).symlink_to(tmp_path / "moved")
    assert_one_fails(copy, "movable", f"{name} is a link to {tmp_path / 'moved'}")


def test_a_folder_that_may_not_be_read_is_a_failed_check(copy, monkeypatch):
    def denied(path, pattern):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "rglob", denied)
    failures = failing(copy)
    assert list(failures) == ["files"]
    assert (
        f"Permission denied: '{copy}'. Copy the whole folder again, so that it can be read"
        in failures["files"]
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda manifest: manifest.pop("files"), "files is missing"),
        (lambda manifest: manifest.pop("created"), "created is missing"),
        (lambda manifest: manifest.update(needs="text"), "needs is 'text', expected a list of texts"),
        (lambda manifest: manifest["versions"].update(zoo=1), "versions is "),
        (lambda manifest: manifest["card"].pop("description"), "card.description is missing"),
        (lambda manifest: manifest["card"].update(languages=None), "card.languages is 'None'"),
        (lambda manifest: manifest["card"].update(data=["x"]), "card.data is \"['x']\", expected a text"),
        (
            lambda manifest: manifest["card"].update(metrics={"bleu": "high"}),
            "expected an object of finite numbers",
        ),
        (
            lambda manifest: manifest["signatures"]["greedy"].update(question="sentence"),
            "signatures.greedy.question names 'sentence', which is none of the inputs text",
        ),
        (
            lambda manifest: manifest["signatures"]["greedy"].update(question=3),
            "signatures.greedy.question is",
        ),
        (
            lambda manifest: manifest["signatures"]["greedy"].update(neutral={"width": 0}),
            "signatures.greedy.neutral names 'width'",
        ),
        (lambda manifest: manifest["signatures"].update(greedy=3), "signatures.greedy is no object"),
        (
            lambda manifest: manifest["signatures"]["greedy"]["inputs"]["text"].update(shape=["B"]),
            "signatures.greedy.inputs.text.shape is",
        ),
    ],
)
def test_a_manifest_is_read_to_its_last_field(copy, change, reason):
    edit_manifest(copy, change)
    failures = failing(copy)
    assert list(failures) == ["files"]
    assert f"{MANIFEST} is no manifest" in failures["files"]
    assert reason in failures["files"]


def test_a_neutral_value_is_one_of_its_input(copy):
    edit_manifest(copy, lambda manifest: manifest["signatures"]["score"].update(neutral={"target": 3}))
    assert_one_fails(copy, "signatures", "neutral value 3, expected string")


@pytest.mark.parametrize(
    ("signature", "output", "dtype", "shape", "reason"),
    [
        ("greedy", "length", "int64", [None], "length of greedy came as int32"),
        ("greedy", "score", "float64", [None], "score of greedy came as float32"),
        ("score", "tokens", "string", [None, 5], "its signature says string of shape [None, 5]"),
        ("greedy", "score", "float32", [None, None], "score of greedy came as float32 of shape (1,)"),
    ],
)
def test_what_a_signature_promises_is_what_comes(copy, signature, output, dtype, shape, reason):
    """Graph and manifest agree on an output that neither of them gives."""

    def change(meta_graph):
        info = meta_graph.signature_def[signature].outputs[output]
        info.dtype = tf.as_dtype(dtype).as_datatype_enum
        info.tensor_shape.CopyFrom(tf.TensorShape(shape).as_proto())

    edit_graph(copy, change)
    form = {"dtype": dtype, "shape": shape}
    edit_manifest(copy, lambda manifest: manifest["signatures"][signature]["outputs"].update({output: form}))
    assert_one_fails(copy, "forms", reason)


def test_a_signature_that_reads_the_input_of_another_says_what_is_missing(copy):
    def change(meta_graph):
        signatures = meta_graph.signature_def
        signatures["greedy"].inputs["text"].name = signatures["score"].inputs["text"].name

    edit_graph(copy, change)
    assert_one_fails(copy, "asking", "You must feed a value for placeholder tensor 'greedy_text'")


def newer_attribute(meta_graph):
    (first, *_) = (node for node in nodes(meta_graph) if node.op == "StringLength")
    first.attr["alphabet"].s = b"latin"


def attribute_of_2_21(meta_graph):
    function = meta_graph.graph_def.library.function[0]
    function.node_def.add(name="item", op="TensorListGetItem").attr["Tshape"].type = tf.int64.as_datatype_enum


def for_newer_readers(meta_graph):
    meta_graph.graph_def.versions.min_consumer = IMAGE_GRAPHS + 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (newer_attribute, "StringLength has the attribute alphabet"),
        (attribute_of_2_21, "TensorListGetItem has the attribute Tshape"),
        (for_newer_readers, f"needs version {IMAGE_GRAPHS + 1} of graphs"),
    ],
)
def test_what_the_image_cannot_read_though_it_knows_the_op(copy, change, reason):
    edit_graph(copy, change)
    assert_one_fails(copy, "operations", reason)


def on_a_device_of_xla(meta_graph):
    meta_graph.graph_def.library.function[0].node_def[0].device = "/device:XLA_CPU:0"


def with_xla_switched_on(meta_graph):
    config = config_pb2.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = config_pb2.OptimizerOptions.ON_1
    calls = [node for node in nodes(meta_graph) if "config_proto" in node.attr]
    calls[-1].attr["config_proto"].s = config.SerializeToString()


@pytest.mark.parametrize(
    ("change", "reason"),
    [(on_a_device_of_xla, "is placed on /device:XLA_CPU:0"), (with_xla_switched_on, "turns XLA on")],
)
def test_xla_by_other_ways_than_jit_compile(copy, change, reason):
    edit_graph(copy, change)
    assert_one_fails(copy, "no XLA", reason)


PATHS = (
    ["/home/me/vocabulary.txt"],
    "/home/me/my models/vocabulary.txt",
    "/home/jürgen/vocabulary.txt",
    "file:///home/me/vocabulary.txt",
    "gs://bucket/vocabulary.txt",
    "C:\\models\\vocabulary.txt",
)


def constant(value):
    def change(meta_graph):
        node = meta_graph.graph_def.node.add(name="where", op="Const")
        node.attr["dtype"].type = tf.string.as_datatype_enum
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value))

    return change


@pytest.mark.parametrize("value", PATHS)
def test_a_path_is_seen_however_it_is_written(copy, value):
    edit_graph(copy, constant(value))
    failures = failing(copy)
    assert list(failures) == ["paths"]
    first = value if isinstance(value, str) else value[0]
    assert f"where holds the path {first}." in failures["paths"]


@pytest.mark.parametrize(
    "value",
    ["/", "/x", "and/or", "// \\d+/[a-z]/", "a/b/c", ["/home/me", "word"], ["/m/09x0r", "/m/04rlf"], ""],
)
def test_other_texts_are_no_paths(copy, value):
    edit_graph(copy, constant(value))
    assert failing(copy) == {}


def test_an_asset_lies_in_the_export(copy):
    edit_graph(copy, lambda meta_graph: meta_graph.asset_file_def.add(filename="../../words.txt"))
    assert "The asset ../../words.txt lies outside" in failing(copy)["paths"]


def reads_a_file(text):
    return {"y": tf.strings.length(text) + tf.strings.length(tf.io.read_file("words.txt"))}


def writes_a_file(text):
    with tf.control_dependencies([tf.io.write_file("said.txt", "x")]):
        return {"y": lengths(text)}


def reads_lines(text):
    lines = tf.data.TextLineDataset("words.txt")
    return {"y": lengths(text) + lines.reduce(0.0, lambda count, _: count + 1.0)}


@pytest.mark.parametrize("function", [reads_a_file, writes_a_file, reads_lines])
def test_a_graph_opens_no_files(tmp_path, monkeypatch, function):
    monkeypatch.chdir(tmp_path)
    Path("words.txt").write_text("one\ntwo\n")
    assert "which opens files that no export brings along" in failing(with_odd(function, tmp_path))["paths"]


def cut_after_bytes(text):
    valid = tf.strings.unicode_transcode(text, "UTF-8", "UTF-8", errors="replace")
    return {"y": tf.strings.substr(valid, 0, 101)}


def other_in_large_batches(text):
    return {"y": lengths(text) + tf.cast(tf.size(text) > 32, tf.float32)}


@pytest.mark.parametrize(
    ("function", "check", "reason"),
    [
        (cut_after_bytes, "unusual texts", "which is not UTF-8"),
        (other_in_large_batches, "batches", "asked in a batch of 33: y is "),
    ],
)
def test_what_only_long_texts_and_large_batches_show(tmp_path, function, check, reason):
    assert reason in failing(with_odd(function, tmp_path))[check]


def test_a_question_whose_answer_never_ends_is_given_up(tmp_path, monkeypatch):
    def endless_for_long_texts(text):
        longest = tf.reduce_max(tf.concat([lengths(text), [0.0]], 0))
        turns = tf.while_loop(
            lambda i: (i < 1) | (longest > 1500.0), lambda i: (i * 0 + 1,), [tf.constant(0)]
        )
        return {"y": lengths(text) * tf.cast(turns[0], tf.float32)}

    monkeypatch.setattr(zoo.verify.servable, "SECONDS", 1)
    failures = failing(with_odd(endless_for_long_texts, tmp_path))
    assert "no answer within 1 s." in failures["unusual texts"]


def test_blank_questions_alone_prove_nothing(copy):
    edit_golden(copy, lambda examples: [entry for entry in examples if entry["inputs"]["text"] == ""])
    assert "All golden questions for greedy are blank." in failing(copy)["golden answers"]


def test_a_golden_question_is_one_value(copy):
    def change(examples):
        examples[-1]["inputs"]["text"] = ["hello"]
        return examples

    edit_golden(copy, change)
    assert_one_fails(copy, "golden questions", "it gives a list for text")


def filtered(logs):
    logs[0].predict_log.request.output_filter.append("translation")
    return logs


def of_no_tensor(logs):
    logs[0].predict_log.request.inputs["text"].dtype = 99
    return logs


def of_unequal_rows(logs):
    (first, *_) = (log for log in logs if log.predict_log.request.model_spec.signature_name == "score")
    first.predict_log.request.inputs["target"].CopyFrom(tf.make_tensor_proto(["a", "b", "c"]))
    return logs


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (filtered, "Request 0 asks serving_default for the output translation, expected ['text']."),
        (of_no_tensor, "Request 0 gives serving_default an input that is no tensor"),
        (of_unequal_rows, "gives score inputs of unequal numbers of rows: {'"),
    ],
)
def test_warm_up_requests_that_servers_refuse(copy, change, reason):
    edit_warm_up(copy, change)
    assert_one_fails(copy, "warm-up", reason)


def test_no_warm_up_file_at_all(copy):
    (copy / WARMUP).unlink()
    edit_manifest(copy, lambda manifest: manifest["files"].pop(WARMUP))
    assert f"There is no {WARMUP}." in failing(copy)["warm-up"]


def test_damage_that_was_listed_with_it_is_met_at_loading(copy):
    shard = "variables/variables.data-00000-of-00001"
    content = bytearray((copy / shard).read_bytes())
    content[3] ^= 4
    replace_file(copy, shard, bytes(content))
    assert "Checksum does not match" in failing(copy)["loading"]
