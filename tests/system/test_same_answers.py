"""An export answers the same everywhere: in Python, in a process with TensorFlow only, over REST and gRPC.

The model is small and was never trained; its answers are nonsense, but they must be the same nonsense.
"""

import json
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tensorflow as tf
import typer.testing
from compat.make_export import CARD, QUESTIONS, tiny_predictor
from served_answers import ask, assert_same, assert_same_but_for_padding, clients, knobs_of

import zoo.export
from zoo.cli import app
from zoo.serving.client import Alignment, Client, GrpcClient, Hypothesis, Scored
from zoo.serving.engines import serve
from zoo.serving.loader import Servable
from zoo.serving.server import Server
from zoo.serving.settings import Settings

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


TYPED = {
    "serving_default": lambda client: client.answer(TEXTS),
    "greedy": lambda client: client.greedy(TEXTS),
    "beam": lambda client: client.beam(TEXTS),
    "generate": lambda client: client.generate(TEXTS, **knobs_of("generate", len(TEXTS))),
    "sample": lambda client: client.sample(TEXTS, **knobs_of("sample", len(TEXTS))),
    "score": lambda client: client.score(TEXTS, [TARGETS["score"]] * len(TEXTS)),
    "align": lambda client: client.align(TEXTS),
}
"""The client's own call of each signature, asked as `inputs_of` asks."""


def as_one(rows):
    return [Hypothesis(*row) for row in columns(rows, "text", "score", "length", "score")]


def as_reached(rows):
    """Places of a beam that no hypothesis reached have this score, and clients leave them out."""
    return [
        [Hypothesis(*one) for one in zip(*row, strict=True) if one[1] != -1e9]
        for row in columns(rows, "text", "score", "length", "ranked_score")
    ]


def as_scored(rows):
    return [
        Scored(score, [token for token in tokens if token], scores[: sum(map(bool, tokens))])
        for score, tokens, scores in columns(rows, "score", "tokens", "token_scores")
    ]


def as_aligned(rows):
    aligned = []
    for read, written, weights in columns(rows, "source_tokens", "target_tokens", "alignment"):
        read, written = ([token for token in tokens if token] for tokens in (read, written))
        weights = np.array(weights)[: len(written), : len(read)].tolist()
        aligned.append(Alignment(read, written, weights))
    return aligned


def columns(rows, *names):
    return zip(*(rows[name] for name in names), strict=True)


AS_TYPED = {
    "serving_default": lambda rows: rows["text"],
    "greedy": as_one,
    "beam": as_reached,
    "generate": as_reached,
    "sample": as_one,
    "score": as_scored,
    "align": as_aligned,
}
"""From the rows of a predictor to what a client's call gives, without padding."""


def assert_alike(found, expected, where):
    """The same types and texts, and numbers to 1e-5."""
    assert type(found) is type(expected), where
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected), where
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_alike(one, other, f"{where}[{place}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, abs=1e-5, rel=1e-5), where
    else:
        assert found == expected, where


def test_every_call_of_a_client_for_texts_is_below():
    """A new one has to be compared too; tags, classes and numbers are those of other models."""
    calls = {name for name, call in vars(Client).items() if not name.startswith("_") and callable(call)}
    others = {"predict", "status", "metadata", "close", "is_available", "wait_until_available"}
    assert calls - others - {"tag", "tag_values", "classify", "regress"} == {
        "answer" if signature == "serving_default" else signature for signature in TYPED
    }


@pytest.mark.parametrize("signature", SIGNATURES)
def test_the_calls_of_clients_give_the_answers_of_before_the_export(signature, before_export, running):
    expected = AS_TYPED[signature](before_export[signature])
    assert len(expected) == len(TEXTS)
    for client in clients(running, CARD.name):
        found = TYPED[signature](client)
        assert_alike(found, expected, f"{type(client).__name__} {signature}")


def test_one_value_of_a_knob_is_meant_for_every_text(predictor, running):
    given = {"width": 3, "length_penalty": 1.0, "min_length": 2, "max_length": 6, "prefix": "20"}
    asked = {"text": list(QUESTIONS), **{name: [value] * len(QUESTIONS) for name, value in given.items()}}
    expected = AS_TYPED["generate"](ask(predictor.signatures()["generate"], asked))
    assert {len(row) for row in expected} == {3}
    assert all(one.text.startswith("20") and one.length <= 6 for row in expected for one in row)
    for client in clients(running, CARD.name):
        assert_alike(client.generate(QUESTIONS, **given), expected, type(client).__name__)


def test_given_targets_are_aligned_as_before_the_export(predictor, running):
    targets = ["2019-02-15", "", "1", "2-2"]
    asked = {"text": list(QUESTIONS), "target": targets}
    expected = AS_TYPED["align"](ask(predictor.signatures()["align"], asked))
    assert expected[2].target_tokens == ["1", "</s>"]
    for client in clients(running, CARD.name):
        assert_alike(client.align(QUESTIONS, targets), expected, type(client).__name__)


ASKED_BY_COMMAND = {
    "generate": {"width": 3, "length_penalty": 1.0, "min_length": 2, "max_length": 6, "prefix": "20"},
    "sample": {"seed": 3, "temperature": 1.5, "top_k": 4, "top_p": 0.95},
}


@pytest.mark.parametrize("protocol", ["rest", "grpc"])
@pytest.mark.parametrize("search", ASKED_BY_COMMAND)
def test_the_command_line_gets_the_answers_of_before_the_export(search, protocol, predictor, running):
    texts, knobs = ["1 May", "2 May"], ASKED_BY_COMMAND[search]
    asked = {"text": texts, **{name: [value] * len(texts) for name, value in knobs.items()}}
    expected = AS_TYPED[search](ask(predictor.signatures()[search], asked))
    best_first = [one for row in expected for one in (row if search == "generate" else [row])]
    assert all(one.text for one in best_first), "of an empty answer the table has a word"

    port = {"rest": running.rest_url, "grpc": running.grpc_target}[protocol].rpartition(":")[2]
    options = [f"--{name.replace('_', '-')}={value}" for name, value in knobs.items()]
    words = ["ask", *texts, "--model", CARD.name, "--search", search, "--over", protocol, "--port", port]
    result = typer.testing.CliRunner().invoke(app, [*words, *options])
    assert result.exit_code == 0, result.output
    cells = [[cell.strip() for cell in line.split("│")] for line in result.output.splitlines()]
    shown = [row[3:-1] for row in cells if len(row) > 1]
    columns = ("text", "score", "length", "ranked_score")[: 4 if search == "generate" else 3]
    assert {len(row) for row in shown} == {len(columns)}
    found = dict(zip(columns, zip(*shown, strict=True), strict=True))
    for name, cells_below in found.items():
        expected_below = [getattr(one, name) for one in best_first]
        if name in ("score", "ranked_score"):
            assert [float(cell) for cell in cells_below] == pytest.approx(expected_below, abs=1e-4)
        else:
            assert list(cells_below) == [str(value) for value in expected_below]


DIFFERENT = {
    "generate": [
        {},
        {"width": 1},
        {"width": 2, "length_penalty": 1.0},
        {"length_penalty": -2.0},
        {"min_length": 5},
        {"max_length": 2},
        {"prefix": "20"},
        {"width": 3, "length_penalty": 0.6, "min_length": 3, "max_length": 7, "prefix": "1"},
    ],
    "sample": [{"seed": seed} for seed in range(6)]
    + [{"seed": 1, "temperature": 0.5}, {"seed": 1, "top_k": 2}, {"seed": 1, "top_p": 0.5}],
}
"""Knobs of requests for one text, so that only the knobs can tell their answers apart."""


@pytest.fixture(scope="module")
def batching(export, tmp_path_factory):
    """A server that runs waiting requests together, one run at a time."""
    config = tmp_path_factory.mktemp("batching") / "batching.config"
    config.write_text("max_batch_size { value: 32 } num_batch_threads { value: 1 }")
    settings = Settings(enable_batching=True, batching_parameters_file=str(config), enable_model_warmup=False)
    with Server({CARD.name: export.parent}, grpc_port=0, rest_port=0, settings=settings) as server:
        yield server


class Gate:
    """Holds up the runs of a server; knows how many rows each had.

    Attributes:
        rows: of each run that was begun.
        open: while it is not set, runs wait.
    """

    def __init__(self, monkeypatch):
        self.rows, self.open = [], threading.Event()
        run = Servable.run

        def run_once_open(servable, signature, inputs, outputs, **options):
            self.rows.append(len(inputs["text"]))
            assert self.open.wait(30)
            return run(servable, signature, inputs, outputs, **options)

        monkeypatch.setattr(Servable, "run", run_once_open)


def wait_for(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.parametrize("signature", DIFFERENT)
def test_requests_with_other_knobs_share_a_run_and_get_what_each_gets_alone(signature, batching, monkeypatch):
    """The first holds up the server until all others wait, so these run together, in one batch."""
    knobs, waiting = DIFFERENT[signature], batching._batcher._waiting
    for client in clients(batching, CARD.name):
        ask_for = lambda own, client=client: getattr(client, signature)([QUESTIONS[0]], **own)  # noqa: E731
        alone = [ask_for(own) for own in knobs]
        assert len({str(answer) for answer in alone}) > len(knobs) / 2, "knobs have to show in the answers"
        with monkeypatch.context() as patched, ThreadPoolExecutor(1 + len(knobs)) as pool:
            gate = Gate(patched)
            first = pool.submit(ask_for, knobs[-1])
            try:
                wait_for(lambda gate=gate: gate.rows == [1])
                others = [pool.submit(ask_for, own) for own in knobs]
                wait_for(lambda: waiting and waiting[0].batches[0].rows == len(knobs))
            finally:
                gate.open.set()
            together = [one.result(30) for one in others]
            assert_alike(first.result(30), alone[-1], "the first")
        assert gate.rows == [1, len(knobs)]
        for own, found, expected in zip(knobs, together, alone, strict=True):
            assert_alike(found, expected, f"{type(client).__name__} {signature} {own}")
