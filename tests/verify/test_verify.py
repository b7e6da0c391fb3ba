import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from broken_exports import (
    assert_one_fails,
    edit_answer,
    edit_golden,
    edit_warm_up,
    failing,
    lengths,
    replace_file,
    with_odd,
)
from tensorflow.core.protobuf import saved_model_pb2

from zoo.verify import Check, Report, verify, verify_in_fresh_process
from zoo.verify.graph import known_operations
from zoo.verify.layout import MANIFEST, WARMUP, from_plain, to_plain


def test_a_good_export_passes_every_check_and_can_be_moved(copy):
    report = verify(copy)
    assert report.ok, str(report)
    names = [check.name for check in report.checks]
    assert names == [
        "files",
        "contents",
        "movable",
        "reading",
        "signatures",
        "tensors",
        "operations",
        "no XLA",
        "weights",
        "paths",
        "vocabularies",
        "loading",
        "golden questions",
        "asking",
        "forms",
        "golden answers",
        "batches",
        "empty batch",
        "blank texts",
        "readable answers",
        "unusual texts",
        "warm-up",
    ]
    assert report.tensorflow == tf.__version__


def test_a_missing_shard_is_seen_before_loading(copy):
    (copy / "variables" / "variables.data-00000-of-00001").unlink()
    report = verify(copy)
    assert [check.name for check in report.checks] == ["files"]
    assert "variables.data-00000-of-00001 is missing" in report.checks[0].detail


def test_a_cut_file_is_seen(copy):
    content = (copy / "saved_model.pb").read_bytes()
    (copy / "saved_model.pb").write_bytes(content[:-100])
    assert_one_fails(copy, "files", f"{len(content) - 100} bytes where its manifest says {len(content)}")


def test_a_folder_that_is_no_export_is_named(tmp_path):
    failures = failing(tmp_path / "nothing")
    assert list(failures) == ["files"]
    assert "NAME/VERSION" in failures["files"]


def test_a_graph_that_cannot_be_read_is_a_failure_not_an_error(copy):
    replace_file(copy, "saved_model.pb", b"\xff" * 100)
    failures = failing(copy)
    assert list(failures) == ["reading"]


def test_damaged_weights_do_not_load(copy):
    shard = copy / "variables" / "variables.data-00000-of-00001"
    shard.write_bytes(bytes(255 - byte for byte in shard.read_bytes()))
    failures = failing(copy)
    assert list(failures) == ["contents", "loading"]


def test_a_renamed_output_is_not_the_manifests(copy):
    manifest = json.loads((copy / MANIFEST).read_text())
    outputs = manifest["signatures"]["greedy"]["outputs"]
    outputs["points"] = outputs.pop("score")
    (copy / MANIFEST).write_text(json.dumps(manifest))
    assert_one_fails(copy, "signatures", "greedy is")


@pytest.mark.parametrize(("side", "shape"), [("outputs", []), ("outputs", [3]), ("inputs", [None, 4])])
def test_the_batch_must_lead(copy, side, shape):
    """Both the graph and the manifest say so, hence only the shape itself is wrong."""
    saved = saved_model_pb2.SavedModel.FromString((copy / "saved_model.pb").read_bytes())
    name = {"outputs": "score", "inputs": "text"}[side]
    tensor = getattr(saved.meta_graphs[0].signature_def["greedy"], side)[name]
    tensor.tensor_shape.CopyFrom(tf.TensorShape(shape).as_proto())
    replace_file(copy, "saved_model.pb", saved.SerializeToString())
    manifest = json.loads((copy / MANIFEST).read_text())
    manifest["signatures"]["greedy"][side][name]["shape"] = shape
    (copy / MANIFEST).write_text(json.dumps(manifest))
    assert_one_fails(copy, "tensors", f"{name} of greedy has shape {shape}")


@tf.function(jit_compile=True)
def compiled(number):
    return number * 2.0


def of_python(text):
    return {"y": tf.ensure_shape(tf.numpy_function(lambda text: text, [text], tf.string), [None])}


def newer_than_the_image(text):
    image = tf.cond(
        tf.shape(text)[0] > 1_000_000,
        lambda: tf.raw_ops.DecodeJxl(contents=text[0], channels=1),
        lambda: tf.zeros([1, 1, 1], tf.uint8),
    )
    return {"y": lengths(text) + tf.cast(image[0, 0, 0], tf.float32)}


def with_constant_weights(text):
    weights = tf.constant(np.random.default_rng(0).normal(size=[200, 100]), tf.float32)
    return {"y": tf.gather(weights, tf.strings.to_hash_bucket_fast(text, 200))}


def only_for_some(text):
    with tf.control_dependencies([tf.debugging.assert_greater(tf.shape(text)[0], 0)]):
        return {"y": lengths(text)}


def only_short(text):
    with tf.control_dependencies([tf.debugging.assert_less(tf.strings.length(text), 1000)]):
        return {"y": lengths(text)}


def only_if_not_blank(text):
    with tf.control_dependencies([tf.debugging.assert_none_equal(text, " \t ")]):
        return {"text": tf.strings.join([text, "!"])}


BROKEN = {
    "python": (of_python, "operations", "PyFunc calls Python"),
    "newer op": (newer_than_the_image, "operations", "DecodeJxl is not known"),
    "compiled": (lambda text: {"y": compiled(lengths(text))}, "no XLA", "compiled with XLA"),
    "constant weights": (with_constant_weights, "weights", "80"),
    "half output": (lambda text: {"y": tf.cast(lengths(text), tf.float16)}, "tensors", "float16"),
    "bfloat16 output": (lambda text: {"y": tf.cast(lengths(text), tf.bfloat16)}, "tensors", "bfloat16"),
    "batch-dependent": (
        lambda text: {"y": lengths(text) + tf.reduce_max(tf.concat([lengths(text), [0.0]], 0))},
        "batches",
        "asked beside others",
    ),
    "position-dependent": (
        lambda text: {"y": tf.range(tf.shape(text)[0])},
        "batches",
        "y is",
    ),
    "visible padding": (
        lambda text: {"y": tf.strings.unicode_split(text, "UTF-8", errors="replace").to_tensor("-")},
        "batches",
        "y is",
    ),
    "no empty batch": (only_for_some, "empty batch", "InvalidArgumentError"),
    "answers nothing": (only_if_not_blank, "blank texts", "answered b''"),
    "not UTF-8": (lambda text: {"y": text}, "readable answers", "not UTF-8"),
    "only short": (only_short, "unusual texts", "InvalidArgumentError"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_signature_fails_for_its_own_reason(name, tmp_path):
    function, check, reason = BROKEN[name]
    failures = verify(with_odd(function, tmp_path)).failures
    assert failures[0].name == check, str(failures)
    assert reason in failures[0].detail


def test_a_changed_text_is_seen(copy):
    edit_answer(copy, lambda outputs: outputs.update(text="HELLO!"))
    assert_one_fails(copy, "golden answers", "text is b'HELLO', expected b'HELLO!'")


@pytest.mark.parametrize(("by", "expected"), [(1e-6, []), (1e-3, ["golden answers"])])
def test_scores_may_differ_by_the_tolerance_alone(copy, by, expected):
    edit_answer(copy, lambda outputs: outputs.update(score=outputs["score"] + by))
    assert list(failing(copy)) == expected


def test_whole_numbers_must_be_equal(copy):
    edit_answer(copy, lambda outputs: outputs.update(length=outputs["length"] + 1))
    failures = failing(copy)
    assert list(failures) == ["golden answers"]


def test_every_output_has_its_golden_answer(copy):
    edit_answer(copy, lambda outputs: outputs.pop("score"))
    assert_one_fails(copy, "golden answers", "expected ['length', 'text']")


def test_every_signature_needs_a_golden_question(copy):
    edit_golden(copy, lambda examples: [entry for entry in examples if entry["signature"] != "score"])
    assert_one_fails(copy, "golden answers", "no golden question for score")


def test_a_cut_warm_up_record_is_seen(copy):
    replace_file(copy, WARMUP, (copy / WARMUP).read_bytes()[:-7])
    assert_one_fails(copy, "warm-up", "DataLossError")


def test_warm_up_requests_must_be_for_this_model_and_all_its_signatures(copy):
    def change(logs):
        logs[0].predict_log.request.model_spec.name = "whisper"
        logs[1].predict_log.request.model_spec.signature_name = "nonsense"
        return [log for log in logs if log.predict_log.request.model_spec.signature_name != "score"]

    edit_warm_up(copy, change)
    failures = failing(copy)
    assert list(failures) == ["warm-up"]
    for said in ("for the model 'whisper'", "signature 'nonsense'", "no request for the signature score"):
        assert said in failures["warm-up"]


def test_warm_up_requests_must_have_the_inputs_of_their_signature(copy):
    def change(logs):
        logs[0].predict_log.request.inputs["text"].CopyFrom(tf.make_tensor_proto([1.0]))
        return logs

    edit_warm_up(copy, change)
    assert "inputs {'text': 'float32'}" in failing(copy)["warm-up"]


def test_without_the_protocol_messages_the_warm_up_check_is_not_passed(copy, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow_serving.apis", None)
    failures = failing(copy)
    assert list(failures) == ["warm-up"]
    assert "Not run" in failures["warm-up"]
    assert "pip install --no-deps 'tensorflow-serving-api" in failures["warm-up"]


def test_importing_the_checks_is_light():
    code = (
        "import sys, zoo.verify; print({'tensorflow', 'keras', 'typer', 'rich', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_command_runs_without_keras_and_fails_with_a_broken_export(copy):
    (copy / "fingerprint.pb").unlink()
    done = subprocess.run(
        [sys.executable, "-m", "zoo.verify", str(copy)], capture_output=True, text=True, cwd=copy
    )
    assert done.returncode == 1
    assert "FAIL files: fingerprint.pb is missing" in done.stdout
    assert "ok   stands alone" in done.stdout
    assert "must not be served" in done.stdout


def test_a_process_that_dies_is_reported(good, monkeypatch):
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    report = verify_in_fresh_process(good)
    assert not report.ok
    assert "exit status 1" in report.checks[0].detail


def test_reports_survive_json():
    report = Report(
        "saved_models/x/1", "2.20.0", (Check("files", True, "ä"), Check("loading", False, "b\nc"))
    )
    assert Report.from_json(report.to_json()) == report
    assert "\n" not in report.to_json()
    assert [check.name for check in report.failures] == ["loading"]
    assert "FAIL loading: b" in str(report)


@pytest.mark.parametrize(
    ("value", "dtype", "plain"),
    [
        (np.array(b"\xc3\xa4", object), "string", "ä"),
        (np.array([b"", b"\xff"], object), "string", ["", {"b64": "/w=="}]),
        (np.array([[0.1, -1e9]], np.float32), "float32", [[0.1, -1e9]]),
        (np.array([3, -4], np.int32), "int32", [3, -4]),
        (np.zeros([0], np.float32), "float32", []),
    ],
)
def test_values_survive_json(value, dtype, plain):
    assert to_plain(value) == plain
    back = from_plain(json.loads(json.dumps(plain)), dtype)
    assert back.dtype == value.dtype
    assert np.array_equal(back, value)


def test_numbers_that_json_lacks_are_refused():
    with pytest.raises(ValueError, match=r"finite, .* got nan"):
        to_plain(np.array([1.0, np.nan], np.float32))


def test_the_list_of_ops_is_that_of_the_image():
    known = known_operations()
    assert sum(package == "tensorflow-text" for package in known.values()) == 38
    assert known["SentencepieceOp"] == known["TFText>FastWordpieceDetokenize"] == "tensorflow-text"
    assert known["MatMul"] == known["StatefulPartitionedCall"] == known["StringUpper"] == "tensorflow"
    assert not {"PyFunc", "EagerPyFunc", "XlaDynamicUpdateSlice", "DecodeJxl"} & known.keys()
