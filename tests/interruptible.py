"""Programs that tests start and interrupt."""

import sys
from collections.abc import Sequence

__all__ = ["interruptible"]

_BY_DEFAULT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""


def interruptible(command: Sequence[str]) -> list[str]:
    """The command, in the process that is started for it, where SIGINT acts as it does from a terminal.

    In the background SIGINT is ignored, by all that is started there too. A `preexec_fn` would mend that as
    well, but for it `subprocess` forks, and what is forked beside gRPC's threads may die before it runs.

    Args:
        command: the path of a program, and its arguments.
    """
    return [sys.executable, "-c", _BY_DEFAULT, *command]
