"""TensorFlow Serving itself, in the image that deploys, answers as the export says it should.

`make test-docker` runs this file; `make test` does not, since it needs a Docker engine, the base image and a
model in saved_models/dates.
"""

import json
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from zoo.serving.client import GrpcClient, RestClient, ServingError

ROOT = Path(__file__).parents[2]
IMAGE = "seq2seq-zoo:test"
START_SECONDS = 120
MODEL = "dates"


def docker(*arguments):
    return subprocess.run(["docker", *arguments], cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module", autouse=True)
def engine():
    if shutil.which("docker") is None or docker("info").returncode != 0:
        pytest.exit(
            "No Docker engine answers `docker info`: start one, then run `make test-docker` again.", 1
        )


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


@pytest.fixture(scope="module")
def ports(export):
    """Where the container listens, REST and gRPC."""
    built = docker("build", "--tag", IMAGE, ".")
    assert built.returncode == 0, built.stderr
    rest, grpc = free_port(), free_port()
    publish = ("--publish", f"127.0.0.1:{rest}:8501", "--publish", f"127.0.0.1:{grpc}:8500")
    started = docker("run", "--detach", "--rm", *publish, IMAGE)
    assert started.returncode == 0, started.stderr
    container = started.stdout.strip()
    try:
        wait_until_available(container, rest)
        yield rest, grpc
    finally:
        docker("stop", container)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_available(container, port):
    deadline = time.monotonic() + START_SECONDS
    with RestClient(f"http://127.0.0.1:{port}", model=MODEL) as client:
        while not client.is_available():
            log = docker("logs", container)
            assert time.monotonic() < deadline, f"It does not answer. Its log:\n{log.stdout}{log.stderr}"
            time.sleep(0.2)


@pytest.fixture(scope="module", params=["rest", "grpc"])
def client(request, ports):
    rest, grpc = ports
    clients = {
        "rest": lambda: RestClient(f"http://127.0.0.1:{rest}", model=MODEL),
        "grpc": lambda: GrpcClient(f"127.0.0.1:{grpc}", model=MODEL),
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


def test_an_unknown_model_is_not_found(ports):
    with (
        RestClient(f"http://127.0.0.1:{ports[0]}", model="nothing") as client,
        pytest.raises(ServingError, match="NOT_FOUND"),
    ):
        client.answer(["x"])
