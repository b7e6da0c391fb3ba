"""A training that was killed anywhere and started again ends as one that was not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
from tiny_training import SETTINGS, TinyModel, train

from zoo.training.checkpoint import Checkpoint, Position, read, write
from zoo.training.resuming import Checkpoints

SCRIPT = Path(__file__).with_name("killed_training.py")
DEATHS = ("batch:1", "batch:3", "write:2", "rename:3", "epoch:1", "batch:2", "end")
AMID_UPDATES = ("batch:3", "write:2", "batch:4")


def killed(folder: Path, accumulation: int, *places: str) -> dict[str, np.ndarray]:
    """What the last process ends with, which trains into a folder after all others have died."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, str(SCRIPT), str(folder), str(accumulation), *places, "never"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    with np.load(folder / "end.npz") as content:
        return dict(content)


@pytest.mark.parametrize(("accumulation", "deaths"), [(1, DEATHS), (3, AMID_UPDATES)])
def test_a_killed_training_ends_bit_for_bit_as_an_undisturbed_one(tmp_path, accumulation, deaths):
    undisturbed = killed(tmp_path / "undisturbed", accumulation)
    resumed = killed(tmp_path / "killed", accumulation, *deaths)
    kinds = {name.split("/")[0] for name in undisturbed}
    assert kinds == {"model", "optimizer", "metrics", "callbacks", "history"}
    # The metrics of an epoch that was over are not taken up again: the next one begins with zero.
    assert set(undisturbed) == set(resumed)
    for name in undisturbed:
        if not name.startswith("metrics/"):
            np.testing.assert_array_equal(resumed[name], undisturbed[name], err_msg=name)
    history = json.loads(str(undisturbed["history"]))
    assert history["learning_rate"] == pytest.approx([0.02, 0.02, 0.014]), "the plateau was remembered"
    assert len(set(history["loss"])) == SETTINGS.epochs


def kept(folder: Path) -> Checkpoint:
    return read(folder / "checkpoint.npz")


def test_every_seed_of_dropout_is_kept_and_comes_back(tmp_path):
    model, _ = train(folder=tmp_path)
    seeds = [layer.seed_generator.state for layer in (model.before, model.behind)]
    seeds.append(model.recurrence.cell.seed_generator.state)
    stored = [value.tolist() for name, value in kept(tmp_path).arrays.items() if name.startswith("model/")]
    for seed in seeds:
        assert seed.numpy().tolist() in stored
        assert seed.numpy()[1] > 0, "it was drawn from"


def test_a_finished_training_is_not_trained_on(tmp_path):
    model, fitted = train(folder=tmp_path)
    again, same = train(
        folder=tmp_path, callbacks=[keras.callbacks.LambdaCallback(on_epoch_begin=pytest.fail)]
    )
    assert same.history == fitted.history
    assert same.seconds == pytest.approx(fitted.seconds, abs=1.0)
    for weight, other in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, other)


class Diary(keras.callbacks.Callback):
    """Writes down what it sees, and interrupts the training in one batch."""

    def __init__(self, *, until=None):
        super().__init__()
        self.seen = []
        self.until = until
        self.epoch = None

    def on_train_begin(self, logs=None):
        self.seen.append("begin")

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        self.seen.append((self.epoch, batch))
        if (self.epoch, batch) == self.until:
            raise KeyboardInterrupt

    def on_train_end(self, logs=None):
        self.seen.append("end")


def interrupted(folder, until=(1, 2)):
    """A training whose last checkpoint lies behind batch 1 of epoch 1."""
    diary = Diary(until=until)
    with pytest.raises(KeyboardInterrupt):
        train(folder=folder, callbacks=[diary])
    return diary.seen


def test_callbacks_see_one_training_of_whole_epochs(tmp_path):
    first = [(0, batch) for batch in range(6)]
    assert interrupted(tmp_path) == ["begin", *first, (1, 0), (1, 1), (1, 2)]
    assert kept(tmp_path).position == Position(epoch=1, step=2)
    diary = Diary()
    train(folder=tmp_path, callbacks=[diary])
    second, third = [(1, batch) for batch in range(2, 6)], [(2, batch) for batch in range(6)]
    assert diary.seen == ["begin", *second, *third, "end"]


def test_the_figures_of_an_interrupted_epoch_are_those_of_all_its_batches(tmp_path):
    _, undisturbed = train(folder=tmp_path / "undisturbed")
    interrupted(tmp_path / "interrupted")
    _, resumed = train(folder=tmp_path / "interrupted")
    assert resumed.history["tokens"] == undisturbed.history["tokens"]
    for name, values in undisturbed.history.items():
        assert resumed.history[name] == pytest.approx(values, abs=1e-5), name


def test_another_training_is_not_gone_on_with(tmp_path):
    interrupted(tmp_path)
    model = TinyModel()
    checkpoints = Checkpoints(tmp_path, what={"name": "other"})
    checkpoints.set_model(model)
    with pytest.raises(ValueError, match=r"name: 'tiny', now 'other'.*--fresh"):
        checkpoints.restore([])


def test_other_variables_are_told(tmp_path):
    interrupted(tmp_path)
    model = TinyModel()
    model.extra = keras.layers.Dense(3)
    model.extra.build((None, 2))
    with pytest.raises(ValueError, match="other variables of the model"):
        train(folder=tmp_path, model=model)


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    file = tmp_path / "checkpoint.npz"
    before = Checkpoint(Position(1, 2), {"a/1": np.arange(3.0)}, {"x": [0.1, 1e-300]})
    write(before, file)

    def full(*_, **__):
        raise OSError("No space left on device")

    monkeypatch.setattr("zoo.training.checkpoint.os.fsync", full)
    with pytest.raises(
        OSError, match=r"checkpoint\.npz could not be written: No space .*before is whole: make room"
    ):
        write(Checkpoint(Position(9, 9), {}, {}), file)
    assert list(tmp_path.iterdir()) == [file], "what was written until then takes no room"
    found = read(file)
    assert (found.position, found.facts) == (before.position, before.facts)
    np.testing.assert_array_equal(found.arrays["a/1"], before.arrays["a/1"])


HARM = {
    "nothing in it": lambda content: b"",
    "cut in the middle": lambda content: content[: len(content) // 2],
    "its last byte lost": lambda content: content[:-1],
    "something else": lambda content: b"no checkpoint at all",
    "a byte of a weight": lambda content: flipped(content, content.index(b"NUMPY", 400) + 130),
    "zeros in the middle": lambda content: content[:700] + bytes(300) + content[1000:],
}


def flipped(content, place):
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.parametrize("harm", HARM.values(), ids=HARM.keys())
def test_a_damaged_file_is_told_and_not_gone_on_with(tmp_path, harm):
    file = tmp_path / "checkpoint.npz"
    write(Checkpoint(Position(1, 2), {f"a/{n}": np.arange(50.0) for n in range(5)}, {"x": 1}), file)
    file.write_bytes(harm(file.read_bytes()))
    with pytest.raises(
        ValueError, match=r"checkpoint\.npz is damaged .*or start afresh: zoo train \.\.\. --fresh"
    ):
        read(file)


def test_another_archive_is_no_checkpoint(tmp_path):
    np.savez(tmp_path / "checkpoint.npz", weights=np.zeros(3))
    with pytest.raises(ValueError, match=r"is damaged .*facts"):
        read(tmp_path / "checkpoint.npz")


def test_a_changed_byte_is_never_taken_for_what_was_there(tmp_path):
    """Wherever it is: it is told, or it is one of those that say nothing, such as dates in the archive. Of an
    array that the archive no longer lists, `put_back` tells."""
    file = tmp_path / "checkpoint.npz"
    before = Checkpoint(Position(1, 2), {"a/1": np.arange(4.0)}, {"x": 0.5})
    write(before, file)
    content = file.read_bytes()
    told = 0
    for place in range(len(content)):
        file.write_bytes(flipped(content, place))
        try:
            found = read(file)
        except ValueError as error:
            told += "is damaged" in str(error)
        else:
            assert (found.position, found.facts) == (before.position, before.facts)
            for name, array in found.arrays.items():
                np.testing.assert_array_equal(array, before.arrays[name])
    assert told > len(content) / 2


def test_minutes_count_too(tmp_path):
    keras.utils.set_random_seed(0)
    interrupted_at = (0, 3)
    with pytest.raises(KeyboardInterrupt):
        train(folder=tmp_path / "long", callbacks=[Diary(until=interrupted_at)], steps=None)
    assert not (tmp_path / "long" / "checkpoint.npz").exists(), "five minutes have not gone by"
    with pytest.raises(KeyboardInterrupt):
        train(folder=tmp_path / "short", callbacks=[Diary(until=interrupted_at)], steps=None, minutes=0.0)
    assert kept(tmp_path / "short").position == Position(0, 3)
