"""Two devices train as one does, and two processes too."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
QUIET = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}


def test_two_devices_train_as_one():
    """Batches of seven rows, which do not share out evenly, and of unequal numbers of tokens."""
    command = [sys.executable, str(HERE / "mirrored_training.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=QUIET)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["apart"] < 1e-5
    for name, values in found["one"].items():
        assert found["two"][name] == pytest.approx(values, abs=1e-5), name
