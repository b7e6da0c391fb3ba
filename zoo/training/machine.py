"""What a training ran on, in words that fit into a record."""

import os
import platform
from pathlib import Path
from typing import Any

import tensorflow as tf

__all__ = ["machine"]

PROCESSORS = Path("/proc/cpuinfo")
"""Where Linux names them."""


def machine() -> dict[str, Any]:
    """The kind of this machine: `processor`, the `cores` that this process may use, and `accelerators`.

    It names no machine, only its kind.
    """
    details = map(tf.config.experimental.get_device_details, tf.config.list_physical_devices("GPU"))
    return {
        "processor": _processor(),
        "cores": _cores(),
        "accelerators": [detail.get("device_name", "GPU") for detail in details],
    }


def _processor() -> str:
    if PROCESSORS.is_file():
        lines = PROCESSORS.read_text(encoding="utf-8", errors="replace").splitlines()
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        if names:
            return names[0]
    return platform.processor() or platform.machine()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
