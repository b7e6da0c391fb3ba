"""Exports that are broken on purpose, and what the checks say of them."""

import json

import pytest
import tensorflow as tf
from fake_predictor import CARD, QUESTIONS, TEXT, FakePredictor
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow_serving.apis import prediction_log_pb2

import zoo.export
from zoo.predictor import Signature
from zoo.verify import Check, Report, verify
from zoo.verify.files import checksum
from zoo.verify.layout import GOLDEN, MANIFEST, WARMUP


def write_unverified(predictor, folder):
    """An export as `write` composes it, whatever is wrong with it."""
    with pytest.MonkeyPatch.context() as patch:
        fine = Report("", "", (Check("nothing", True, ""),))
        patch.setattr(zoo.export, "verify_in_fresh_process", lambda path: fine)
        return zoo.export.write(predictor, folder, card=CARD, questions=QUESTIONS)


def write_three(folder):
    """A good export of three signatures, which is soon verified."""
    predictor, kept = FakePredictor(), ("serving_default", "greedy", "score")
    predictor.signatures = lambda: {name: FakePredictor.signatures(predictor)[name] for name in kept}
    return write_unverified(predictor, folder)


def lengths(text):
    return tf.cast(tf.strings.length(text), tf.float32)


def with_odd(function, folder):
    """An export with a good signature, and one called `odd` beside it."""
    good = Signature(lambda text: {"text": FakePredictor.shout(None, text)}, TEXT)
    predictor = FakePredictor()
    predictor.signatures = lambda: {"serving_default": good, "odd": Signature(function, TEXT)}
    return write_unverified(predictor, folder)


def failing(path):
    """The failing checks: name to detail."""
    return {check.name: check.detail for check in verify(path).failures}


def assert_one_fails(path, check, reason):
    """One check fails and no other, and its detail holds the reason."""
    failures = failing(path)
    assert list(failures) == [check]
    assert reason in failures[check]


def replace_file(path, name, content):
    """Put other bytes into a file, and into the manifest what it says of them."""
    (path / name).parent.mkdir(exist_ok=True)
    (path / name).write_bytes(content)
    manifest = json.loads((path / MANIFEST).read_text())
    manifest["files"][name] = len(content)
    manifest["sha256"][name] = checksum(path / name)
    (path / MANIFEST).write_text(json.dumps(manifest))


def edit_graph(path, change):
    """Change the graph that is served, and what the manifest says of its file."""
    saved = saved_model_pb2.SavedModel.FromString((path / "saved_model.pb").read_bytes())
    change(saved.meta_graphs[0])
    replace_file(path, "saved_model.pb", saved.SerializeToString())


def edit_manifest(path, change):
    manifest = json.loads((path / MANIFEST).read_text())
    change(manifest)
    (path / MANIFEST).write_text(json.dumps(manifest))


def edit_golden(path, change):
    examples = json.loads((path / GOLDEN).read_text())
    replace_file(path, GOLDEN, json.dumps(change(examples)).encode())


def edit_warm_up(path, change):
    """Read the warm-up records, change the list of them, and write it back."""
    logs = [
        prediction_log_pb2.PredictionLog.FromString(record)
        for record in tf.data.TFRecordDataset(str(path / WARMUP)).as_numpy_iterator()
    ]
    with tf.io.TFRecordWriter(str(path / WARMUP)) as records:
        for log in change(logs):
            records.write(log.SerializeToString())
    replace_file(path, WARMUP, (path / WARMUP).read_bytes())


def asked(examples, signature, text):
    (example, *_) = (
        entry for entry in examples if entry["signature"] == signature and entry["inputs"]["text"] == text
    )
    return example


def edit_answer(path, change):
    """Change the golden outputs of `greedy` to "hello", in their place."""

    def changed(examples):
        change(asked(examples, "greedy", "hello")["outputs"])
        return examples

    edit_golden(path, changed)
