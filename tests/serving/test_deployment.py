"""What deploys, checked without a container engine: paths, flags, and the shell lines run for real."""

import json
import re
import shlex
import signal
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from google.protobuf import text_format
from tensorflow_serving.config.model_server_config_pb2 import ModelServerConfig

from zoo.serving.engines import IMAGE

ROOT = Path(__file__).parents[2]
FLAGS = {"port", "rest_api_port", "model_config_file"}
"""The flags of tensorflow_model_server that we use; it would ignore a misspelled one."""


@pytest.fixture(scope="module")
def instructions():
    """The instructions of the Dockerfile, each with what follows it."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [tuple(line.split(maxsplit=1)) for line in lines]


@pytest.fixture(scope="module")
def only(instructions):
    def find(name):
        (found,) = [rest for instruction, rest in instructions if instruction == name]
        return found

    return find


@pytest.fixture(scope="module")
def copies(instructions):
    """Where things lie in the image, to where they lie here."""
    pairs = [shlex.split(rest) for instruction, rest in instructions if instruction == "COPY"]
    return {target: source for source, target in pairs}


@pytest.fixture(scope="module")
def flags(only):
    arguments = json.loads(only("ENTRYPOINT"))[4:] + json.loads(only("CMD"))
    return dict(re.fullmatch("--([a-z_]+)=(.+)", argument).groups() for argument in arguments)


@pytest.fixture(scope="module")
def configs():
    text = (ROOT / "serving" / "models.config").read_text(encoding="utf-8")
    return text_format.Parse(text, ModelServerConfig()).model_config_list.config


def test_the_image_is_the_one_that_exports_are_made_for(only):
    assert only("FROM") == IMAGE


def test_the_flags_are_known_and_the_ports_the_usual_ones(flags):
    assert flags.keys() <= FLAGS
    assert (flags["port"], flags["rest_api_port"]) == ("8500", "8501")


def test_the_config_is_where_the_flag_says(flags, copies):
    assert (ROOT / copies[flags["model_config_file"]]).samefile(ROOT / "serving" / "models.config")


def test_everything_copied_exists(copies):
    for source in copies.values():
        assert (ROOT / source).exists()


def test_the_models_are_where_the_config_says(configs, copies):
    assert [config.name for config in configs] == ["dates"]
    for config in configs:
        folder, name = config.base_path.rsplit("/", 1)
        assert copies[f"{folder}/"] == "saved_models/"
        assert name == config.name
        assert config.model_platform == "tensorflow"


def test_the_image_does_not_run_as_root(only):
    assert re.fullmatch("[1-9][0-9]*:[1-9][0-9]*", only("USER"))


@pytest.mark.parametrize(("model", "healthy"), [("half", True), ("nope", False)])
def test_the_health_check_tells_a_model_that_is_available(only, server, model, healthy):
    shell, flag, line = json.loads(only("HEALTHCHECK").partition("CMD ")[2])
    line = line.replace("/8501", f"/{server.rest_port}").replace("/dates", f"/{model}")
    assert (subprocess.run([shell, flag, line], timeout=10, check=False).returncode == 0) is healthy


def test_the_health_check_fails_where_nothing_listens(only):
    shell, flag, line = json.loads(only("HEALTHCHECK").partition("CMD ")[2])
    closed = line.replace("/8501", "/1")
    assert subprocess.run([shell, flag, closed], capture_output=True, timeout=10, check=False).returncode


@pytest.fixture
def enter(only, tmp_path):
    """Run the entry point with a script in place of the server."""

    def enter(script, *flags):
        program = tmp_path / "tensorflow_model_server"
        program.write_text(f"#!{sys.executable}\n{textwrap.dedent(script)}")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        command = [*json.loads(only("ENTRYPOINT")), *flags]
        return subprocess.Popen(command, env={"PATH": str(tmp_path)}, stdout=subprocess.PIPE, text=True)

    return enter


def test_the_entry_point_hands_on_its_flags_and_sigterm(only, enter):
    started = enter("import sys, time\nprint(*sys.argv[1:], flush=True)\ntime.sleep(60)\n", "--more=1")
    assert started.stdout.readline().split() == [*json.loads(only("ENTRYPOINT"))[4:], "--more=1"]
    began = time.monotonic()
    started.send_signal(signal.SIGTERM)
    # The program holds the pipe: it reads as ended only once that is gone too.
    assert started.stdout.read() == ""
    started.wait(10)
    started.stdout.close()
    assert time.monotonic() - began < 10


FINISHES = """
    import os, signal, sys, time
    def finish(*_):
        os.write(1, b"finishing\\n")
        time.sleep(1)
        os.write(1, b"finished\\n")
        sys.exit(7)
    signal.signal(signal.SIGTERM, finish)
    os.write(1, b"ready\\n")
    while True:
        time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_entry_point_stays_until_the_server_has_finished(enter, number):
    with enter(FINISHES) as started:
        assert started.stdout.readline() == "ready\n"
        started.send_signal(number)
        assert started.stdout.readline() == "finishing\n"
        time.sleep(0.3)
        assert started.poll() is None
        assert started.stdout.read() == "finished\n"
        assert started.wait(10) == 7


ENDS_AT_THE_THIRD = """
    import os, signal, sys, time
    told = []
    def count(*_):
        told.append(1)
        os.write(1, b"%d\\n" % len(told))
        if len(told) == 3:
            sys.exit(7)
    signal.signal(signal.SIGTERM, count)
    os.write(1, b"ready\\n")
    while True:
        time.sleep(60)
"""


def test_the_entry_point_hands_on_every_signal(enter):
    with enter(ENDS_AT_THE_THIRD) as started:
        assert started.stdout.readline() == "ready\n"
        for number in ("1", "2", "3"):
            started.terminate()
            assert started.stdout.readline() == f"{number}\n"
        assert started.wait(10) == 7


def test_the_entry_point_ends_with_its_server(enter):
    with enter("raise SystemExit(3)") as started:
        assert started.wait(10) == 3
