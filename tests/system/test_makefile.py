import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TARGETS = {
    "help",
    "demo",
    "test",
    "test-learning",
    "test-served",
    "test-compat",
    "test-docker",
    "test-gpu",
    "test-browser",
    "check",
    "format",
    "bench",
    "bench-serving",
    "clean",
}


@pytest.fixture
def project(tmp_path):
    """As much of the project as the Makefile looks at, without any environment."""
    (tmp_path / "zoo").mkdir()
    for name in ("Makefile", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def make(project, *arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        ["make", "-C", str(project), *arguments], capture_output=True, text=True, env=environment
    )


def test_make_alone_explains_every_target(project):
    done = make(project, "--no-print-directory")
    assert done.returncode == 0
    assert dict(re.findall(r"^make (\S+) +(\S.*)$", done.stdout, re.MULTILINE)).keys() == TARGETS


@pytest.mark.parametrize(
    "target", ["demo", "test", "test-learning", "test-compat", "test-docker", "check", "format", "bench"]
)
@pytest.mark.parametrize("python", ["false", "no-such-python"])
def test_an_unsuitable_python_is_refused_before_anything_is_made(project, target, python):
    before = set(project.iterdir())
    done = make(project, target, f"PYTHON={python}")
    assert done.returncode != 0
    assert f"{python} must be Python 3.11 to 3.13 with the modules venv and ensurepip" in done.stderr
    assert f"make {target} PYTHON=" in done.stderr
    assert set(project.iterdir()) == before


def test_an_environment_is_made_again_only_when_the_project_has_changed(project):
    for target, environment in (
        ("test", ".venv-test"),
        ("test-gpu", ".venv-gpu"),
        ("check", ".venv-check"),
        ("demo", ".venv"),
    ):
        stamp = project / environment / "installed"
        stamp.parent.mkdir()
        stamp.touch()
        assert "pip install" not in make(project, "--dry-run", target).stdout
        os.utime(stamp, (1, 1))
        assert "pip install" in make(project, "--dry-run", target).stdout


@pytest.mark.parametrize("script", ["exit 9", "echo 'GPU 0: a name'; exit 0"])
def test_what_a_gpu_needs_is_fetched_only_where_there_is_one(project, script):
    (project / "bin").mkdir()
    listing = project / "bin" / "nvidia-smi"
    listing.write_text(f"#!/bin/sh\n{script}\n")
    listing.chmod(0o755)
    before = set(project.iterdir())
    done = make(project, "test-gpu", "PYTHON=false", f"PATH={listing.parent}:{os.environ['PATH']}")
    assert done.returncode != 0
    assert ("no GPU on this machine, so nothing was checked" in done.stderr) == (script == "exit 9")
    assert ("false must be Python 3.11 to 3.13" in done.stderr) == (script != "exit 9")
    assert set(project.iterdir()) == before


def test_without_a_browser_nothing_is_fetched_to_click_with(project):
    before = set(project.iterdir())
    done = make(project, "test-browser", "PYTHON=false", "CHROMIUM=/nowhere/chromium")
    assert done.returncode != 0
    assert "there is no Chromium here, so the studio was not clicked through" in done.stderr
    assert set(project.iterdir()) == before


def test_clean_keeps_models_and_sources(project):
    for name in ("saved_models", "runs", ".venv", ".venv-test", "build", "zoo/__pycache__"):
        (project / name).mkdir()
    assert make(project, "clean").returncode == 0
    left = {path.name for path in project.iterdir()}
    assert left == {"Makefile", "pyproject.toml", "README.md", "zoo", "saved_models", "runs"}
    assert not list((project / "zoo").iterdir())


def test_continuous_integration_is_make_test_in_a_new_environment():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    commands = [line for line in script.read_text().splitlines() if line and not line.startswith("#")]
    assert commands[0] == "set -euo pipefail"
    assert commands[-2:] == ["rm -rf .venv-test", "make test"]
