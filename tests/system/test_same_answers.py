"""An export answers the same everywhere: in Python, in a process with TensorFlow only, over REST and gRPC.

The model is small and was never trained; its answers are nonsense, but they must be the same nonsense.
"""

import json
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
import tensorflow as tf
from compat.make_export import CARD, QUESTIONS, tiny_predictor
from served_answers import ask, assert_same, assert_same_but_for_padding, clients, knobs_of

import zoo.export
from zoo.serving.client import GrpcClient
from zoo.serving.engines import serve

ODD = ("", "   ", "May " * 500, "👩‍👩‍👧 1 May 🎉", b"1 M\xffay\xc2", "\r\n", "e\u0301")
TEXTS = (*QUESTIONS, *ODD, "1 May")
TARGETS = {"score": "2019-02-15", "align": ""}
SIGNATURES = ("serving_default", "greedy", "beam", "generate", "sample", "score", "align")


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
    return inputs | knobs_of(signature, len(texts))


@pytest.fixture(scope="module")
def before_export(predictor):
    """What the predictor answers in Python, by signature and output."""
    return {name: ask(signature, inputs_of(name)) for name, signature in predictor.signatures().items()}


def as_hex(text):
    return (text if isinstance(text, bytes) else text.encode()).hex()


@pytest.fixture(scope="module")
def in_a_fresh_process(export):
    """The same questions in a process that has TensorFlow and the ops of tensorflow-text, and no Keras."""
    program = (
        "import json, sys; sys.modules['keras'] = None; import tensorflow as tf; "
        "from zoo.text_operations import register_text_operations as register; register(); "
        "model = tf.saved_model.load(sys.argv[1]); asked = json.load(sys.stdin); "
        "value = lambda x: bytes.fromhex(x) if isinstance(x, str) else x; "
        "rows_of = lambda rows: tf.constant([value(row) for row in rows]); "
        "answer = lambda name, rows: model.signatures[name](**{k: rows_of(v) for k, v in rows.items()}); "
        "text = lambda v: [text(x) for x in v] if isinstance(v, list) else "
        "v.decode() if isinstance(v, bytes) else v; "
        "print(json.dumps({name: {k: text(v.numpy().tolist()) for k, v in answer(name, rows).items()} "
        "for name, rows in asked.items()}))"
    )
    asked = {
        name: {
            key: [as_hex(row) if isinstance(row, str | bytes) else row for row in rows]
            for key, rows in inputs_of(name).items()
        }
        for name in SIGNATURES
    }
    finished = subprocess.run(
        [sys.executable, "-c", program, str(export)],
        input=json.dumps(asked),
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
    for client in clients(running, CARD.name):
        answers = client.predict(inputs_of(signature), signature=signature)
        assert_same(answers, before_export[signature], f"{type(client).__name__} {signature}")


@pytest.mark.parametrize("signature", SIGNATURES)
def test_each_row_is_the_same_alone(signature, before_export, running):
    with GrpcClient(running.grpc_target, model=CARD.name) as client:
        for row, text in enumerate(TEXTS):
            asked = {name: [rows[row]] for name, rows in inputs_of(signature).items()}
            assert asked["text"] == [text]
            alone = client.predict(asked, signature=signature)
            in_batch = {name: [rows[row]] for name, rows in before_export[signature].items()}
            assert_same_but_for_padding(alone, in_batch, f"row {row} of {signature}")


def test_empty_and_blank_texts_have_the_empty_answer(before_export):
    for row, text in enumerate(TEXTS):
        if isinstance(text, str) and not text.strip():
            assert before_export["serving_default"]["text"][row] == ""
            assert before_export["greedy"]["length"][row] == 0
            assert before_export["beam"]["text"][row] == [""] * 4
            assert before_export["beam"]["score"][row][1:] == [-1e9] * 3


@pytest.mark.parametrize("signature", SIGNATURES)
def test_an_empty_batch_has_an_empty_answer(signature, predictor, running):
    form = predictor.signatures()[signature]
    no_rows = {name: tf.zeros([0], spec.dtype) for name, spec in form.inputs.items()}
    assert all(output.shape[0] == 0 for output in form.function(**no_rows).values())
    for client in clients(running, CARD.name):
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
