"""An export answers the same everywhere: in Python, in a process with TensorFlow only, over REST and gRPC.

The model is small and was never trained; its answers are nonsense, but they must be the same nonsense.
"""

import json
import subprocess
import sys
import urllib.error
import urllib.request

import numpy as np
import pytest
import tensorflow as tf
from compat.make_export import CARD, QUESTIONS, tiny_predictor

import zoo.export
from zoo.serving.client import GrpcClient, RestClient
from zoo.serving.engines import serve

ODD = ("", "   ", "May " * 500, "👩‍👩‍👧 1 May 🎉", b"1 M\xffay\xc2", "\r\n", "e\u0301")
TEXTS = (*QUESTIONS, *ODD, "1 May")
TARGETS = {"score": "2019-02-15", "align": ""}
SIGNATURES = ("serving_default", "greedy", "beam", "score", "align")


@pytest.fixture(scope="module")
def predictor():
    return tiny_predictor()


@pytest.fixture(scope="module")
def export(predictor, tmp_path_factory):
    return zoo.export.write(
        predictor, tmp_path_factory.mktemp("saved_models"), card=CARD, questions=QUESTIONS
    )


@pytest.fixture(scope="module")
def running(export):
    with serve(export.parent.parent, engine="embedded", grpc_port=0, rest_port=0) as running:
        yield running


def inputs_of(signature, texts=TEXTS):
    inputs = {"text": list(texts)}
    if signature in TARGETS:
        inputs["target"] = [TARGETS[signature]] * len(texts)
    return inputs


def plain(value):
    """A tensor as nested lists with texts."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.decode("utf-8") if isinstance(value, bytes) else value


@pytest.fixture(scope="module")
def before_export(predictor):
    """What the predictor answers in Python, by signature and output."""
    answers = {}
    for name, signature in predictor.signatures().items():
        outputs = signature.function(**{key: tf.constant(rows) for key, rows in inputs_of(name).items()})
        answers[name] = {key: plain(value.numpy().tolist()) for key, value in outputs.items()}
    return answers


def assert_same(got, expected, where):
    assert got.keys() == expected.keys(), where
    for name, rows in expected.items():
        if isinstance(np.asarray(rows).flat[0], str):
            assert got[name] == rows, (where, name)
        else:
            np.testing.assert_allclose(got[name], rows, atol=1e-5, rtol=1e-5, err_msg=f"{where} {name}")


@pytest.fixture(scope="module")
def in_a_fresh_process(export):
    """The same questions in a process that has TensorFlow and the ops of tensorflow-text, and no Keras."""
    program = (
        "import json, sys; sys.modules['keras'] = None; import tensorflow as tf; "
        "from zoo.text_operations import register_text_operations as register; register(); "
        "model = tf.saved_model.load(sys.argv[1]); asked = json.load(sys.stdin); "
        "bytes_of = lambda rows: tf.constant([bytes.fromhex(row) for row in rows]); "
        "answer = lambda name, rows: model.signatures[name](**{k: bytes_of(v) for k, v in rows.items()}); "
        "text = lambda v: [text(x) for x in v] if isinstance(v, list) else "
        "v.decode() if isinstance(v, bytes) else v; "
        "print(json.dumps({name: {k: text(v.numpy().tolist()) for k, v in answer(name, rows).items()} "
        "for name, rows in asked.items()}))"
    )
    as_hex = {
        name: {
            key: [(row if isinstance(row, bytes) else row.encode()).hex() for row in rows]
            for key, rows in inputs_of(name).items()
        }
        for name in SIGNATURES
    }
    finished = subprocess.run(
        [sys.executable, "-c", program, str(export)],
        input=json.dumps(as_hex),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert finished.returncode == 0, finished.stderr[-2000:]
    return json.loads(finished.stdout)


@pytest.mark.parametrize("signature", SIGNATURES)
def test_a_fresh_process_answers_the_same(signature, before_export, in_a_fresh_process):
    assert_same(in_a_fresh_process[signature], before_export[signature], signature)


@pytest.mark.parametrize("signature", SIGNATURES)
def test_rest_and_grpc_answer_the_same(signature, before_export, running):
    for client in (
        RestClient(running.rest_url, model=CARD.name),
        GrpcClient(running.grpc_target, model=CARD.name),
    ):
        with client:
            answers = client.predict(inputs_of(signature), signature=signature)
        assert_same(answers, before_export[signature], f"{type(client).__name__} {signature}")


@pytest.mark.parametrize("signature", SIGNATURES)
def test_each_row_is_the_same_alone(signature, before_export, running):
    with GrpcClient(running.grpc_target, model=CARD.name) as client:
        for row, text in enumerate(TEXTS):
            alone = client.predict(inputs_of(signature, [text]), signature=signature)
            for name, (value,) in alone.items():
                companions = before_export[signature][name][row]
                assert_row_is_the_same(value, companions)


def assert_row_is_the_same(alone, in_batch):
    """Equal but for the padding that the longest row of the batch asks for."""
    alone, in_batch = np.asarray(alone), np.asarray(in_batch)
    padded = np.zeros_like(in_batch)
    padded[tuple(slice(0, size) for size in alone.shape)] = alone
    if in_batch.dtype.kind == "U":
        assert padded.tolist() == in_batch.tolist()
    else:
        np.testing.assert_allclose(padded, in_batch, atol=1e-5, rtol=1e-5)


def test_empty_and_blank_texts_have_the_empty_answer(before_export):
    for row, text in enumerate(TEXTS):
        if isinstance(text, str) and not text.strip():
            assert before_export["serving_default"]["text"][row] == ""
            assert before_export["greedy"]["length"][row] == 0
            assert before_export["beam"]["text"][row] == [""] * 4
            assert before_export["beam"]["score"][row][1:] == [-1e9] * 3


@pytest.mark.parametrize("signature", SIGNATURES)
def test_an_empty_batch_has_an_empty_answer(signature, predictor, running):
    function, _ = predictor.signatures()[signature]
    no_rows = {name: tf.zeros([0], tf.string) for name in inputs_of(signature)}
    assert all(output.shape[0] == 0 for output in function(**no_rows).values())
    for client in (
        RestClient(running.rest_url, model=CARD.name),
        GrpcClient(running.grpc_target, model=CARD.name),
    ):
        with client:
            answers = client.predict({name: [] for name in inputs_of(signature)}, signature=signature)
        assert answers
        assert all(rows == [] for rows in answers.values())


def test_an_empty_batch_in_row_form_is_refused_as_by_tensorflow_serving(running):
    request = urllib.request.Request(f"{running.rest_url}/v1/models/tiny:predict", b'{"instances": []}')
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=30)
    assert refused.value.code == 400
    error = json.loads(refused.value.read())["error"]
    assert error == "JSON Value: {\n    \"instances\": []\n} No values in 'instances' array"


def test_the_row_form_of_one_output_is_a_bare_list(before_export, running):
    body = json.dumps({"instances": list(QUESTIONS)}).encode()
    request = urllib.request.Request(f"{running.rest_url}/v1/models/tiny:predict", body)
    with urllib.request.urlopen(request, timeout=30) as response:
        predictions = json.load(response)["predictions"]
    assert predictions == before_export["serving_default"]["text"][: len(QUESTIONS)]
