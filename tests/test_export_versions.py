"""How exports become versions: their numbers, what servers see of them meanwhile, and who may read them."""

import os
import signal
import stat
import subprocess
import sys
import textwrap

import pytest
from small_exports import find_nothing_wrong, write_small

import zoo.export
from zoo.export import VerificationError
from zoo.verify import Check, Report
from zoo.verify.layout import WITHDRAWN


@pytest.fixture
def verified(monkeypatch):
    return find_nothing_wrong(monkeypatch)


def test_servers_that_run_as_other_users_can_read_all_of_it(tmp_path, verified):
    former = os.umask(0o077)
    try:
        path = write_small(tmp_path / "models")
    finally:
        os.umask(former)
    modes = {
        entry.relative_to(path.parent).as_posix(): stat.S_IMODE(entry.stat().st_mode)
        for entry in (path.parent, path, *path.rglob("*"))
    }
    assert stat.S_IMODE((tmp_path / "models").stat().st_mode) == 0o755
    folders = {".", "1", "1/variables", "1/assets", "1/assets.extra"} & modes.keys()
    assert {"1/saved_model.pb", "1/variables/variables.index", "1/assets.extra/zoo.json"} <= modes.keys()
    assert modes == {name: 0o755 if name in folders else 0o644 for name in modes}


def test_a_folder_of_models_that_was_made_private_stays_so(tmp_path, verified):
    (tmp_path / "shout").mkdir()
    (tmp_path / "shout").chmod(0o700)
    write_small(tmp_path)
    assert stat.S_IMODE((tmp_path / "shout").stat().st_mode) == 0o700


def test_a_version_appears_only_after_it_was_verified(tmp_path, monkeypatch):
    seen = []

    def verify(path):
        seen.extend(other.name for other in path.parent.iterdir())
        return Report(str(path), "", (Check("loading", False, "It does not load."),))

    monkeypatch.setattr(zoo.export, "verify_in_fresh_process", verify)
    with pytest.raises(VerificationError, match=r"loading: It does not load\."):
        write_small(tmp_path)
    assert len(seen) == 1
    assert seen[0].startswith(f".tmp-1-{os.getpid()}")
    assert list((tmp_path / "shout").iterdir()) == []


def test_names_that_are_no_version_for_servers_do_not_count(tmp_path, verified):
    for name in ("9" * 19, f"{WITHDRAWN}{'9' * 19}", "1.5", "٣"):
        (tmp_path / "shout" / name).mkdir(parents=True)
    assert write_small(tmp_path).name == "1"


def test_versions_are_numbered_upwards(tmp_path, verified):
    assert write_small(tmp_path).name == "1"
    assert write_small(tmp_path).name == "2"
    assert write_small(tmp_path, version=9).name == "9"
    assert write_small(tmp_path).name == "10"
    assert len(verified) == 4


def test_a_version_is_never_replaced(tmp_path, verified):
    path = write_small(tmp_path, version=3)
    created = (path / "saved_model.pb").stat().st_mtime_ns
    with pytest.raises(FileExistsError, match=r"3 exists already, .* Give another version"):
        write_small(tmp_path, version=3)
    assert (path / "saved_model.pb").stat().st_mtime_ns == created
    for number in (0, -1, 10**18):
        with pytest.raises(ValueError, match=rf"positive number of at most 18 digits, got {number}"):
            write_small(tmp_path, version=number)


def taken_meanwhile(monkeypatch, number):
    """Let another writer publish a version while this one verifies."""

    def verify(path):
        other = path.parent / str(number)
        other.mkdir()
        (other / "saved_model.pb").write_text("another writer's")
        return Report(str(path), "", (Check("nothing", True, ""),))

    monkeypatch.setattr(zoo.export, "verify_in_fresh_process", verify)


def test_a_number_that_was_taken_meanwhile_is_passed_over(tmp_path, monkeypatch):
    taken_meanwhile(monkeypatch, 1)
    assert write_small(tmp_path).name == "2"
    assert (tmp_path / "shout" / "1" / "saved_model.pb").read_text() == "another writer's"


def test_the_number_of_a_withdrawn_version_is_not_given_again(tmp_path, verified):
    write_small(tmp_path).rename(tmp_path / "shout" / f"{WITHDRAWN}1")
    with pytest.raises(FileExistsError, match="was withdrawn"):
        write_small(tmp_path, version=1)
    assert write_small(tmp_path).name == "2"


def test_a_given_version_that_was_taken_meanwhile_is_refused(tmp_path, monkeypatch):
    taken_meanwhile(monkeypatch, 5)
    with pytest.raises(FileExistsError):
        write_small(tmp_path, version=5)
    assert [path.name for path in (tmp_path / "shout").iterdir()] == ["5"]


KILLED = """
    import sys, time
    from pathlib import Path
    sys.modules["keras"] = None
    import tensorflow as tf
    import zoo.export
    from collections import namedtuple

    class Small(tf.Module):
        def assets(self):
            return {}

        def signatures(self):
            signature = namedtuple("Signature", "function inputs neutral settings")
            inputs = {"text": tf.TensorSpec([None], tf.string)}
            upper = lambda text: {"text": tf.strings.upper(text)}
            return {"serving_default": signature(upper, inputs, {}, {})}

    def verify(path):
        print("verifying", flush=True)
        time.sleep(600)

    zoo.export.verify_in_fresh_process = verify
    card = zoo.export.Card("shout", "", "", "", (), "")
    zoo.export.write(Small(), Path(sys.argv[1]), card=card, questions=["x"])
"""


def test_a_killed_writer_publishes_nothing_and_is_cleaned_up_a_day_later(tmp_path, verified):
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as writer:
        assert writer.stdout.readline() == "verifying\n"
        writer.send_signal(signal.SIGKILL)
    (left,) = (tmp_path / "shout").iterdir()
    assert not left.name.isdigit()
    assert (left / "saved_model.pb").is_file()

    assert write_small(tmp_path).name == "1"
    assert left.is_dir(), "a young folder may be that of a writer at work"

    two_days_ago = left.stat().st_mtime - 2 * 24 * 3600
    os.utime(left, (two_days_ago, two_days_ago))
    assert write_small(tmp_path).name == "2"
    assert sorted(path.name for path in (tmp_path / "shout").iterdir()) == ["1", "2"]
