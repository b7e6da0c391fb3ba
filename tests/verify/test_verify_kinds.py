"""Exports that are broken in ways that few think of: each fails by name, and none with a traceback."""

import shutil

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
)
from tensorflow.compiler.tf2xla.python import xla
from tensorflow_serving.apis import prediction_log_pb2

import zoo.verify.checks
from zoo.verify import verify
from zoo.verify.layout import GOLDEN, MANIFEST, WARMUP


@tf.function(jit_compile=True)
def compiled(number):
    return number * 2.0


@tf.function
def calls_python_inside(text):
    return tf.while_loop(
        lambda i, _: i < 1,
        lambda i, seen: (i + 1, tf.ensure_shape(tf.numpy_function(lambda x: x, [seen], tf.string), [None])),
        [0, text],
    )[1]


def eager_python(text):
    return {"y": tf.ensure_shape(tf.py_function(lambda text: text, [text], tf.string), [None])}


def compiled_inside(text):
    return {"y": tf.cond(tf.size(text) >= 0, lambda: compiled(lengths(text)), lambda: lengths(text))}


def of_xla(text):
    whole = tf.zeros_like(lengths(text))
    return {"y": xla.dynamic_update_slice(whole, lengths(text), [0])}


def marked_for_xla(text):
    with tf.xla.experimental.jit_scope():
        return {"y": lengths(text) * 2.0}


def one_row_always(text):
    return {"y": tf.reduce_max(tf.concat([lengths(text), [0.0]], 0), keepdims=True)}


def one_row_at_most(text):
    return {"y": lengths(text)[:1]}


def not_a_number_of_long_texts(text):
    return {"y": tf.where(lengths(text) > 1000.0, float("nan"), 1.0)}


def drawn(text):
    return {"y": tf.random.uniform(tf.shape(text))}


def from_a_path(text):
    return {"y": tf.strings.length(text) + tf.strings.length(tf.constant("/home/me/vocabulary.txt"))}


ODD_KINDS = {
    "python in a loop": (lambda text: {"y": calls_python_inside(text)}, "operations", "PyFunc calls Python"),
    "eager python": (eager_python, "operations", "EagerPyFunc calls Python"),
    "compiled in a branch": (compiled_inside, "no XLA", "compiled with XLA"),
    "an op of XLA": (of_xla, "no XLA", "XlaDynamicUpdateSlice"),
    "marked for XLA": (marked_for_xla, "no XLA", "asks for XLA"),
    "one row always": (one_row_always, "tensors", "Output y of odd has shape [1]"),
    "one row at most": (one_row_at_most, "batches", "answered in shapes {'y': (1,)}"),
    "NaN at times": (not_a_number_of_long_texts, "unusual texts", "not finite"),
    "drawn": (drawn, "batches", "y is"),
    "a path": (from_a_path, "paths", "/home/me/vocabulary.txt"),
}


@pytest.mark.parametrize("name", ODD_KINDS)
def test_a_broken_signature_fails_for_its_own_reason(name, tmp_path):
    function, check, reason = ODD_KINDS[name]
    failures = {failure.name: failure.detail for failure in verify(with_odd(function, tmp_path)).failures}
    assert reason in failures[check], str(failures)


def test_a_function_that_is_named_for_xla_is_seen_wherever_the_mark_stands(copy):
    """In the attributes of a function that an attribute names, and in a list of such."""

    def change(meta_graph):
        function = meta_graph.graph_def.library.function[0]
        node = function.node_def[0]
        node.attr["then"].list.func.add(name="f").attr["_XlaMustCompile"].b = True

    edit_graph(copy, change)
    assert "asks for XLA" in failing(copy)["no XLA"]


def renamed_signature(meta_graph):
    meta_graph.signature_def["eager"].CopyFrom(meta_graph.signature_def.pop("greedy"))


def renamed_input(meta_graph):
    inputs = meta_graph.signature_def["greedy"].inputs
    inputs["sentence"].CopyFrom(inputs.pop("text"))


def other_dtype(meta_graph):
    meta_graph.signature_def["greedy"].outputs["length"].dtype = tf.int64.as_datatype_enum


def no_default(meta_graph):
    del meta_graph.signature_def["serving_default"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (renamed_signature, "no signature greedy, which the manifest has. The graph has a signature eager"),
        (renamed_input, "sentence"),
        (other_dtype, "int64"),
        (no_default, "There is no signature serving_default."),
    ],
)
def test_another_interface_is_named(copy, change, reason):
    edit_graph(copy, change)
    assert_one_fails(copy, "signatures", reason)


def test_a_signature_without_inputs_cannot_be_asked(copy):
    edit_graph(copy, lambda meta_graph: meta_graph.signature_def["greedy"].ClearField("inputs"))
    edit_manifest(copy, lambda manifest: manifest["signatures"]["greedy"].update(inputs={}))
    assert_one_fails(copy, "tensors", "greedy has no inputs")


def regression(meta_graph):
    meta_graph.signature_def["greedy"].method_name = "tensorflow/serving/regress"


def sparse_output(meta_graph):
    output = meta_graph.signature_def["greedy"].outputs["text"]
    output.coo_sparse.values_tensor_name = output.name


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (regression, "greedy is to be called by 'tensorflow/serving/regress'"),
        (sparse_output, "text of greedy is no plain tensor, but coo_sparse"),
    ],
)
def test_signatures_that_clients_could_not_call_are_named(copy, change, reason):
    edit_graph(copy, change)
    assert_one_fails(copy, "tensors", reason)


def test_a_changed_vocabulary_of_the_same_size_is_seen(copy):
    file = copy / "assets.extra" / "vocabulary.txt"
    file.write_bytes(file.read_bytes().replace(b"b", b"c"))
    failures = failing(copy)
    assert list(failures) == ["contents"]
    assert "assets.extra/vocabulary.txt holds something else" in failures["contents"]
    assert "export again" in failures["contents"]


def test_what_nobody_can_tell_was_changed_is_no_promise(copy):
    edit_manifest(copy, lambda manifest: manifest["sha256"].pop("saved_model.pb"))
    assert_one_fails(copy, "contents", "no SHA-256 of saved_model.pb")


def test_a_golden_answer_that_was_edited_is_seen_twice(copy):
    """What was changed, and what of it is wrong."""
    file = copy / GOLDEN
    file.write_text(file.read_text().replace('"HELLO"', '"HALLO"'))
    failures = failing(copy)
    assert list(failures) == ["contents", "golden answers"]
    assert "expected b'HALLO'" in failures["golden answers"]


def test_a_file_that_nobody_wrote_is_seen(copy):
    (copy / "variables" / "more").touch()
    assert "variables/more is not listed" in failing(copy)["files"]


def test_the_manifest_of_another_export_is_seen(copy, tmp_path):
    other = with_odd(lambda text: {"y": lengths(text)}, tmp_path)
    shutil.copy(other / MANIFEST, copy / MANIFEST)
    assert "saved_model.pb has" in failing(copy)["files"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"files": {}}',
        '{"files": {}, "card": {}, "signatures": []}',
        '{"files": 3}',
        "9" * 5000,
    ],
)
def test_a_manifest_that_is_none_is_named(copy, content):
    (copy / MANIFEST).write_text(content)
    assert_one_fails(copy, "files", f"{MANIFEST} is no manifest")


@pytest.mark.parametrize("form", [{}, 3, None, {"dtype": "string"}])
def test_a_manifest_with_signatures_that_are_none_is_named(copy, form):
    edit_manifest(copy, lambda manifest: manifest["signatures"]["greedy"]["outputs"].update(text=form))
    assert f"{MANIFEST} is no manifest" in failing(copy)["files"]


def test_variables_that_the_manifest_forgot_are_missed_at_loading(copy):
    shutil.rmtree(copy / "variables")

    def forget(manifest):
        manifest["files"] = {
            name: size for name, size in manifest["files"].items() if "variables" not in name
        }

    edit_manifest(copy, forget)
    assert_one_fails(copy, "loading", "variables")


def test_a_graph_cut_between_fields_is_named(copy):
    replace_file(copy, "saved_model.pb", b"")
    assert_one_fails(copy, "reading", "Expected one graph with the tag 'serve'")


@pytest.mark.parametrize(
    "content", ["", "{}", "[3]", '[{"signature": "nothing"}]', '[{"signature": "greedy"}]']
)
def test_golden_questions_that_are_none_are_named(copy, content):
    replace_file(copy, GOLDEN, content.encode())
    assert_one_fails(copy, "golden questions", "Export again")


def test_no_golden_questions_at_all(copy):
    replace_file(copy, GOLDEN, b"[]")
    assert (
        "no golden question for greedy. There is no golden question for score"
        in (failing(copy)["golden answers"])
    )


@pytest.mark.parametrize(
    ("name", "value", "check"),
    [
        ("length", 5.5, "golden questions"),
        ("length", "five", "golden questions"),
        ("score", float("nan"), "golden questions"),
        ("text", ["HELLO"], "golden answers"),
        ("text", 5, "golden questions"),
    ],
)
def test_golden_answers_of_another_kind(copy, name, value, check):
    edit_answer(copy, lambda outputs: outputs.update({name: value}))
    assert list(failing(copy)) == [check]


def test_warm_up_requests_are_needed_for_every_size_of_batch(copy):
    edit_warm_up(copy, lambda logs: [logs[0], *logs[6:]])
    assert "no request for the signature serving_default with 2, 4, 8, 16 rows" in failing(copy)["warm-up"]


def test_a_warm_up_request_that_fails_is_named(tmp_path):
    def only_good(text):
        with tf.control_dependencies([tf.debugging.assert_none_equal(text, "bad")]):
            return {"y": lengths(text)}

    def change(logs):
        (odd, *_) = (log for log in logs if log.predict_log.request.model_spec.signature_name == "odd")
        odd.predict_log.request.inputs["text"].CopyFrom(tf.make_tensor_proto(["bad"]))
        return logs

    path = with_odd(only_good, tmp_path)
    edit_warm_up(path, change)
    failures = failing(path)
    assert list(failures) == ["warm-up"]
    assert "Request 8 failed: odd, asked 1 rows: InvalidArgumentError" in failures["warm-up"]
    assert "export again" in failures["warm-up"]


def test_a_warm_up_record_of_another_kind_is_named(copy):
    def change(logs):
        other = prediction_log_pb2.PredictionLog()
        other.classify_log.request.model_spec.name = "shout"
        return [*logs, other]

    edit_warm_up(copy, change)
    assert "classify_log, expected predict_log" in failing(copy)["warm-up"]


@pytest.mark.parametrize("content", [b"", b"no records"])
def test_a_warm_up_file_without_records(copy, content):
    replace_file(copy, WARMUP, content)
    assert list(failing(copy)) == ["warm-up"]


def test_a_file_that_names_its_folder_cannot_be_moved(copy):
    replace_file(copy, "assets.extra/readme.txt", f"see {copy.parent}/7".encode())
    assert_one_fails(copy, "movable", f"assets.extra/readme.txt names the folder {copy.parent}")


def test_checks_that_end_early_are_a_failed_check(copy, monkeypatch):
    monkeypatch.setattr(zoo.verify.checks, "_apply", lambda rules, subject: 1 / 0)
    report = verify(copy)
    assert [check.name for check in report.failures] == ["checks"]
    assert "ZeroDivisionError" in report.failures[0].detail


def test_the_report_says_how_large_an_export_is_and_how_long_it_loads(copy):
    details = {check.name: check.detail for check in verify(copy).checks}
    size = sum(file.stat().st_size for file in copy.rglob("*") if file.is_file())
    assert f"{size / 1e6:.1f} MB in " in details["files"]
    assert " s and " in details["loading"]


def test_the_folder_of_a_model_is_not_that_of_a_version(copy):
    assert f"give {copy}" in failing(copy.parent)["files"]
