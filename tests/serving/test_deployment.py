"""The image and what lies in it, checked without a container engine: paths, flags, and the scripts run."""

import fnmatch
import json
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import PurePosixPath

import pytest
from deployed import ROOT, SERVING, copied, entry_point, only, read_flags, require_files, stages, tool
from google.protobuf import text_format
from interruptible import interruptible
from tensorflow_serving.config.model_server_config_pb2 import ModelServerConfig

from zoo.serving import configs
from zoo.serving.batching_parameters import read_parameters
from zoo.serving.client import RestClient, ServingError
from zoo.serving.configs import Policy
from zoo.serving.engines import IMAGE
from zoo.serving.monitoring import DEFAULT_PATH, metrics_path
from zoo.serving.server import Server
from zoo.serving.settings import Settings
from zoo.verify.layout import WITHDRAWN

BUILD, FINAL = 0, -1
SCRIPTS = [*SERVING.glob("*.sh"), *SERVING.glob("examples/*.sh")]


def test_hadolint_finds_nothing_in_the_dockerfile():
    done = subprocess.run(
        [tool("hadolint"), "Dockerfile"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_is_the_one_that_exports_are_made_for():
    assert only(stages()[FINAL], "FROM") == f"{IMAGE}${{VARIANT}}"
    assert 'ARG VARIANT=""\n' in (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_no_tool_is_installed_in_the_image():
    assert {name for name, _ in stages()[FINAL]} == {
        "FROM",
        "COPY",
        "USER",
        "HEALTHCHECK",
        "ENTRYPOINT",
        "CMD",
    }


def test_the_flags_are_known_and_the_ports_the_usual_ones():
    given = read_flags(entry_point()[1])
    require_files(given)
    assert (given["port"], given["rest_api_port"]) == ("8500", "8501")
    assert given["tensorflow_intra_op_parallelism"] == "1"


def test_everything_copied_exists_and_is_sent_to_the_engine():
    """What .dockerignore leaves out cannot be copied."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in lines
    sent = [line.removeprefix("!") for line in lines if line.startswith("!")]
    for stage in stages():
        for sources in copied(stage).values():
            for source in sources:
                if source.startswith("/"):  # of the other stage
                    continue
                assert list(ROOT.glob(source)), source
                assert any(fnmatch.fnmatch(source.rstrip("/"), pattern) for pattern in sent), source


def is_sent(path):
    """Whether .dockerignore lets a path through: the last line that matches it, or a folder above, counts."""
    sent = True
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        pattern = line.removeprefix("!")
        if any(fnmatch.fnmatchcase(str(part), pattern) for part in (path, *path.parents)):
            sent = line.startswith("!")
    return sent


def test_versions_that_no_server_may_take_are_not_sent_to_the_engine():
    home = PurePosixPath("saved_models/dates")
    versions = {name: is_sent(home / name / "variables" / "variables.index") for name in ("1", "20")}
    assert versions == {"1": True, "20": True}
    for name in (".tmp-3-7-x", ".tmp-deleted-2", f"{WITHDRAWN}2"):
        assert not is_sent(home / name / "saved_model.pb"), name
    assert not is_sent(PurePosixPath("zoo/__init__.py"))


def test_the_scripts_of_the_image_are_those_that_it_runs():
    placed = {path.name for source in copied(stages()[FINAL])["/serving/"] for path in ROOT.glob(source)}
    assert placed >= {"init.sh", "healthy.sh", "models.config", "monitoring.config", "batching.config"}
    assert "check_models.sh" not in placed
    assert entry_point()[0] == ["/bin/bash", "/serving/init.sh", "tensorflow_model_server"]
    assert health_check() == ["/bin/bash", "/serving/healthy.sh"]


def test_the_models_are_where_the_configs_say():
    assert copied(stages()[BUILD])["/models/"] == ["saved_models/"]
    assert copied(stages()[FINAL])["/models/"] == ["/models/"]
    for name in ("models.config", "canary.config"):
        text = (SERVING / name).read_text(encoding="utf-8")
        found = text_format.Parse(text, ModelServerConfig()).model_config_list.config
        assert [(config.name, config.base_path) for config in found] == [("dates", "/models/dates")]
        assert {config.model_platform for config in found} == {"tensorflow"}


def test_the_image_does_not_run_as_root():
    assert re.fullmatch("[1-9][0-9]*:[1-9][0-9]*", only(stages()[FINAL], "USER"))


def test_the_configs_are_read_by_the_server():
    assert metrics_path(str(SERVING / "monitoring.config")) == DEFAULT_PATH
    parameters = read_parameters(str(SERVING / "batching.config"))
    assert parameters.rows > 1
    canary = configs.read_file(SERVING / "canary.config")["dates"]
    assert canary.policy == Policy.specific(1, 2)
    assert canary.labels == {"stable": 1, "canary": 2}


def test_the_labels_of_the_canary_config_tell_versions_apart(models_folder, tmp_path):
    text = (SERVING / "canary.config").read_text(encoding="utf-8")
    (tmp_path / "canary.config").write_text(text.replace("/models/dates", str(models_folder / "half")))
    models = configs.read_file(tmp_path / "canary.config")
    settings = Settings(allow_version_labels_for_unavailable_models=True)
    with Server(models, grpc_port=None, rest_port=0, settings=settings) as server:
        for label, answer in (("stable", [2.5]), ("canary", [3.5])):
            with RestClient(server.rest_url, model="dates", label=label) as client:
                assert client.predict({"x": [1]})["y"] == answer
        with RestClient(server.rest_url, model="dates", label="other") as client, pytest.raises(ServingError):
            client.predict({"x": [1]})


def health_check():
    return json.loads(only(stages()[FINAL], "HEALTHCHECK").partition("CMD ")[2])


def run(script, *arguments, **options):
    command = ["/bin/bash", str(SERVING / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False, **options)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_the_scripts_parse(script):
    shell = script.read_text(encoding="utf-8").splitlines()[0].removeprefix("#!")
    done = subprocess.run([shell, "-n", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def config_of(models):
    entries = "".join(
        f'  config {{\n    name: "{name}"\n    base_path: "{path}"\n  }}\n' for name, path in models.items()
    )
    return f'# name: "comment"\nmodel_config_list {{\n{entries}}}\n'


@pytest.mark.parametrize(
    ("names", "fault"),
    [
        (["half"], ""),
        (["half", "toy"], ""),
        (["half", "nope"], "model nope is not available"),
        (["nope", "half"], "model nope is not available"),
        ([], "names no model"),
    ],
)
def test_the_health_check_wants_every_model_available(server, tmp_path, names, fault):
    config = tmp_path / "models.config"
    config.write_text(config_of(dict.fromkeys(names, "/models")))
    done = run("healthy.sh", config, server.rest_port)
    assert fault in done.stderr
    assert (done.returncode != 0) is bool(fault)


def test_the_health_check_fails_where_nothing_listens():
    assert run("healthy.sh", SERVING / "models.config", 1).returncode == 1


def test_the_build_takes_exports_that_are_whole(models_folder, tmp_path):
    config = tmp_path / "models.config"
    config.write_text(config_of({"half": models_folder / "half", "toy": models_folder / "toy"}))
    done = run("check_models.sh", config)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("versions", "fault"),
    [
        ({}, "there is no version"),
        ({"v1": ("saved_model.pb", "variables/variables.index")}, "there is no version"),
        ({"1": ()}, "/1 has no saved_model.pb"),
        (
            {"9": ("saved_model.pb", "variables/variables.index"), "10": ("saved_model.pb",)},
            "/10 has no variables",
        ),
    ],
)
def test_the_build_refuses_others(tmp_path, versions, fault):
    base_path = tmp_path / "2026"  # which looks like a version itself
    for version, files in versions.items():
        for file in files or ("nothing",):
            path = base_path / version / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    config = tmp_path / "models.config"
    config.write_text(config_of({"dates": base_path}))
    done = run("check_models.sh", config)
    assert done.returncode == 1
    assert fault in done.stderr


@pytest.fixture
def enter(tmp_path):
    """Run the entry point with a script in place of the server."""

    def enter(script, *flags):
        program = tmp_path / "tensorflow_model_server"
        program.write_text(f"#!{sys.executable}\n{textwrap.dedent(script)}")
        program.chmod(0o755)
        (shell, _, server), given = entry_point()
        command = [shell, str(SERVING / "init.sh"), server, *given, *flags]
        return subprocess.Popen(
            interruptible(command), env={"PATH": str(tmp_path)}, stdout=subprocess.PIPE, text=True
        )

    return enter


def test_the_entry_point_hands_on_its_flags_and_sigterm(enter):
    started = enter("import sys, time\nprint(*sys.argv[1:], flush=True)\ntime.sleep(60)\n", "--more=1")
    assert started.stdout.readline().split() == [*entry_point()[1], "--more=1"]
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
