"""Tagging, classification and regression from training to clients: fit, export, verify, serve, ask.

The tasks are toys that a text itself explains, so answers to texts that training never showed must be right.
"""

import random
import re

import keras
import numpy as np
import pytest
from served_answers import ask, assert_same

import zoo.export
from zoo.layers import AttentionPooling, Pooling
from zoo.models import RecurrentEncoder, SequenceClassifier, SequenceRegressor, SequenceTagger
from zoo.predictors import ClassifyingPredictor, RegressingPredictor, TaggingPredictor
from zoo.serving.client import GrpcClient, RestClient
from zoo.serving.engines import serve
from zoo.tokenizers import Characters
from zoo.tokenizers.sequences import read_sources

SOURCE = Characters("abcdefgh()0123456789")
LENGTH = 16
ODD = ("", "   ", "a" * 2000, "👩‍👩‍👧 a", b"(a\xffb\xc2", "\r\n")
BLANK = (0, 1, 5)


def texts(seed, count):
    """Letters and digits, part of each text in brackets."""
    draw = random.Random(seed)
    word = lambda: "".join(draw.choices("abcdefgh", k=draw.randint(1, 4)))  # noqa: E731
    digit = lambda: draw.choice("0123456789") if draw.random() < 0.5 else ""  # noqa: E731
    return [f"{word()}({word()}){digit()}{word()}" for _ in range(count)]


def brackets(text):
    """Each character: is it a bracket, within brackets, or outside?"""
    return [
        "bracket"
        if character in "()"
        else "inside"
        if "(" in text[:place] and ")" not in text[:place]
        else "outside"
        for place, character in enumerate(text)
    ]


def has_digit(text):
    return "with digit" if re.search("[0-9]", text) else "letters only"


def share_of_a(text):
    return text.count("a") / len(text)


TAGS, CLASSES = ("inside", "outside", "bracket"), ("letters only", "with digit")
TRAINING, QUESTIONS = texts(0, 512), tuple(texts(1, 6))
IDS = read_sources(SOURCE, TRAINING, LENGTH).ids


def fit(model, loss, labels, weights, epochs):
    loss = loss(reduction="mean_with_sample_weight")
    model.compile(keras.optimizers.Adam(0.02), loss)
    model.fit({"source": IDS}, labels, sample_weight=weights, batch_size=64, epochs=epochs, verbose=0)
    return model


def cross_entropy(reduction):
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=reduction)


def encoder(direction="bidirectional"):
    return RecurrentEncoder(SOURCE.vocab_size, 16, embedding_dim=8, cell="gru", direction=direction)


def tagging():
    labels, weights = np.zeros(IDS.shape, int), np.zeros(IDS.shape)
    for row, text in enumerate(TRAINING):
        tags = [TAGS.index(tag) for tag in brackets(text)]
        labels[row, : len(tags)], weights[row, : len(tags)] = tags, 1
    model = fit(SequenceTagger(encoder("forward"), classes=3), cross_entropy, labels, weights, 5)
    return TaggingPredictor(model, SOURCE, TAGS, max_source_length=LENGTH)


def classifying():
    labels = np.array([CLASSES.index(has_digit(text)) for text in TRAINING])
    model = SequenceClassifier(encoder(), classes=2, pooling=AttentionPooling(8))
    fit(model, cross_entropy, labels, np.ones(len(labels)), 5)
    return ClassifyingPredictor(model, SOURCE, CLASSES, max_source_length=LENGTH)


def regressing():
    labels = np.array([share_of_a(text) for text in TRAINING])
    model = SequenceRegressor(encoder(), pooling=Pooling("mean"))
    fit(model, keras.losses.MeanSquaredError, labels, np.ones(len(labels)), 12)
    return RegressingPredictor(model, SOURCE, blank_value=-1.0, max_source_length=LENGTH)


PREDICTORS = {"tag": tagging, "classify": classifying, "regress": regressing}


@pytest.fixture(scope="module")
def predictors():
    keras.utils.set_random_seed(1)
    return {name: make() for name, make in PREDICTORS.items()}


@pytest.fixture(scope="module")
def exports(predictors, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved_models")
    return {
        name: zoo.export.write(
            predictor,
            folder,
            card=zoo.export.Card(name, f"A toy that can {name}.", name, "none", ("en",), "CC0-1.0"),
            questions=QUESTIONS,
        )
        for name, predictor in predictors.items()
    }


@pytest.fixture(scope="module")
def running(exports):
    with serve(exports["tag"].parent.parent, engine="embedded", grpc_port=0, rest_port=0) as running:
        yield running


@pytest.fixture(params=["rest", "grpc"])
def connect(request, running):
    """Makes clients; every test runs over REST and over gRPC."""
    kind, place = {"rest": (RestClient, running.rest_url), "grpc": (GrpcClient, running.grpc_target)}[
        request.param
    ]
    return lambda model: kind(place, model=model)


@pytest.mark.parametrize("name", PREDICTORS)
def test_the_export_was_published_with_its_labels(exports, name):
    """The one writer publishes nothing that a fresh process has not verified."""
    assert exports[name].parts[-2:] == (name, "1")
    labels = {"tag": "inside\noutside\nbracket\n", "classify": "letters only\nwith digit\n"}
    file = exports[name] / "assets.extra" / "labels.txt"
    assert (file.read_text() if file.is_file() else None) == labels.get(name)


def test_tags(connect):
    with connect("tag") as client:
        found = client.tag([*QUESTIONS, *ODD])
        joined = client.predict({"text": [*QUESTIONS, *ODD]})["labels"]
    for text, tagged in zip(QUESTIONS, found, strict=False):
        assert tagged.tokens == list(text)
        assert tagged.labels == brackets(text)
        assert all(1 / 3 <= score <= 1 for score in tagged.scores)
        assert len(tagged.scores) == len(text)
    assert joined == [" ".join(tagged.labels) for tagged in found]
    odd = found[len(QUESTIONS) :]
    assert [odd[row] for row in BLANK] == [([], [], [])] * 3
    assert odd[2].tokens == ["a"] * LENGTH
    assert odd[4].tokens == ["(", "a", "<unk>", "b", "<unk>"]


def test_classes(connect):
    with connect("classify") as client:
        found = client.classify([*QUESTIONS, *ODD])
        assert client.predict({"text": QUESTIONS})["label"] == [has_digit(text) for text in QUESTIONS]
    for text, classified in zip(QUESTIONS, found, strict=False):
        assert classified.label == has_digit(text)
        assert classified.score == max(classified.probabilities)
        assert CLASSES[np.argmax(classified.probabilities)] == classified.label
        assert sum(classified.probabilities) == pytest.approx(1, abs=1e-5)
    assert {has_digit(text) for text in QUESTIONS} == set(CLASSES)
    assert [found[len(QUESTIONS) + row] for row in BLANK] == [("", 0.0, [0.0, 0.0])] * 3


def test_numbers(connect):
    with connect("regress") as client:
        found = client.regress([*QUESTIONS, *ODD])
        assert client.predict({"text": QUESTIONS})["value"] == pytest.approx(
            found[: len(QUESTIONS)], abs=1e-5
        )
    assert found[: len(QUESTIONS)] == pytest.approx(list(map(share_of_a, QUESTIONS)), abs=0.05)
    assert max(map(share_of_a, QUESTIONS)) > 0.15
    assert [found[len(QUESTIONS) + row] for row in BLANK] == [-1.0] * 3


@pytest.mark.parametrize("name", PREDICTORS)
def test_clients_get_what_the_predictor_answers(connect, predictors, name):
    """Of every signature, odd texts among them, in one batch and in none."""
    asked = {"text": [*QUESTIONS, *ODD]}
    with connect(name) as client:
        for signature, form in predictors[name].signatures().items():
            assert_same(client.predict(asked, signature=signature), ask(form, asked), signature)
            assert all(rows == [] for rows in client.predict({"text": []}, signature=signature).values())
