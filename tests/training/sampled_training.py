"""Trains with scheduled sampling, in processes that die where they are told: `FOLDER RATE WHERE [WHERE ...]`.

RATE is `none` for teacher forcing without any of it. WHERE is that of `killed_training.py`; what `never` ends
with, the weights and the seeds of dropout, goes to `FOLDER/end.npz`.
"""

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from killed_training import deaths
from tiny_training import SETTINGS, train

from zoo.training.repeatable import make_repeatable
from zoo.training.sampling import ScheduledSampling


def run(folder: Path, rate: str, where: str) -> None:
    make_repeatable()
    how = None if rate == "none" else ScheduledSampling(float(rate), growth="linear", steps=5, pick="drawn")
    model, _ = train(replace(SETTINGS, sampling=how), folder=folder, callbacks=deaths(where))
    np.savez(folder / "end.npz", *[variable.numpy() for variable in model.variables])


def main(folder: Path, rate: str, *places: str) -> None:
    for where in places:
        child = os.fork()
        if not child:
            run(folder, rate, where)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        died = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        as_told = died if where != "never" else status == 0
        assert as_told, f"{where}: the process ended with status {status}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
