"""The checks for a GPU do not pass where there is none."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_no_gpu_is_said_and_is_no_pass():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "tests/gpu/cudnn.py"],
        cwd=ROOT,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "TensorFlow finds no GPU on this machine. Nothing was checked of:" in done.stdout
    for test in ("test_cudnn_equals_the_scan", "test_mixed_precision", "test_a_recipe_trains"):
        assert test in done.stdout
    assert "passed" not in done.stdout
