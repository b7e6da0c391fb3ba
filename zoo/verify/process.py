"""Checking an export in a process that has seen nothing of the zoo's models."""

import os
import subprocess
import sys
from pathlib import Path

from zoo.verify.report import Check, Report

__all__ = ["verify_in_fresh_process"]

TIMEOUT = 1800
"""Seconds after which a check is given up."""


def verify_in_fresh_process(path: Path) -> Report:
    """Check an export in a new process that imports TensorFlow, but neither Keras nor the zoo's models.

    The new process computes on the CPU, as the server's image does; a GPU may be taken by the caller.

    Args:
        path: folder NAME/VERSION.

    Returns:
        The report; if the process ended without one, a report of that.
    """
    package = Path(__file__).resolve().parents[2]
    search = os.pathsep.join(filter(None, [str(package), os.environ.get("PYTHONPATH")]))
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "2", **os.environ}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "zoo.verify", str(Path(path).resolve()), "--json"],
            capture_output=True,
            env={**quiet, "PYTHONPATH": search, "CUDA_VISIBLE_DEVICES": "-1"},
            encoding="utf-8",
            errors="replace",
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        return _failed(path, f"The checks took longer than {TIMEOUT} s. Look for a loop without end.")
    try:
        return Report.from_json(done.stdout.splitlines()[-1])
    except (IndexError, ValueError, KeyError, TypeError):
        last = " ".join(done.stderr.strip().splitlines()[-5:])
        return _failed(
            path,
            f"It ended with exit status {done.returncode} and without a report; it last said: {last}. "
            f"Try: {sys.executable} -m zoo.verify {path}",
        )


def _failed(path: Path, detail: str) -> Report:
    return Report(str(path), "unknown", (Check("fresh process", False, detail),))
