"""`python -m zoo.serving`: TensorFlow Serving's command line, in this process and in one of its own."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import grpc
import pytest

from zoo.serving.__main__ import main
from zoo.serving.client import RestClient

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def signals(monkeypatch):
    """What SIGINT and SIGTERM do in the tests' own process stays as it is."""
    monkeypatch.setattr("zoo.serving.__main__.signal.signal", lambda number, handler: None)


def test_the_version(capsys):
    assert main(["--version"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("TensorFlow ModelServer: ")
    assert lines[1].startswith("TensorFlow Library: 2.")


def test_help(capsys):
    assert main(["--help"]) == 0
    assert capsys.readouterr().out.startswith("usage: python -m zoo.serving\nFlags:\n\t--")


def test_a_bad_value_shows_the_usage(capsys):
    assert main(["--port=abc"]) == 255
    shown = capsys.readouterr()
    assert shown.out.startswith("usage: ")
    assert "Couldn't interpret value abc for flag port." in shown.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "INVALID_ARGUMENT: Both server_options.model_base_path and server_options.model_config_file"),
        (["--model_base_path=here"], "INVALID_ARGUMENT: Expected model default to have an absolute path"),
        (["--model_base_path=/nowhere"], "model 'default' has no version that can be served: "),
        (["--model_config_file=/nowhere"], "[Errno 2] No such file"),
        (
            ["--model_base_path=/nowhere", "--batching_parameters_file=x"],
            "INVALID_ARGUMENT: server_options.batching_parameters_file is set without",
        ),
        (["--model_base_path=/nowhere", "--ssl_config_file=x"], "UNIMPLEMENTED: This server cannot encrypt"),
    ],
)
def test_why_it_did_not_start(capsys, arguments, message):
    assert main([*arguments, "--port=0"]) == 255
    assert capsys.readouterr().out.startswith(f"Failed to start server. Error: {message}")


def test_what_is_unknown_is_shown_and_passed_over(capsys):
    assert main(["--nonsense=1", "folder", "--port=0"]) == 255
    first, usage, *_, last = capsys.readouterr().out.splitlines()
    assert first == "unknown argument: --nonsense=1"
    assert usage == "usage: python -m zoo.serving"
    assert last.startswith("Failed to start server. Error: INVALID_ARGUMENT: Both")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def start(tmp_path):
    """Starts a process and returns it when it listens."""
    processes = []

    def begin(*flags):
        with (tmp_path / "log").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "zoo.serving", *flags],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=ROOT,
                env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
            )
        processes.append(process)
        lines = [process.stdout.readline() for flag in flags if "port=" in flag]
        assert all(line.endswith(" ...\n") for line in lines), (tmp_path / "log").read_text()
        return process

    yield begin
    for process in processes:
        process.kill()
        process.wait()
        process.stdout.close()


def wait_for(condition, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.05)


def write_config(path, *models):
    entries = "\n".join(
        f'config {{ name: "{model.name}" base_path: "{model}" model_platform: "tensorflow" }}'
        for model in models
    )
    path.write_text(f"model_config_list {{ {entries} }}")


def test_a_process_with_the_flags_of_the_real_server(start, models_folder, tmp_path):
    """Config file and its re-reading, REST with CORS and metrics, gRPC; unknown flags; a graceful end."""
    config, monitoring = tmp_path / "models.config", tmp_path / "monitoring.config"
    write_config(config, models_folder / "texts")
    monitoring.write_text("prometheus_config { enable: true }")
    port, rest_port = free_port(), free_port()
    process = start(
        f"--port={port}",
        f"--rest_api_port={rest_port}",
        f"--model_config_file={config}",
        "--model_config_file_poll_wait_seconds=1",
        f"--monitoring_config_file={monitoring}",
        "--rest_api_enable_cors_support",
        "--enable_batching=true",
        "--tensorflow_session_parallelism=2",
    )
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        grpc.channel_ready_future(channel).result(timeout=10)
    url = f"http://127.0.0.1:{rest_port}"
    with urllib.request.urlopen(f"{url}/monitoring/prometheus/metrics") as page:
        assert page.headers["access-control-allow-origin"] == "*"
    write_config(config, models_folder / "texts", models_folder / "toy")
    with RestClient(url, model="toy") as toy:
        toy.wait_until_available(20)
        assert toy.answer(["a"]) == ["A"]
    config.write_text("model_config_list {")
    wait_for(lambda: "the config file is not taken over" in (tmp_path / "log").read_text())
    assert_it_ends_gracefully(process, url)


def assert_it_ends_gracefully(process, url):
    """A request that was accepted is answered after SIGTERM, and then the process ends with 0."""
    with RestClient(url, model="texts") as rest:
        steps = steps_for(rest, seconds=1.5)
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=20)
    body = json.dumps({"signature_name": "slow", "instances": [steps]})
    connection.request("POST", "/v1/models/texts:predict", body)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    response = connection.getresponse()
    assert response.status == 200
    assert json.loads(response.read()) == {"predictions": [steps]}
    connection.close()
    assert process.wait(20) == 0


def steps_for(client, seconds):
    """How far the slow signature counts in about so many seconds."""
    client.predict({"steps": [10]}, signature="slow")
    started = time.perf_counter()
    client.predict({"steps": [20_000]}, signature="slow")
    return int(20_000 * seconds / (time.perf_counter() - started))
