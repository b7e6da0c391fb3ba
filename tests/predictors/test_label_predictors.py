"""Texts in, labels and numbers out: what taggers, classifiers and regressors answer."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.layers import Pooling
from zoo.models import (
    RecurrentEncoder,
    SequenceClassifier,
    SequenceRegressor,
    SequenceTagger,
    TokenRegressor,
)
from zoo.predictors import (
    ClassifyingPredictor,
    RegressingPredictor,
    TaggingPredictor,
    TokenRegressingPredictor,
)
from zoo.tokenizers import END, Characters

LENGTH = 12
LABELS = ("noun", "verb", "Ä")
TEXTS = [
    "abc",
    "",
    "   ",
    "a" * 2000,
    "😀 👩\u200d👩\u200d👧",
    b"ab\xc2",
    "\u3000\t\r\n\v\x85\u2028",
    "b\r\na",
    "c\0c",
    "\ufeff",
    b"\xff",
    "cab cab",
]
BLANK = [1, 2, 6]
OUTPUTS = {
    "tag": {"tokens": "string", "labels": "string", "scores": "float32"},
    "tag numbers": {"tokens": "string", "values": "float32"},
    "classify": {"label": "string", "score": "float32", "probabilities": "float32"},
    "regress": {"value": "float32"},
}
DEFAULTS = {"tag": "labels", "tag numbers": "values", "classify": "label", "regress": "value"}
SIGNATURES = {"tag": "tag", "tag numbers": "tag", "classify": "classify", "regress": "regress"}

each = pytest.mark.parametrize("name", SIGNATURES)


@pytest.fixture(scope="module")
def predictors():
    """Models without training, their weights so large that answers differ."""
    source = Characters("abc \r\n")
    keras.utils.set_random_seed(5)
    encoder = RecurrentEncoder(source.vocab_size, 6, embedding_dim=6, cell="gru")
    tagger = SequenceTagger(encoder, classes=3)
    numbers = TokenRegressor(encoder)
    classifier = SequenceClassifier(encoder, classes=3, pooling=Pooling("mean"))
    regressor = SequenceRegressor(encoder, pooling=Pooling("mean"))
    random = np.random.default_rng(3)
    for part in (encoder, tagger.readout, numbers.readout, classifier.readout, regressor.readout):
        part.set_weights([random.normal(size=weight.shape) for weight in part.get_weights()])
    return {
        "tag": TaggingPredictor(tagger, source, LABELS, max_source_length=LENGTH),
        "tag numbers": TokenRegressingPredictor(numbers, source, max_source_length=LENGTH),
        "classify": ClassifyingPredictor(classifier, source, LABELS, max_source_length=LENGTH),
        "regress": RegressingPredictor(regressor, source, blank_value=-7.5, max_source_length=LENGTH),
    }


@pytest.fixture(scope="module")
def ask(predictors):
    """Signatures as an export has them: traced once, for a batch of any size."""
    traced = {
        (name, signature): tf.function(form.function).get_concrete_function(**form.inputs)
        for name, predictor in predictors.items()
        for signature, form in predictor.signatures().items()
    }

    def ask(name, texts, signature=None):
        outputs = traced[name, signature or SIGNATURES[name]](text=tf.constant(texts, tf.string))
        return {key: value.numpy() for key, value in outputs.items()}

    return ask


def read_texts(array):
    return [text.decode("utf-8") for text in array]


def assert_equal(found, expected):
    """Texts equal, numbers to 1e-5."""
    if found.dtype == np.float32:
        np.testing.assert_allclose(found, expected, atol=1e-5)
    else:
        np.testing.assert_array_equal(found, expected)


@each
def test_signatures_are_the_public_contract(predictors, name):
    signatures = predictors[name].signatures()
    assert list(signatures) == ["serving_default", SIGNATURES[name]]
    for signature, form in signatures.items():
        assert {key: (s.name, s.dtype, s.shape.as_list()) for key, s in form.inputs.items()} == {
            "text": ("text", tf.string, [None])
        }
        outputs = tf.function(form.function).get_concrete_function(**form.inputs).structured_outputs
        expected = OUTPUTS[name]
        if signature == "serving_default":
            expected = {DEFAULTS[name]: expected[DEFAULTS[name]]}
            axes = [None, None] if name == "tag numbers" else [None]
            assert [spec.shape.as_list() for spec in outputs.values()] == [axes]
        assert {key: spec.dtype.name for key, spec in outputs.items()} == expected
        assert all(spec.shape[0] is None for spec in outputs.values())


@each
def test_each_text_alone_as_in_any_batch(ask, name):
    together = ask(name, TEXTS)
    order = [5, 11, 11, 3, 0, 1]
    for rows in [[row] for row in range(len(TEXTS))] + [order]:
        for key, found in ask(name, [TEXTS[row] for row in rows]).items():
            expected = together[key][rows]
            if SIGNATURES[name] == "tag":
                assert not np.any(expected[:, found.shape[1] :])  # padding alone: "" or 0
                expected = expected[:, : found.shape[1]]
            assert_equal(found, expected)


@each
@pytest.mark.parametrize("signature", ["serving_default", None])
def test_an_empty_batch(ask, name, signature):
    assert all(value.shape[0] == 0 for value in ask(name, [], signature).values())


@each
def test_white_space_around_and_what_is_beyond_the_bound_do_not_matter(ask, name):
    for texts in (
        ["abc", "  abc", "abc\n", "\u00a0\v abc \x85\r\n"],
        ["abc" * 4, "abc" * 4 + "b", "abc" * 700],
    ):
        for value in ask(name, texts).values():
            assert_equal(value, np.repeat(value[:1], len(texts), axis=0))


def test_tokens_have_their_labels(predictors, ask):
    found = ask("tag", TEXTS)
    tokens = [[token.decode() for token in row if token] for row in found["tokens"]]
    assert tokens[0] == ["a", "b", "c"]
    assert tokens[3] == ["a"] * LENGTH
    assert tokens[5] == ["a", "b", "<unk>"]
    assert tokens[11] == list("cab cab")
    there = found["tokens"] != b""
    assert set(found["labels"][there]) == {label.encode() for label in LABELS}
    assert (found["labels"][~there] == b"").all()
    assert (found["scores"][there] >= 1 / 3).all()
    assert (found["scores"][~there] == 0).all()

    ids = [[*predictors["tag"].source.encode(["cab cab"]).to_list()[0], END]]
    expected = tf.nn.softmax(predictors["tag"].model({"source": np.array(ids)}))[0, :-1].numpy()
    assert read_texts(found["labels"][11, :7]) == [LABELS[best] for best in expected.argmax(axis=1)]
    np.testing.assert_allclose(found["scores"][11, :7], expected.max(axis=1), atol=1e-6)


def test_tokens_have_their_numbers(predictors, ask):
    found = ask("tag numbers", TEXTS)
    np.testing.assert_array_equal(found["tokens"], ask("tag", TEXTS)["tokens"])
    there = found["tokens"] != b""
    assert found["values"][there].all()
    assert not found["values"][~there].any()

    ids = [[*predictors["tag"].source.encode(["cab cab"]).to_list()[0], END]]
    expected = predictors["tag numbers"].model({"source": np.array(ids)})[0, :-1, 0]
    np.testing.assert_allclose(found["values"][11, :7], expected, atol=1e-6)
    assert len(set(found["values"][11, :7].round(4))) > 3
    default = ask("tag numbers", TEXTS, "serving_default")
    np.testing.assert_array_equal(default["values"], found["values"])


@pytest.mark.parametrize("name", ["tag", "tag numbers"])
def test_blank_texts_have_no_tokens(ask, name):
    found = ask(name, TEXTS)
    assert not any(np.any(value[row]) for value in found.values() for row in BLANK)
    assert [ask("tag", TEXTS, "serving_default")["labels"][row] for row in BLANK] == [b""] * 3
    assert {value.shape for value in ask(name, ["", "  "]).values()} == {(2, 1)}


def test_the_default_of_a_tagger_joins_labels_with_blanks(ask):
    found, joined = ask("tag", TEXTS), ask("tag", TEXTS, "serving_default")["labels"]
    for row, labels in enumerate(found["labels"]):
        assert joined[row].decode() == " ".join(read_texts(filter(None, labels)))


def test_a_label_for_each_text(predictors, ask):
    found = ask("classify", TEXTS)
    others = [row for row in range(len(TEXTS)) if row not in BLANK]
    assert found["probabilities"].shape == (len(TEXTS), 3)
    np.testing.assert_allclose(found["probabilities"][others].sum(axis=1), 1, atol=1e-5)
    best = found["probabilities"][others].argmax(axis=1)
    assert read_texts(found["label"][others]) == [LABELS[place] for place in best]
    np.testing.assert_array_equal(found["score"], found["probabilities"].max(axis=1))
    assert len({*found["label"][others]}) > 1

    ids = np.array([[*predictors["classify"].source.encode(["abc"]).to_list()[0], END]])
    expected = tf.nn.softmax(predictors["classify"].model({"source": ids}))[0]
    np.testing.assert_allclose(found["probabilities"][0], expected, atol=1e-6)
    np.testing.assert_array_equal(ask("classify", TEXTS, "serving_default")["label"], found["label"])


def test_blank_texts_have_the_empty_label(ask):
    found = ask("classify", TEXTS)
    assert [found["label"][row] for row in BLANK] == [b""] * 3
    assert not found["score"][BLANK].any()
    assert not found["probabilities"][BLANK].any()


def test_a_number_for_each_text(predictors, ask):
    found = ask("regress", TEXTS)["value"]
    assert [found[row] for row in BLANK] == [-7.5] * 3
    ids = np.array([[*predictors["regress"].source.encode(["abc"]).to_list()[0], END]])
    np.testing.assert_allclose(found[0], predictors["regress"].model({"source": ids})[0, 0], atol=1e-6)
    assert len(set(found.round(4))) > 3
    np.testing.assert_array_equal(ask("regress", TEXTS, "serving_default")["value"], found)


def test_labels_are_assets_that_people_can_read(predictors):
    vocabulary = {"source_vocabulary.json": predictors["tag"].source.describe()}
    labels = {"labels.txt": "noun\nverb\nÄ\n"}
    assert predictors["tag"].assets() == predictors["classify"].assets() == vocabulary | labels
    assert predictors["regress"].assets() == predictors["tag numbers"].assets() == vocabulary


@pytest.mark.parametrize("labels", [("a", "b"), ("a", "b", "c", "d"), ("a", "b", "a")])
@pytest.mark.parametrize("name", ["tag", "classify"])
def test_each_class_has_one_label(predictors, name, labels):
    predictor = predictors[name]
    with pytest.raises(ValueError, match=r"model of 3 classes .* got \['a', 'b'"):
        type(predictor)(predictor.model, predictor.source, labels)


@pytest.mark.parametrize("label", ["", "  ", "a\nb"])
def test_a_label_is_a_line_of_text(predictors, label):
    predictor = predictors["classify"]
    with pytest.raises(ValueError, match=r"A label is one line that is not blank, got "):
        ClassifyingPredictor(predictor.model, predictor.source, ("a", "b", label))


def test_labels_with_white_space_are_for_classifiers_alone(predictors):
    labels = ("very good", "good", "poor")
    ClassifyingPredictor(predictors["classify"].model, predictors["classify"].source, labels)
    with pytest.raises(ValueError, match="hold no white space, got 'very good'"):
        TaggingPredictor(predictors["tag"].model, predictors["tag"].source, labels)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1e39])
def test_the_value_for_blank_texts_is_finite_in_float32(predictors, value):
    with pytest.raises(ValueError, match="must be a finite number in float32, got"):
        RegressingPredictor(predictors["regress"].model, predictors["regress"].source, blank_value=value)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("tag", "classify"),
        ("tag numbers", "tag"),
        ("tag numbers", "regress"),
        ("classify", "tag"),
        ("regress", "tag numbers"),
        ("regress", "classify"),
    ],
)
def test_a_model_of_another_kind_is_refused(predictors, name, other):
    """Else it might answer, by broadcasting or with the first class alone, and be wrong."""
    options = {"labels": LABELS} if name in ("tag", "classify") else {}
    misfit = type(predictors[name])(predictors[other].model, predictors[other].source, **options)
    with pytest.raises(ValueError, match=rf"{type(misfit).__name__} takes a model .* from \w+\. See"):
        misfit.signatures()[SIGNATURES[name]].function(text=tf.constant(["abc", "b"]))


def test_answers_are_float32_in_mixed_precision():
    source = Characters("abc")
    encoder = RecurrentEncoder(source.vocab_size, 4, embedding_dim=3, dtype="mixed_float16")
    model = SequenceClassifier(encoder, classes=3, pooling=Pooling("max"), dtype="mixed_float16")
    found = ClassifyingPredictor(model, source, LABELS).classify(tf.constant(["abc", "a"]))
    assert found.probabilities.dtype == found.score.dtype == tf.float32
    np.testing.assert_allclose(tf.reduce_sum(found.probabilities, axis=1), 1, atol=1e-6)
