import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import grpc
import pytest
from tiny_models import half_plus_two

from zoo.serving.__main__ import main
from zoo.serving.client import GrpcClient, RestClient, ServingError
from zoo.serving.loader import Servable
from zoo.serving.server import Server

ROOT = Path(__file__).parents[2]


def wait_for(condition, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.02)


def test_it_tells_which_free_ports_it_took(server):
    assert server.rest_port
    assert server.grpc_port
    assert server.rest_url == f"http://127.0.0.1:{server.rest_port}"
    assert server.grpc_target == f"127.0.0.1:{server.grpc_port}"


@pytest.mark.parametrize("port", ["rest_port", "grpc_port"])
def test_a_port_that_is_taken(models_folder, port):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        ports = {"rest_port": 0, "grpc_port": 0, port: holder.getsockname()[1]}
        with pytest.raises(OSError, match=rf"127\.0\.0\.1:{ports[port]} .*choose another port, or 0"):
            Server({"half": models_folder / "half"}, **ports).start()


def test_a_model_without_a_good_version(tmp_path):
    (tmp_path / "half" / "1").mkdir(parents=True)
    with pytest.raises(ValueError, match=r"model 'half' has no version that can be served: .*Remedy"):
        Server({"half": tmp_path / "half"}, grpc_port=0, rest_port=0).start()


@pytest.mark.parametrize("name", ["half", "nowhere"])
def test_a_model_without_any_version(tmp_path, name):
    (tmp_path / "half").mkdir()
    with pytest.raises(ValueError, match=f"expected .*{name}/1 with a SavedModel"):
        Server({name: tmp_path / name}, grpc_port=0, rest_port=0).start()


class Load(threading.Thread):
    """Asks one question after another until it is told to stop, and keeps the answers and the failures."""

    def __init__(self, client):
        super().__init__(daemon=True)
        self.client = client
        self.answers = []
        self.failures = []
        self.enough = threading.Event()

    def run(self):
        while not self.enough.is_set():
            try:
                self.answers.append(self.client.predict({"x": [0.0]})["y"][0])
            except Exception as error:
                self.failures.append(error)

    def end(self):
        self.enough.set()
        self.join()
        self.client.close()


def test_versions_change_under_requests_without_a_failure(tmp_path):
    """New ones, a broken one, one that goes away: each request gets an answer, of a version that was good."""
    base = tmp_path / "half"
    base.mkdir()
    half_plus_two(base / "1", offset=1.0)
    with Server({"half": base}, grpc_port=0, rest_port=0, poll_seconds=0.05) as server:
        rest = RestClient(server.rest_url, model="half")
        loads = [
            Load(RestClient(server.rest_url, model="half")),
            Load(GrpcClient(server.grpc_target, model="half")),
        ]
        for load in loads:
            load.start()
        wait_for(lambda: all(load.answers for load in loads))
        half_plus_two(base / "2", offset=2.0)
        wait_for(lambda: all(load.answers[-1] == 2.0 for load in loads))
        (half_plus_two(base / "3", offset=3.0) / "variables" / "variables.index").unlink()
        wait_for(lambda: rest.status()[0][:2] == (3, "END"))
        half_plus_two(base / "4", offset=4.0)
        wait_for(lambda: all(load.answers[-1] == 4.0 for load in loads))
        shutil.rmtree(base / "4")
        wait_for(lambda: all(load.answers[-1] == 2.0 for load in loads))
        for load in loads:
            load.end()
        rest.close()
    for load in loads:
        assert load.failures == []
        assert set(load.answers) == {1.0, 2.0, 4.0}


def test_stopping_answers_what_was_accepted_and_refuses_the_rest(models_folder, monkeypatch):
    run = Servable.run
    accepted, may_go_on = threading.Semaphore(0), threading.Event()

    def run_when_told(*arguments, **options):
        accepted.release()
        assert may_go_on.wait(20)
        return run(*arguments, **options)

    monkeypatch.setattr(Servable, "run", run_when_told)
    server = Server({"toy": models_folder / "toy"}, grpc_port=0, rest_port=0).start()
    clients = [RestClient(server.rest_url, model="toy"), GrpcClient(server.grpc_target, model="toy")]
    answers = []
    askers = [
        threading.Thread(target=lambda client=client: answers.append(client.answer(["a"])))
        for client in clients
    ]
    for asker in askers:
        asker.start()
    for _ in askers:
        assert accepted.acquire(timeout=20)
    threading.Timer(0.3, may_go_on.set).start()
    server.stop()
    for asker in askers:
        asker.join()
    assert answers == [["A"], ["A"]]
    assert server.has_stopped
    for client in clients:
        with pytest.raises(ServingError, match="UNAVAILABLE"):
            client.answer(["a"])
        client.close()
    server.stop()


def steps_for(client, seconds):
    """How far the slow signature counts in about so many seconds."""
    client.predict({"steps": [10]}, signature="slow")
    started = time.perf_counter()
    client.predict({"steps": [20_000]}, signature="slow")
    return int(20_000 * seconds / (time.perf_counter() - started))


@pytest.fixture
def process(models_folder):
    """The server in a process of its own, from its command line."""
    command = [sys.executable, "-m", "zoo.serving", str(models_folder), "--engine", "embedded"]
    started = subprocess.Popen(
        [*command, "--grpc-port", "0", "--rest-port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    yield started
    started.kill()
    started.wait()
    started.stdout.close()


def test_a_process_of_its_own_ends_gracefully_on_sigterm(process):
    assert process.stdout.readline() == "embedded, since it was asked for\n"
    _, url, _, target = process.stdout.readline().split()
    rest = RestClient(url, model="texts")
    with grpc.insecure_channel(target) as channel:
        grpc.channel_ready_future(channel).result(timeout=10)
    steps = steps_for(rest, seconds=1.5)
    connection = http.client.HTTPConnection(*url.removeprefix("http://").split(":"), timeout=20)
    body = json.dumps({"signature_name": "slow", "instances": [steps]})
    connection.request("POST", "/v1/models/texts:predict", body)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    response = connection.getresponse()
    assert response.status == 200
    assert json.loads(response.read()) == {"predictions": [steps]}
    connection.close()
    rest.close()
    assert process.wait(20) == 0


def test_the_command_line_explains_a_failure(tmp_path):
    with pytest.raises(SystemExit, match=f"error: no models below {tmp_path}: expected {tmp_path}/NAME/1"):
        main(tmp_path, engine="embedded")
