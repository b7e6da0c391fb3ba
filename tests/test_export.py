"""What an export holds, and what cannot be exported."""

import hashlib
import json
import stat
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from fake_predictor import CARD, QUESTIONS, TEXT, FakePredictor
from small_exports import Small, find_nothing_wrong, write_small
from tensorflow_serving.apis import prediction_log_pb2

from zoo.export import Card, VerificationError, write
from zoo.predictor import Signature
from zoo.serving.batching_parameters import read_parameters
from zoo.verify.warmup import BATCHES

SIGNATURES = {"serving_default", "greedy", "beam", "score", "align"}


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Written and verified in earnest."""
    return write(FakePredictor(), tmp_path_factory.mktemp("models"), card=CARD, questions=QUESTIONS)


@pytest.fixture
def verified(monkeypatch):
    return find_nothing_wrong(monkeypatch)


def manifest_of(path):
    return json.loads((path / "assets.extra" / "zoo.json").read_text(encoding="utf-8"))


def golden_of(path):
    return json.loads((path / "assets.extra" / "golden.json").read_text(encoding="utf-8"))


def test_an_export_is_published_and_nothing_else_is_left(published):
    assert published.parts[-2:] == ("shout", "1")
    assert [path.name for path in published.parent.iterdir()] == ["1"]
    assert stat.S_IMODE(published.stat().st_mode) == 0o755


def test_signatures_have_the_names_that_were_asked_for(published):
    loaded = tf.saved_model.load(str(published))
    assert set(loaded.signatures) == SIGNATURES
    answer = loaded.signatures["beam"](text=tf.constant(["ja", "nein"]))
    assert set(answer) == {"text", "score", "ranked_score", "length"}
    assert answer["text"].numpy().tolist() == [[b"JA", b""], [b"NEIN", b""]]
    assert loaded.signatures["score"].structured_input_signature[1] == {
        "text": tf.TensorSpec([None], tf.string, name="text"),
        "target": tf.TensorSpec([None], tf.string, name="target"),
    }


def test_only_what_the_functions_read_is_written(published):
    variables = tf.train.list_variables(str(published / "variables" / "variables"))
    assert [shape for name, shape in variables if name.startswith("weights/")] == [[16]]
    assert not [name for name, shape in variables if shape == [1000]]


def test_the_manifest_describes_the_export(published):
    manifest = manifest_of(published)
    assert manifest["card"]["name"] == "shout"
    assert manifest["card"]["metrics"] == {"exact_match": 1.0}
    assert manifest["versions"]["tensorflow"] == tf.__version__
    assert set(manifest["versions"]) == {"zoo", "tensorflow", "keras"}
    assert manifest["needs"] == ["tensorflow-text"]
    assert manifest["signatures"]["align"]["outputs"]["alignment"] == {
        "dtype": "float32",
        "shape": [None, None, None],
    }
    assert manifest["signatures"]["beam"]["outputs"]["length"] == {"dtype": "int32", "shape": [None, 2]}
    files = {
        path.relative_to(published).as_posix(): path.stat().st_size
        for path in published.rglob("*")
        if path.is_file() and path.name != "zoo.json"
    }
    assert manifest["files"] == files
    assert manifest["sha256"] == {
        name: hashlib.sha256((published / name).read_bytes()).hexdigest() for name in files
    }
    assert {form["question"] for form in manifest["signatures"].values()} == {"text"}
    assert (published / "assets.extra" / "vocabulary.txt").read_text(encoding="utf-8") == "ä\nb\n"


def test_golden_questions_are_asked_of_every_signature(published):
    golden = golden_of(published)
    texts = {"", "   ", "👍🏽🎉", *QUESTIONS}
    for signature in SIGNATURES:
        asked = [entry["inputs"]["text"] for entry in golden if entry["signature"] == signature]
        assert texts <= {text for text in asked if isinstance(text, str)}
        assert {"b64": "//4="} in asked
    hello = [entry for entry in golden if entry["inputs"]["text"] == "hello"]
    (greedy,) = [entry["outputs"] for entry in hello if entry["signature"] == "greedy"]
    assert greedy["text"] == "HELLO"
    assert greedy["length"] == 5
    expected = FakePredictor().greedy(tf.constant(["hello"]))["score"].numpy()[0]
    assert greedy["score"] == pytest.approx(float(expected), abs=1e-6)


def test_targets_are_the_models_own_answers_and_nothing(published):
    golden = golden_of(published)
    for signature in ("score", "align"):
        asked = [entry["inputs"] for entry in golden if entry["signature"] == signature]
        assert {"text": "hello", "target": "HELLO"} in asked
        assert {"text": "hello", "target": ""} in asked


def test_warm_up_requests_are_short_in_every_size_and_long_in_the_extreme_ones(published):
    path = published / "assets.extra" / "tf_serving_warmup_requests"
    found = {}
    for record in tf.data.TFRecordDataset(str(path)).as_numpy_iterator():
        request = prediction_log_pb2.PredictionLog.FromString(record).predict_log.request
        assert request.model_spec.name == "shout"
        rows = tf.make_ndarray(request.inputs["text"])
        assert len(set(rows)) == 1
        found.setdefault(request.model_spec.signature_name, set()).add((len(rows), rows[0].decode("latin-1")))
    longest = max(QUESTIONS, key=len)
    assert set(found) == SIGNATURES
    for asked in found.values():
        assert asked == {*((size, "hello") for size in BATCHES), (1, longest), (32, longest)}


def test_warm_up_requests_have_the_sizes_that_the_deployment_fills_batches_up_to():
    file = Path(__file__).parents[1] / "serving" / "batching.config"
    assert read_parameters(str(file)).allowed_batch_sizes == BATCHES


def test_a_breach_is_not_published_and_is_named(tmp_path):
    double = tf.function(lambda number: number * 2.0, jit_compile=True)
    predictor = Small()
    predictor.signatures = lambda: {
        **Small.signatures(predictor),
        "odd": Signature(lambda text: {"y": double(tf.cast(tf.strings.length(text), tf.float32))}, TEXT),
    }
    with pytest.raises(VerificationError, match=r"not published.*\n.*no XLA: .*jit_compile") as caught:
        write_small(tmp_path, predictor)
    assert "no XLA" in [check.name for check in caught.value.report.failures]
    assert list((tmp_path / "shout").iterdir()) == []


def test_an_error_on_the_way_leaves_nothing(tmp_path, verified):
    predictor = Small()
    predictor.signatures = lambda: {"greedy": Signature(lambda text: {"text": text}, TEXT)}
    with pytest.raises(ValueError, match="must be called serving_default, got greedy"):
        write_small(tmp_path, predictor)
    assert list((tmp_path / "shout").iterdir()) == []
    assert verified == []


def test_numbers_must_be_finite(tmp_path, verified):
    predictor = Small()
    predictor.signatures = lambda: {
        **Small.signatures(predictor),
        "odd": Signature(lambda text: {"y": tf.math.log(tf.cast(tf.strings.length(text), tf.float32))}, TEXT),
    }
    with pytest.raises(ValueError, match=r"odd gave \{'text': ''\} .* got -inf"):
        write_small(tmp_path, predictor)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (
            lambda text: tf.transpose(tf.strings.bytes_split(text).to_tensor("")),
            "y must begin with the batch",
        ),
        (lambda text: tf.strings.bytes_split(text), "y of odd must be a tensor, got Ragged"),
        (lambda text: tf.zeros(tf.shape(text), tf.complex64), "no complex numbers"),
    ],
)
def test_outputs_that_cannot_be_served_are_refused(tmp_path, verified, function, reason):
    predictor = Small()
    predictor.signatures = lambda: {
        **Small.signatures(predictor),
        "odd": Signature(lambda text: {"y": function(text)}, TEXT),
    }
    with pytest.raises(ValueError, match=reason):
        write_small(tmp_path, predictor)


def test_scalar_outputs_are_refused(tmp_path, verified):
    predictor = Small()
    predictor.signatures = lambda: {
        "serving_default": Signature(lambda text: {"n": tf.size(text)}, TEXT),
    }
    with pytest.raises(ValueError, match="Output n of serving_default must begin with the batch"):
        write_small(tmp_path, predictor)


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["image"], "same name in all signatures, got .*'odd': 'image'"),
        (["text", "image"], r"one question.* those of odd are \['image', 'text'\]"),
        (["target"], r"one question.* those of odd are \['target'\]"),
    ],
)
def test_all_signatures_take_one_question_of_one_name(tmp_path, verified, names, reason):
    predictor = Small()
    predictor.signatures = lambda: {
        **Small.signatures(predictor),
        "odd": Signature(
            lambda **inputs: {"y": inputs[names[0]]},
            {name: tf.TensorSpec([None], tf.string) for name in names},
        ),
    }
    with pytest.raises(ValueError, match=reason):
        write_small(tmp_path, predictor)


def test_lookup_tables_of_the_predictor_are_kept(tmp_path, verified):
    class WithTable(Small):
        def __init__(self):
            super().__init__()
            pairs = tf.lookup.KeyValueTensorInitializer(["x"], ["y"])
            self.table = tf.lookup.StaticHashTable(pairs, "?")

        def signatures(self):
            return {"serving_default": Signature(lambda text: {"text": self.table.lookup(text)}, TEXT)}

    path = write_small(tmp_path, WithTable())
    answer = tf.saved_model.load(str(path)).signatures["serving_default"](text=tf.constant(["x", "z"]))
    assert answer["text"].numpy().tolist() == [b"y", b"?"]


@pytest.mark.parametrize("name", ["", "a/b", "Dates", "..", "-a", "a b"])
def test_a_card_needs_a_name_that_can_be_served(name):
    with pytest.raises(ValueError, match="lower-case letters"):
        Card(name, "", "", "", (), "")


@pytest.mark.parametrize("figure", [np.float32(0.5), float("nan"), Path("x")])
def test_a_card_is_plain_json(figure):
    with pytest.raises(ValueError, match="plain JSON"):
        Card("dates", "", "", "", (), "", metrics={"exact_match": figure})
