"""A server is killed under load and started again: clients with retries lose nothing."""

import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from zoo.serving.client import GrpcClient, RestClient, Retries

ROOT = Path(__file__).parents[2]
SECONDS = 60.0
PATIENT = Retries(most=1000, first_pause=0.05, longest_pause=0.2)


@pytest.fixture
def ports():
    with socket.socket() as first, socket.socket() as second:
        for probe in (first, second):
            probe.bind(("127.0.0.1", 0))
        return first.getsockname()[1], second.getsockname()[1]


@pytest.fixture
def start(models_folder, ports):
    """Starts the server, always on the same ports."""
    grpc_port, rest_port = ports
    command = [sys.executable, "-m", "zoo.serving", f"--port={grpc_port}", f"--rest_api_port={rest_port}"]
    command += ["--model_name=toy", f"--model_base_path={models_folder / 'toy'}"]
    started = []

    def start():
        environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
        started.append(subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


class Asker(threading.Thread):
    """Asks one question after the other, and keeps what went wrong."""

    def __init__(self, client):
        super().__init__(daemon=True)
        self.client, self.answered, self.wrong, self.told = client, 0, [], threading.Event()

    def run(self):
        while not self.told.is_set():
            text = f"text {self.answered}"
            try:
                if self.client.answer([text]) != [text.upper()]:
                    self.wrong.append(text)
            except Exception as error:
                self.wrong.append(error)
            self.answered += 1


def until_all_answer_more(askers, than):
    deadline = time.monotonic() + SECONDS
    while any(asker.answered < more + 5 for asker, more in zip(askers, than, strict=True)):
        assert time.monotonic() < deadline, [asker.answered for asker in askers]
        time.sleep(0.02)


def test_nothing_is_lost_where_a_server_is_killed_and_started_again(start, ports):
    grpc_port, rest_port = ports
    server = start()
    options = {"model": "toy", "timeout": SECONDS, "retries": PATIENT}
    clients = [
        RestClient(f"http://127.0.0.1:{rest_port}", **options),
        GrpcClient(f"127.0.0.1:{grpc_port}", **options),
    ]
    askers = [Asker(client) for client in clients for _ in range(2)]
    for asker in askers:
        asker.start()
    until_all_answer_more(askers, [0] * len(askers))

    server.kill()
    server.wait()
    before = [asker.answered for asker in askers]
    start()
    until_all_answer_more(askers, before)

    for asker in askers:
        asker.told.set()
    for asker in askers:
        asker.join(SECONDS)
    for client in clients:
        client.close()
    assert [asker.wrong for asker in askers] == [[]] * len(askers)
