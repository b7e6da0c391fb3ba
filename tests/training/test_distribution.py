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
from worker_training import DIGITS, trained

from zoo.data.records import write_shards

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


def start(result, folder, where="never", *shards, workers=(), index=0):
    """A process that trains, alone or as one of several."""
    task = {"cluster": {"worker": list(workers)}, "task": {"type": "worker", "index": index}}
    environment = {**QUIET, "TF_CONFIG": json.dumps(task)} if workers else QUIET
    command = [sys.executable, str(HERE / "worker_training.py"), str(result), str(folder), where]
    command += map(str, shards)
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

    with np.load(tmp_path / "alone.npz") as expected:
        for found in together(tmp_path, folder):
            for name in expected.files:
                np.testing.assert_allclose(found[name], expected[name], atol=1e-5, err_msg=name)


def together(tmp_path, folder, *shards):
    """What each of two workers ends with: weights and the figures of all epochs."""
    workers = free_addresses(2)
    results = [tmp_path / f"{index}.npz" for index in (0, 1)]
    group = [
        start(result, folder, "never", *shards, workers=workers, index=index)
        for index, result in enumerate(results)
    ]
    for worker in group:
        _, said = worker.communicate(timeout=300)
        assert worker.returncode == 0, said[-3000:]
    for result in results:
        with np.load(result) as content:
            yield dict(content)


def test_two_workers_train_on_shards_as_one(tmp_path):
    """40 pairs in batches of at most 7, which do not share out evenly: each comes once an epoch."""
    targets = ["0123456"[: n % 7] for n in range(40)]
    shards = tmp_path / "shards"
    pairs = [(target[::-1], target) for target in targets]
    write_shards(shards, pairs, DIGITS, DIGITS, shards=3, max_source_length=9, max_length=9)
    model, fitted = trained(shards)
    assert fitted.history["tokens"] == [sum(len(target) + 1 for target in targets)] * 3
    for found in together(tmp_path, tmp_path / "kept", shards):
        for number, weight in enumerate(model.get_weights()):
            np.testing.assert_allclose(found[f"arr_{number}"], weight, atol=1e-5)
        # Not the loss of an epoch: Keras takes the mean by the rows of the batches, those of padding too.
        for name in ("tokens", "token_accuracy"):
            np.testing.assert_allclose(found[name], fitted.history[name], atol=1e-5, err_msg=name)
