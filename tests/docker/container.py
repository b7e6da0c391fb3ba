"""TensorFlow Serving itself, in the image that deploys, answers as the export says it should.

`make test-docker` runs the files of this folder; `make test` does not, since it needs a Docker engine, the
base image and a model in saved_models/dates.
"""

import json
from pathlib import Path

import pytest
import yaml

from zoo.serving.client import GrpcClient, RestClient, ServingError

ROOT = Path(__file__).parents[2]
MODEL = "dates"
COMPOSE = yaml.safe_load((ROOT / "serving" / "compose.yaml").read_text(encoding="utf-8"))
FLAGS = {"the image alone": [], "as in compose.yaml": COMPOSE["services"]["models"]["command"]}


@pytest.fixture(scope="module")
def export(engine):
    """The version that TensorFlow Serving will choose: the highest."""
    versions = [path for path in (ROOT / "saved_models" / MODEL).glob("*") if path.name.isdigit()]
    if not versions:
        pytest.exit(f"There is no model in saved_models/{MODEL}: `make demo` trains and exports it.", 1)
    return max(versions, key=lambda path: int(path.name))


@pytest.fixture(scope="module")
def golden(export):
    examples = json.loads((export / "assets.extra" / "golden.json").read_text(encoding="utf-8"))
    return [example for example in examples if isinstance(example["inputs"]["text"], str)]


@pytest.fixture(scope="module", params=FLAGS.values(), ids=FLAGS.keys())
def container(request, export, serving):
    with serving(flags=request.param, models=(MODEL,)) as found:
        yield found


@pytest.fixture(scope="module", params=["rest", "grpc"])
def client(request, container):
    clients = {
        "rest": lambda: RestClient(container.rest_url, model=MODEL),
        "grpc": lambda: GrpcClient(container.grpc_target, model=MODEL),
    }
    with clients[request.param]() as client:
        yield client


def of(golden, signature):
    """Inputs and outputs of the golden examples of a signature."""
    found = [(each["inputs"], each["outputs"]) for each in golden if each["signature"] == signature]
    assert found
    return [inputs for inputs, _ in found], [outputs for _, outputs in found]


def test_the_version_that_is_served_is_the_highest(client, export):
    assert [(status.version, status.state) for status in client.status()] == [(int(export.name), "AVAILABLE")]


def test_the_default_answers_are_golden(client, golden):
    inputs, outputs = of(golden, "serving_default")
    answers = client.answer([each["text"] for each in inputs])
    assert answers == [each["text"] for each in outputs]


def test_greedy_answers_are_golden(client, golden):
    inputs, outputs = of(golden, "greedy")
    answers = client.greedy([each["text"] for each in inputs])
    assert [answer.text for answer in answers] == [each["text"] for each in outputs]
    assert [answer.length for answer in answers] == [each["length"] for each in outputs]
    assert [answer.score for answer in answers] == pytest.approx(
        [each["score"] for each in outputs], abs=1e-5
    )


def test_beams_are_golden(client, golden):
    inputs, outputs = of(golden, "beam")
    for answer, expected in zip(client.beam([each["text"] for each in inputs]), outputs, strict=True):
        assert answer[0].text == expected["text"][0]
        assert answer[0].score == pytest.approx(expected["score"][0], abs=1e-5)


def test_alignments_are_golden(client, golden):
    inputs, outputs = of(golden, "align")
    texts, targets = ([each[name] for each in inputs] for name in ("text", "target"))
    for answer, expected in zip(client.align(texts, targets), outputs, strict=True):
        rows, columns = len(answer.target_tokens), len(answer.source_tokens)
        assert answer.target_tokens == expected["target_tokens"][:rows]
        assert answer.source_tokens == expected["source_tokens"][:columns]
        for row, expected_row in zip(answer.weights, expected["alignment"], strict=False):
            assert row == pytest.approx(expected_row[:columns], abs=1e-5)


def test_an_unknown_model_is_not_found(container):
    with (
        RestClient(container.rest_url, model="nothing") as client,
        pytest.raises(ServingError, match="NOT_FOUND"),
    ):
        client.answer(["x"])
