"""The kind of this machine's processor; apart, so that who only asks for it does not wait for TensorFlow."""

import platform
from pathlib import Path

__all__ = ["processor"]

PROCESSORS = Path("/proc/cpuinfo")
"""Where Linux names them."""


def processor() -> str:
    """Its name, as its maker gives it where the system tells that."""
    if PROCESSORS.is_file():
        lines = PROCESSORS.read_text(encoding="utf-8", errors="replace").splitlines()
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        if names:
            return names[0]
    return platform.processor() or platform.machine()
