"""Every model of the zoo behind one embedded server, asked over REST and over gRPC with every signature.

The models come from the tables of the contracts. They were never trained; their answers are nonsense, but
must be the same nonsense everywhere. What `zoo verify` checks by asking is asked of the server here, since a
fresh process for each model would take minutes.

All that give labels or numbers are served, and of those that generate one of each kind, `BY_DEFAULT`;
`SERVE=all` serves every row.
"""

import functools
import json
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tensorflow as tf
from contracts.label_cases import OF_TEXTS, VOCABULARY
from contracts.model_cases import MODELS, SOURCE_VOCAB_SIZE
from served_answers import TOLERANCE, ask, assert_same, assert_same_but_for_padding, clients

import zoo.export
from zoo.decoders import Beam
from zoo.models import (
    RecurrentDecoder,
    SequenceClassifier,
    SequenceRegressor,
    SequenceTagger,
    TokenRegressor,
)
from zoo.predictors import (
    ClassifyingPredictor,
    Predictor,
    RegressingPredictor,
    TaggingPredictor,
    TokenRegressingPredictor,
)
from zoo.serving.client import ServingError
from zoo.serving.configs import model_config, read_file
from zoo.serving.folders import find_models
from zoo.serving.server import Server
from zoo.tokenizers import END, START, Characters
from zoo.tokenizers.specials import SPECIALS
from zoo.verify import Report, graph
from zoo.verify.layout import MANIFEST

WIDTH, WIDEST, LENGTH, SOURCE_LENGTH = 2, 3, 6, 10
LABELS, BLANK_VALUE = ("one", "two", "three"), -1.0

TEXTS = ("abc", "", "f", "   ", "fedcba" * 3, b"a\xffb\xc2", "\r\n", "cab fed", "👩‍👩‍👧 e\u0301", "\0")
TARGETS = ("ab", "", b"b\xff", "dcba" * 4, "a b") * 2
ROWS, GOOD, BLANK = range(len(TEXTS)), (0, 2, 4, 7), (1, 3, 6)
PREFIXES = ("", "ab", "c", "a", b"b\xff", "d", "", "ba", "abcdabcd", "a b")
WIDTHS = (0, 1, 2, 3, 3, 99, 2, 1, 0, 3)
COLUMNS = {"text": TEXTS, "target": TARGETS, "prefix": PREFIXES, "width": WIDTHS}
QUESTIONS = ("abc", "cab fed")

TEXT, TEXT_PER_PLACE = ("DT_STRING", 1), ("DT_STRING", 2)
COUNT, COUNT_PER_PLACE = ("DT_INT32", 1), ("DT_INT32", 2)
NUMBER, NUMBER_PER_PLACE = ("DT_FLOAT", 1), ("DT_FLOAT", 2)

ONE = {"text": TEXT, "score": NUMBER, "length": COUNT}
BEST_FIRST = {
    "text": TEXT_PER_PLACE,
    "score": NUMBER_PER_PLACE,
    "ranked_score": NUMBER_PER_PLACE,
    "length": COUNT_PER_PLACE,
}
ALIGN = {
    "align": {
        "source_tokens": TEXT_PER_PLACE,
        "target_tokens": TEXT_PER_PLACE,
        "alignment": ("DT_FLOAT", 3),
    }
}
SIGNATURES = {
    Predictor: {
        "serving_default": {"text": TEXT},
        "greedy": ONE,
        "beam": BEST_FIRST,
        "generate": BEST_FIRST,
        "sample": ONE,
        "score": {"score": NUMBER, "tokens": TEXT_PER_PLACE, "token_scores": NUMBER_PER_PLACE},
    },
    TaggingPredictor: {
        "serving_default": {"labels": TEXT},
        "tag": {"tokens": TEXT_PER_PLACE, "labels": TEXT_PER_PLACE, "scores": NUMBER_PER_PLACE},
    },
    TokenRegressingPredictor: {
        "serving_default": {"values": NUMBER_PER_PLACE},
        "tag": {"tokens": TEXT_PER_PLACE, "values": NUMBER_PER_PLACE},
    },
    ClassifyingPredictor: {
        "serving_default": {"label": TEXT},
        "classify": {"label": TEXT, "score": NUMBER, "probabilities": NUMBER_PER_PLACE},
    },
    RegressingPredictor: {"serving_default": {"value": NUMBER}, "regress": {"value": NUMBER}},
}
"""Of each kind of predictor: the type of every output and its number of axes."""

BESIDE_TEXT = {
    "score": {"target"},
    "align": {"target"},
    "generate": {"width", "length_penalty", "min_length", "max_length", "prefix"},
    "sample": {"seed", "temperature", "top_k", "top_p"},
}
"""What signatures take beside texts."""


def characters(vocab_size):
    """A tokenizer with as many ids as a model has."""
    return Characters("abcdefghijklmnopqrstuvwxyz"[: vocab_size - len(SPECIALS)])


def generating(case):
    model = case.make()
    return Predictor(
        model,
        characters(SOURCE_VOCAB_SIZE),
        characters(model.vocab_size),
        beam=Beam(width=WIDTH),
        max_source_length=SOURCE_LENGTH,
        max_length=LENGTH,
        max_width=WIDEST,
    )


LABELLING = {
    SequenceTagger: functools.partial(TaggingPredictor, labels=LABELS),
    TokenRegressor: TokenRegressingPredictor,
    SequenceClassifier: functools.partial(ClassifyingPredictor, labels=LABELS),
    SequenceRegressor: functools.partial(RegressingPredictor, blank_value=BLANK_VALUE),
}


def labelling(case):
    model = case.make()
    return LABELLING[type(model)](model, characters(VOCABULARY), max_source_length=SOURCE_LENGTH)


def looks_at_the_source(case):
    """Whether it has attention to a source: a language model has none, an ensemble what all members have."""
    if case.members:
        return all(map(looks_at_the_source, case.members))
    decoder = case.parts.get("decoder", (None,))[0]
    without = case.arguments.get("attention") == "none" or decoder is RecurrentDecoder
    return not (case.joins_inputs or without)


def servable(name):
    return name.lower().replace(", ", "-").replace(" ", "-")


BY_DEFAULT = (
    "rnn",
    "gru-bahdanau",
    "lstm-luong-general",
    "transformer-rotary",
    "lstm-under-transformer",
    "language-model-lstm",
    "language-model-rotary",
    "ensemble",
)
CHOSEN = tuple(MODELS) if os.environ.get("SERVE") == "all" else BY_DEFAULT

GENERATING = {servable(name): MODELS[name] for name in CHOSEN}
LABEL = {servable(name): case for name, case in OF_TEXTS.items()}
NAMES = (*GENERATING, *LABEL)
LOOKING = [name for name, case in GENERATING.items() if looks_at_the_source(case)]


@pytest.fixture(scope="module")
def predictors():
    return {name: generating(case) for name, case in GENERATING.items()} | {
        name: labelling(case) for name, case in LABEL.items()
    }


def check_what_was_written(path):
    manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    written = graph.Written(manifest, graph.read_meta_graph(path))
    return Report(str(path), tf.__version__, tuple(rule.check(written) for rule in graph.RULES))


def export(folder, name, predictor):
    card = zoo.export.Card(name, "Knows nothing: its weights are random.", "none", "none", (), "CC0-1.0")
    zoo.export.write(predictor, folder, card=card, questions=QUESTIONS)


@pytest.fixture(scope="module")
def graphs_as_they_are_written():
    """TensorFlow would take longer to optimise the graphs than to answer all questions."""
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    yield
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})


@pytest.fixture(scope="module")
def server(predictors, graphs_as_they_are_written, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved_models")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zoo.export, "verify_in_fresh_process", check_what_was_written)
        with ThreadPoolExecutor(2) as pool:  # one waits for TensorFlow while the other traces
            list(pool.map(functools.partial(export, folder), predictors, predictors.values()))
    config = folder / "models.config"
    config.write_text(model_config(find_models(folder)), encoding="utf-8")
    with Server(read_file(config), grpc_port=0, rest_port=0) as server:
        yield server


def inputs(signature, rows=ROWS):
    """The questions of some rows; settings of a request differ from row to row."""
    settings = signature.settings
    return {
        name: [COLUMNS[name][row] if name in COLUMNS else settings[row % len(settings)][name] for row in rows]
        for name in signature.inputs
    }


@pytest.fixture(scope="module")
def answers(predictors, server):
    """What each kind of client gets of each signature for all texts, by the name of the model."""

    @functools.cache
    def answers(name):
        return [
            {
                signature: client.predict(inputs(form), signature=signature)
                for signature, form in predictors[name].signatures().items()
            }
            for client in clients(server, name)
        ]

    return answers


def log_softmax(logits):
    return tf.nn.log_softmax(tf.cast(logits, tf.float32)).numpy()


def test_the_tables_hold_models_with_attention_and_without():
    assert 0 < len(LOOKING) < len(GENERATING)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_has_the_signatures_of_its_kind(predictors, server, name):
    expected = SIGNATURES[type(predictors[name])] | (ALIGN if name in LOOKING else {})
    for client in clients(server, name):
        metadata = client.metadata()
        outputs = {
            signature: {key: (info.dtype, len(info.shape)) for key, info in form.outputs.items()}
            for signature, form in metadata.items()
        }
        assert outputs == expected
        assert all(info.shape[0] is None for form in metadata.values() for info in form.outputs.values())
        assert {key: set(form.inputs) - {"text"} for key, form in metadata.items()} == {
            key: BESIDE_TEXT.get(key, set()) for key in expected
        }
        assert all(info.shape == (None,) for form in metadata.values() for info in form.inputs.values())


@pytest.mark.parametrize("name", NAMES)
def test_clients_get_what_the_predictor_answers(predictors, answers, name):
    expected = {key: ask(form, inputs(form)) for key, form in predictors[name].signatures().items()}
    over_rest, over_grpc = answers(name)
    for signature in expected:
        assert_same(over_rest[signature], expected[signature], f"REST, {signature} of {name}")
        assert_same(over_grpc[signature], expected[signature], f"gRPC, {signature} of {name}")


@pytest.mark.parametrize("name", NAMES)
def test_bad_rows_do_the_others_no_harm(predictors, server, answers, name):
    for client, found in zip(clients(server, name), answers(name), strict=True):
        for signature, form in predictors[name].signatures().items():
            among = {key: [rows[row] for row in GOOD] for key, rows in found[signature].items()}
            alone = client.predict(inputs(form, GOOD), signature=signature)
            assert_same_but_for_padding(alone, among, f"{signature} of {name}")


@pytest.mark.parametrize("name", NAMES)
def test_no_rows_get_no_answers(predictors, server, name):
    for client in clients(server, name):
        for signature, form in predictors[name].signatures().items():
            found = client.predict(inputs(form, ()), signature=signature)
            assert found
            assert all(rows == [] for rows in found.values())


@pytest.mark.parametrize("name", GENERATING)
def test_a_blank_text_has_the_empty_answer(answers, name):
    for found in answers(name):
        for row in BLANK:
            assert found["serving_default"]["text"][row] == found["greedy"]["text"][row] == ""
            assert found["greedy"]["length"][row] == 0
            assert found["sample"]["text"][row] == ""
            assert found["beam"]["text"][row] == [""] * WIDTH
            assert found["generate"]["text"][row] == [""] * WIDEST
            assert found["beam"]["length"][row] == [0] * WIDTH
            assert found["beam"]["score"][row][0] == pytest.approx(
                found["greedy"]["score"][row], abs=TOLERANCE
            )
            assert found["beam"]["score"][row][1:] == [-1e9] * (WIDTH - 1)


@pytest.mark.parametrize("name", GENERATING)
def test_answers_have_the_scores_that_the_model_gives_them(predictors, server, answers, name):
    for client, found in zip(clients(server, name), answers(name), strict=True):
        best = [texts[0] for texts in found["beam"]["text"]]
        scores = [scored.score for scored in client.score(TEXTS, best)]
        np.testing.assert_allclose(scores, [row[0] for row in found["beam"]["score"]], atol=TOLERANCE)
        scores = [scored.score for scored in client.score(TEXTS, found["greedy"]["text"])]
        np.testing.assert_allclose(scores, found["greedy"]["score"], atol=TOLERANCE)

        # "abc" and "ab", as ids
        source, target_ids, expected = [[4, 5, 6, END]], [[START, 4, 5]], [4, 5, END]
        model = predictors[name].model
        logits = model({"source": tf.constant(source), "target_ids": tf.constant(target_ids)})
        expected = [row[token] for row, token in zip(log_softmax(logits)[0], expected, strict=True)]
        (scored,) = client.score(["abc"], ["ab"])
        assert scored.tokens == ["a", "b", "</s>"]
        np.testing.assert_allclose(scored.token_scores, expected, atol=TOLERANCE)
        np.testing.assert_allclose(scored.score, sum(expected), atol=TOLERANCE)


@pytest.mark.parametrize("name", LOOKING)
def test_alignment_shares_each_token_out_over_the_source(server, answers, name):
    for client, found in zip(clients(server, name), answers(name), strict=True):
        aligned = client.align(TEXTS, TARGETS)
        assert aligned[0].source_tokens == ["a", "b", "c", "</s>"]
        assert aligned[0].target_tokens == ["a", "b", "</s>"]
        assert aligned[1].source_tokens == aligned[1].target_tokens == ["</s>"]  # blank
        assert aligned[4].source_tokens == list("fedcbafedc")  # cut
        assert aligned[5].source_tokens == ["a", "<unk>", "b", "<unk>", "</s>"]
        for source, target, weights in aligned:
            assert np.shape(weights) == (len(target), len(source))
            np.testing.assert_allclose(np.sum(weights, axis=1), 1, atol=TOLERANCE)
            assert np.all(np.asarray(weights) >= 0)
        # what lies beyond the tokens has no weight, so rows of the whole batch add up to 1 as well, or to 0
        there = np.array(found["align"]["target_tokens"]) != ""
        np.testing.assert_allclose(np.sum(found["align"]["alignment"], axis=2), there, atol=TOLERANCE)

        (greedy,) = client.align(["cab fed"])
        answer = found["greedy"]["text"][7].replace("\N{REPLACEMENT CHARACTER}", "?")
        assert [token[:1] for token in greedy.target_tokens[: len(answer)]] == [
            "<" if character == "?" else character for character in answer
        ]
        assert greedy.target_tokens[len(answer) :] == ["</s>"] * (len(answer) < LENGTH)


@pytest.mark.parametrize("name", sorted(set(GENERATING) - set(LOOKING)))
def test_without_attention_to_a_source_there_is_no_align(server, name):
    for client in clients(server, name):
        with pytest.raises(ServingError) as refused:
            client.align(["abc"])
        assert refused.value.code == "INVALID_ARGUMENT"
        assert "align" in refused.value.message


NO_ANSWER = {
    **{name: "" for name in ("tokens", "labels", "label")},
    **{name: 0.0 for name in ("scores", "values", "score", "probabilities")},
    "value": BLANK_VALUE,
}
"""What a text without tokens has of each output, wherever there is room for one."""

ANSWERS = {
    TaggingPredictor: lambda logits: {
        "tokens": list("abc"),
        "labels": [LABELS[best] for best in logits[:-1].argmax(axis=-1)],
        "scores": np.exp(log_softmax(logits[:-1])).max(axis=-1),
    },
    TokenRegressingPredictor: lambda numbers: {"tokens": list("abc"), "values": numbers[:-1, 0]},
    ClassifyingPredictor: lambda logits: {
        "label": LABELS[logits.argmax()],
        "score": np.exp(log_softmax(logits)).max(),
        "probabilities": np.exp(log_softmax(logits)),
    },
    RegressingPredictor: lambda numbers: {"value": numbers[0]},
}
"""Of each kind of predictor: what a model says of "abc" and END to the answer to "abc"."""


@pytest.mark.parametrize("name", LABEL)
def test_labels_and_numbers_are_those_that_the_model_gives(predictors, server, name):
    predictor = predictors[name]
    (own,) = predictor.signatures().keys() - {"serving_default"}
    outputs = predictor.model({"source": tf.constant([[4, 5, 6, END]])})[0].numpy()
    expected = {key: [value] for key, value in ANSWERS[type(predictor)](outputs).items()}
    for client in clients(server, name):
        assert_same(client.predict({"text": ["abc"]}, signature=own), expected, f"{own} of {name}")


@pytest.mark.parametrize("name", LABEL)
def test_nothing_is_said_of_a_blank_text(answers, name):
    for found in answers(name):
        for signature, outputs in found.items():
            for key, rows in outputs.items():
                for row in BLANK:
                    assert set(np.ravel(rows[row]).tolist()) == {NO_ANSWER[key]}, (signature, key)
