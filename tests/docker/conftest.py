"""Containers for the tests of this folder; without a Docker engine they end at once and say so."""

import contextlib
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from zoo.serving.client import RestClient

ROOT = Path(__file__).parents[2]
IMAGE = "seq2seq-zoo:test"
START_SECONDS = 120


class Container(NamedTuple):
    """A server in a container, with what the tests of the clients ask of a server."""

    rest_port: int
    grpc_port: int

    @property
    def rest_url(self):
        return f"http://127.0.0.1:{self.rest_port}"

    @property
    def grpc_target(self):
        return f"127.0.0.1:{self.grpc_port}"


def docker(*arguments):
    return subprocess.run(["docker", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session", autouse=True)
def engine():
    if shutil.which("docker") is None or docker("info").returncode != 0:
        pytest.exit(
            "No Docker engine answers `docker info`: start one, then run `make test-docker` again.", 1
        )


@pytest.fixture(scope="session")
def image(engine):
    built = docker("build", "--tag", IMAGE, ".")
    assert built.returncode == 0, built.stderr
    return IMAGE


@pytest.fixture(scope="session")
def serving(image):
    """Starts a container: options of `docker run`, flags of the server, and the models to wait for."""

    @contextlib.contextmanager
    def serving(*options, flags=(), models):
        found = Container(_free_port(), _free_port())
        publish = ("-p", f"127.0.0.1:{found.rest_port}:8501", "-p", f"127.0.0.1:{found.grpc_port}:8500")
        started = docker("run", "--detach", "--rm", *publish, *options, image, *flags)
        assert started.returncode == 0, started.stderr
        name = started.stdout.strip()
        try:
            for model in models:
                _wait_until_available(name, found, model)
            yield found
        finally:
            docker("stop", name)

    return serving


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_available(name, container, model):
    deadline = time.monotonic() + START_SECONDS
    with RestClient(container.rest_url, model=model) as client:
        while not client.is_available():
            log = docker("logs", name)
            assert time.monotonic() < deadline, f"It does not answer. Its log:\n{log.stdout}{log.stderr}"
            time.sleep(0.2)
