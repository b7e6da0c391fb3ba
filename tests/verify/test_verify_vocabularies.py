"""A vocabulary that is not the one that the model was trained with, in each place where it can be changed."""

import json
import shutil
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf
from broken_exports import assert_one_fails, failing, replace_file, write_unverified
from compat.make_export import tiny_predictor
from fake_predictor import TEXT
from tensorflow.core.protobuf import saved_model_pb2

from zoo.layers import Pooling
from zoo.models import RecurrentEncoder, SequenceClassifier
from zoo.predictor import Signature
from zoo.predictors import ClassifyingPredictor
from zoo.predictors.labels import LABELS as LABELS_FILE
from zoo.tokenizers import PAD, Bytes, Characters, Subwords, WordPieces, Words
from zoo.verify.graph import read_meta_graph
from zoo.verify.layout import EXTRA
from zoo.verify.operations import nodes
from zoo.verify.vocabularies import RULES, Reviewed

WORDS = ("hello", "a", "question", "##,")
LABELS = ("bad", "good")


def reader(tokenizer=None):
    """A classifier, by default of words, some of them in the golden questions; the same each time."""
    tokenizer = tokenizer or Words(WORDS)
    keras.utils.set_random_seed(3)
    encoder = RecurrentEncoder(tokenizer.vocab_size, 4, embedding_dim=4)
    model = SequenceClassifier(encoder, classes=2, pooling=Pooling("mean"))
    return ClassifyingPredictor(model, tokenizer, LABELS)


def writer():
    """A model that writes digits, with as few signatures as show its answers."""
    predictor = tiny_predictor()
    greedy = predictor.signatures()["greedy"]
    predictor.signatures = lambda: {"serving_default": greedy}
    return predictor


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    return {
        make.__name__: write_unverified(make(), tmp_path_factory.mktemp("exports"))
        for make in (reader, writer)
    }


@pytest.fixture
def copy(exports, tmp_path):
    return lambda name: Path(shutil.copytree(exports[name], tmp_path / "elsewhere" / "7"))


def change_constants(path, change):
    """Put other values into the constants of a graph, and into the manifest what it says of the file."""
    saved = saved_model_pb2.SavedModel.FromString((path / "saved_model.pb").read_bytes())
    changed = 0
    for node in nodes(saved.meta_graphs[0]):
        if node.op == "Const":
            tensor = node.attr["value"].tensor
            before = tf.make_ndarray(tensor)
            after = change(before)
            if after is not None:
                tensor.CopyFrom(tf.make_tensor_proto(after, before.dtype))
                changed += 1
    assert changed, "the graph has no such constant"
    replace_file(path, "saved_model.pb", saved.SerializeToString())


def in_place_of(old, new):
    """Where a list of strings has one of them, another."""

    def change(values):
        if values.dtype == object and values.ndim == 1 and old in values:
            return np.where(values == old, new, values)
        return None

    return change


def other_digits(values):
    """The code points that are written, but for those of the special ids, each one further."""
    if values.ndim == 1 and values[:4].tolist() == [0, 0, 0, 0xFFFD]:
        return np.concatenate([values[:4], np.roll(values[4:], 1)])
    return None


def other_labels(values):
    return values[::-1] if values.tolist() == [label.encode() for label in LABELS] else None


@pytest.mark.parametrize("name", ["reader", "writer"])
def test_as_they_were_written_they_pass(exports, name):
    assert failing(exports[name]) == {}


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("reader", in_place_of(b" hello", b" hullo"), "classify, text b'hello'"),
        ("reader", other_labels, "label is "),
        ("writer", other_digits, "text is b'"),
    ],
)
def test_another_vocabulary_in_the_graph_gives_other_answers(copy, name, change, reason):
    path = copy(name)
    change_constants(path, change)
    failures = failing(path)
    assert list(failures) == ["vocabularies", "golden answers"]
    assert reason in failures["golden answers"]


def test_weights_whose_rows_are_those_of_another_vocabulary_give_other_answers(copy, tmp_path):
    predictor = reader()
    (table,) = (weight for weight in predictor.model.weights if weight.shape == (len(WORDS) + 4, 4))
    table.assign(np.roll(table.numpy(), 1, axis=0))
    other = write_unverified(predictor, tmp_path / "others")
    path = copy("reader")
    for file in (other / "variables").iterdir():
        replace_file(path, f"variables/{file.name}", file.read_bytes())
    assert_one_fails(path, "golden answers", "probabilities is")


TOKENIZERS = {
    "characters": Characters("helo qustin"),
    "words": Words([*WORDS, "###", "## "]),
    "subwords": Subwords({"\u2581": -1.0, "h": -2.0, "e": -2.5, "l": -3.0, "o": -3.5, "\u2581hello": -4.0}),
    "no bytes": Subwords({"\u2581": -1.0, "h": -2.0, "e": -2.5}, kind="unigram", byte_fallback=False),
}
"""In a classifier, whose graph reads texts and writes none."""


def exchanged(entries):
    """Two tokens, each at the place of the other; a list, or a dictionary of their scores."""
    first, second, *rest = entries
    return [second, first, *rest] if isinstance(entries, list) else {k: 0.0 for k in (second, first, *rest)}


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_list_for_review_that_is_not_that_of_the_graph_is_seen(name, tmp_path):
    path = write_unverified(reader(TOKENIZERS[name]), tmp_path)
    check = lambda: RULES[0].check(Reviewed(path, read_meta_graph(path)))  # noqa: E731
    assert check().ok, check().detail

    file = path / EXTRA / "source_vocabulary.json"
    content = json.loads(file.read_text())
    (member,) = {"characters", "words", "pieces"} & content.keys()
    file.write_text(json.dumps({**content, member: exchanged(content[member])}))
    assert not check().ok
    assert "source_vocabulary.json lists" in check().detail
    assert "Export again" in check().detail


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("kept", [slice(1, None), slice(None, -1), slice(0)], ids=["tail", "head", "nothing"])
def test_a_list_for_review_without_some_of_its_tokens_is_seen(name, kept, tmp_path):
    path = write_unverified(reader(TOKENIZERS[name]), tmp_path)
    file = path / EXTRA / "source_vocabulary.json"
    content = json.loads(file.read_text())
    (member,) = {"characters", "words", "pieces"} & content.keys()
    form = type(content[member])
    entries = content[member].items() if form is dict else content[member]
    file.write_text(json.dumps({**content, member: form([*entries][kept])}))
    check = RULES[0].check(Reviewed(path, read_meta_graph(path)))
    assert not check.ok
    assert "source_vocabulary.json lists" in check.detail


@pytest.mark.parametrize("tokenizer", [Bytes(), WordPieces(["hel", "h", "##lo", "a", "##a", "long"])])
def test_a_graph_that_names_no_token_has_nothing_to_compare(tokenizer, tmp_path):
    path = write_unverified(reader(tokenizer), tmp_path)
    check = RULES[0].check(Reviewed(path, read_meta_graph(path)))
    assert check.ok, check.detail


WRITERS = {**TOKENIZERS, "word pieces": WordPieces(["hel", "h", "##lo", "a"])}


class Writer(tf.Module):
    """Writes the same token to every text, or says what it is called, so that its graph reads none."""

    def __init__(self, tokenizer, form):
        super().__init__()
        self.tokenizer = tokenizer
        self.form = form

    def assets(self):
        return {"target_vocabulary.json": self.tokenizer.describe()}

    def signatures(self):
        return {"serving_default": Signature(self._write, TEXT)}

    def _write(self, text):
        ids = tf.where(tf.strings.length(text) > 0, self.tokenizer.vocab_size - 1, PAD)
        return {"text": self.form(self.tokenizer, ids)}


FORMS = {
    "written": lambda tokenizer, ids: tokenizer.decode(ids[:, tf.newaxis]),
    "called": lambda tokenizer, ids: tokenizer.tokens(ids),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("form", FORMS)
def test_a_graph_that_only_writes_holds_the_list_behind_its_special_ids(name, form, tmp_path):
    path = write_unverified(Writer(WRITERS[name], FORMS[form]), tmp_path)
    check = lambda: RULES[0].check(Reviewed(path, read_meta_graph(path)))  # noqa: E731
    assert check().ok, check().detail

    file = path / EXTRA / "target_vocabulary.json"
    content = json.loads(file.read_text())
    (member,) = {"characters", "words", "pieces"} & content.keys()
    file.write_text(json.dumps({**content, member: [*content[member]][1:]}))
    assert "target_vocabulary.json lists" in check().detail


@pytest.mark.parametrize("file", ["source_vocabulary.json", LABELS_FILE])
def test_such_a_list_is_seen_when_its_sha_256_was_changed_with_it(copy, file):
    path = copy("reader")
    before = (path / EXTRA / file).read_bytes()
    replace_file(path, f"{EXTRA}/{file}", before.replace(b"hello", b"hullo").replace(b"bad", b"poor"))
    assert_one_fails(path, "vocabularies", f"{file} lists ")


def test_a_list_that_cannot_be_read_is_a_failed_check(copy):
    path = copy("writer")
    replace_file(path, f"{EXTRA}/target_vocabulary.json", b"[")
    assert list(failing(path)) == ["vocabularies"]
