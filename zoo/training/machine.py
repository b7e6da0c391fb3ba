"""What a training ran on, in words that fit into a record."""

import os
from typing import Any

import tensorflow as tf

from zoo.training.processor import processor

__all__ = ["machine"]


def machine() -> dict[str, Any]:
    """The kind of this machine: `processor`, the `cores` that this process may use, and `accelerators`.

    It names no machine, only its kind.
    """
    details = map(tf.config.experimental.get_device_details, tf.config.list_physical_devices("GPU"))
    return {
        "processor": processor(),
        "cores": _cores(),
        "accelerators": [detail.get("device_name", "GPU") for detail in details],
    }


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
