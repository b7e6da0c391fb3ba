"""Two devices train as one does, and two processes too."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
QUIET = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}


@pytest.mark.parametrize("rate", [(), ("1.0",)], ids=["teacher forcing", "its own tokens"])
def test_two_devices_train_as_one(rate):
    """Batches of seven rows, which do not share out evenly, and of unequal numbers of tokens."""
    command = [sys.executable, str(HERE / "mirrored_training.py"), *rate]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=QUIET)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["apart"] < 1e-5
    for name, values in found["one"].items():
        assert found["two"][name] == pytest.approx(values, abs=1e-5), name


def start(result, folder, where="never", *, workers=(), index=0):
    """A process that trains, alone or as one of several."""
    task = {"cluster": {"worker": list(workers)}, "task": {"type": "worker", "index": index}}
    environment = {**QUIET, "TF_CONFIG": json.dumps(task)} if workers else QUIET
    command = [sys.executable, str(HERE / "worker_training.py"), str(result), str(folder), where]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def free_addresses(count):
    """Addresses on this machine that nobody listens on."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]


def test_two_workers_train_as_one_even_if_one_of_them_dies(tmp_path):
    """The second worker is killed in the second epoch; both are then started again with the same command."""
    alone = start(tmp_path / "alone.npz", tmp_path / "alone")
    _, said = alone.communicate(timeout=300)
    assert alone.returncode == 0, said[-3000:]

    folder = tmp_path / "kept"
    workers = free_addresses(2)
    dying = start(tmp_path / "1.npz", folder, "batch:9", workers=workers, index=1)
    left = start(tmp_path / "0.npz", folder, workers=workers)
    try:
        dying.communicate(timeout=300)
        assert dying.returncode == -signal.SIGKILL
    finally:
        left.kill()  # whoever starts a group of workers ends it when one is lost
        left.communicate()

    workers = free_addresses(2)
    group = [start(tmp_path / f"{index}.npz", folder, workers=workers, index=index) for index in (0, 1)]
    for worker in group:
        _, said = worker.communicate(timeout=300)
        assert worker.returncode == 0, said[-3000:]
    with np.load(tmp_path / "alone.npz") as expected:
        for index in (0, 1):
            with np.load(tmp_path / f"{index}.npz") as found:
                for name in expected.files:
                    np.testing.assert_allclose(found[name], expected[name], atol=1e-5, err_msg=name)
