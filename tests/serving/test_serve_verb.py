"""`zoo serve` as it is typed: what it prints can be used, and Ctrl-C ends it."""

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from urllib.parse import urlsplit

import pytest
from interruptible import interruptible

ENGINE = r"Engine: (\w+), since (.+)\.\n"
MODEL = r"^(\w+): (http://\S+:predict)$"
GRPC = r"^gRPC: (\S+:\d+)$"


@pytest.fixture
def serving(models_folder):
    """The process, and what it printed up to where it waits."""
    command = [sys.executable, "-m", "zoo", "serve", str(models_folder), "--engine", "embedded"]
    with subprocess.Popen(
        interruptible([*command, "--rest-port", "0", "--grpc-port", "0"]),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("Ctrl-C stops."):
                break
        yield process, "".join(lines)
        process.kill()


def ask(url, document):
    with urllib.request.urlopen(url, json.dumps(document).encode(), timeout=20) as response:
        return json.load(response)


def is_open(address):
    with socket.socket() as probe:
        return probe.connect_ex(address) == 0


def test_what_is_printed_can_be_asked_until_ctrl_c(serving, models_folder):
    process, printed = serving
    engine, reason = re.search(ENGINE, printed).groups()
    assert (engine, reason) == ("embedded", "it was asked for")
    urls = dict(re.findall(MODEL, printed, re.MULTILINE))
    assert sorted(urls) == sorted(path.name for path in models_folder.iterdir())
    assert ask(urls["toy"], {"signature_name": "greedy", "instances": ["abc"]}) == {
        "predictions": [{"text": "ABC", "score": -3.0, "length": 3}]
    }
    host, port = re.search(GRPC, printed, re.MULTILINE)[1].split(":")
    assert is_open((host, int(port)))

    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 0
    assert not is_open((host, int(port)))
    for url in urls.values():
        assert not is_open((urlsplit(url).hostname, urlsplit(url).port))
