import csv
from io import StringIO
from types import SimpleNamespace

import keras
import pytest
import tensorflow as tf
from rich.console import Console
from tiny_training import train

from zoo.training import logs, progress
from zoo.training.logs import CurveFile, tensorboard
from zoo.training.progress import ProgressLine


class Interrupt(keras.callbacks.Callback):
    """In the fourth batch of the second epoch."""

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if (self.epoch, batch) == (1, 3):
            raise KeyboardInterrupt


def rows(file):
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


def test_the_curve_has_a_line_for_each_epoch_of_an_interrupted_training(tmp_path):
    file = tmp_path / "below" / "curve.csv"
    with pytest.raises(KeyboardInterrupt):
        train(folder=tmp_path / "kept", callbacks=[CurveFile(file), Interrupt()])
    assert [row["epoch"] for row in rows(file)] == ["0"]
    with file.open("a") as lines:
        lines.write("1,0.5,0.5\n2,0.")  # an epoch whose checkpoint was lost, and half a line
    _, fitted = train(folder=tmp_path / "kept", callbacks=[CurveFile(file)])
    assert [row["epoch"] for row in rows(file)] == ["0", "1", "2"]
    assert [float(row["val_loss"]) for row in rows(file)] == fitted.history["val_loss"]


def test_a_new_training_begins_a_new_curve(tmp_path):
    file = tmp_path / "curve.csv"
    train(callbacks=[CurveFile(file)])
    train(callbacks=[CurveFile(file)])
    assert [row["epoch"] for row in rows(file)] == ["0", "1", "2"]


def test_tensorboard_is_asked_for_where_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(logs, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'seq2seq-zoo\[tensorboard\]'"):
        tensorboard(tmp_path)


def events(folder, tag):
    """(step, value) of a figure, in the order in which they were written."""
    found = []
    for file in sorted(folder.glob("events*"), key=lambda file: file.stat().st_mtime_ns):
        for event in tf.compat.v1.train.summary_iterator(str(file)):
            values = [value for value in event.summary.value if value.tag == tag]
            found += [(event.step, float(tf.make_ndarray(value.tensor))) for value in values]
    return found


def test_tensorboard_gets_each_epoch_once_of_an_interrupted_training(tmp_path):
    """`fit` is called once for each epoch, and the training is gone on with in the second."""
    folder = tmp_path / "events"
    with pytest.raises(KeyboardInterrupt):
        train(folder=tmp_path / "kept", callbacks=[tensorboard(folder), Interrupt()])
    _, fitted = train(folder=tmp_path / "kept", callbacks=[tensorboard(folder)])
    for part, name in (("train", "loss"), ("validation", "val_loss")):
        steps, values = zip(*events(folder / part, "epoch_loss"), strict=True)
        assert steps == (0, 1, 2)
        assert values == pytest.approx(tuple(fitted.history[name]))


def test_a_file_gets_a_line_an_epoch_with_the_speed(monkeypatch):
    clock = iter(range(0, 10_000, 20))
    # Not `time.monotonic` itself: threads of other tests, such as a server's loop, read it too.
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    written = StringIO()
    train(callbacks=[ProgressLine(Console(file=written, width=400))])
    lines = written.getvalue().splitlines()
    last = [line for line in lines if " · 6 batches · " in line]
    assert [line.split(" · ")[0] for line in last] == ["epoch 1/3", "epoch 2/3", "epoch 3/3"]
    assert all("val_loss" in line and line.endswith(" tokens/s") for line in last)
    within = [line for line in lines if " · batch " in line]
    assert 1 <= len(within) < 12, "one where a minute has gone by, not one a batch"


def test_a_terminal_gets_a_line_that_moves():
    written = StringIO()
    console = Console(file=written, force_terminal=True, width=200, highlight=False)
    line = ProgressLine(console)
    line.period = 0.0
    train(callbacks=[line])
    assert "epoch 2/3 · batch 5/6 · loss" in written.getvalue()
    assert "epoch 3/3 · 6 batches · loss" in written.getvalue()
