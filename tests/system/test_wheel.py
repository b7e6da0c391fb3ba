"""What users install: the wheel is built, installed without its dependencies, and used."""

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
import tensorflow as tf

from zoo.serving.server import Server

ROOT = Path(__file__).parents[2]

LEFT_BEHIND = shutil.ignore_patterns(
    ".*", "build", "dist", "runs", "saved_models", "__pycache__", "*.egg-info"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy, where no earlier build has left anything."""
    copy = tmp_path_factory.mktemp("source") / "project"
    shutil.copytree(ROOT, copy, ignore=LEFT_BEHIND)
    output = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", output, copy)
    (path,) = output.iterdir()
    return path


@pytest.fixture(scope="module")
def names(wheel):
    with ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed")
    run(
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        folder,
        wheel,
    )
    return folder


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def run_alone(installed, code):
    """Run code where there is the standard library and the wheel, and nothing else."""
    return run(
        sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(installed)!r})\n{code}"
    )


def test_it_is_one_wheel_for_all(wheel):
    assert wheel.name == "seq2seq_zoo-0.1.0-py3-none-any.whl"


def test_all_of_the_package_is_in_it(names):
    sources = [path for path in (ROOT / "zoo").rglob("*.py") if "__pycache__" not in path.parts]
    assert len(sources) > 40
    assert {path.relative_to(ROOT).as_posix() for path in sources} <= names
    assert {"zoo/py.typed", "zoo/tf_serving_ops.txt"} <= names
    page = list((ROOT / "zoo" / "studio" / "page").iterdir())
    assert {path.relative_to(ROOT).as_posix() for path in page} <= names


def test_nothing_but_the_package_is_in_it(names):
    others = {name.split("/")[0] for name in names} - {"zoo"}
    assert others == {"seq2seq_zoo-0.1.0.dist-info"}
    assert not [name for name in names if "test" in name.lower() or name.endswith((".ipynb", ".pyc"))]


def test_it_says_what_it_is(wheel, names):
    with ZipFile(wheel) as archive:
        metadata = archive.read("seq2seq_zoo-0.1.0.dist-info/METADATA").decode()
        commands = archive.read("seq2seq_zoo-0.1.0.dist-info/entry_points.txt").decode()
    assert "Requires-Dist: tensorflow" in metadata
    assert "License-Expression: Apache-2.0" in metadata
    assert "seq2seq_zoo-0.1.0.dist-info/licenses/LICENSE" in names
    assert "zoo = zoo.cli:main" in commands


def test_it_can_be_imported_where_nothing_else_is_installed(installed):
    assert run_alone(installed, "import zoo; print(zoo.__version__)") == "0.1.0\n"
    code = """
missing = []
for name in ("tensorflow", "keras", "numpy", "grpc", "tensorflow_serving"):
    try:
        __import__(name)
    except ImportError:
        missing.append(name)
import zoo.serving.client
print(*missing)
"""
    assert run_alone(installed, code) == "tensorflow keras numpy grpc tensorflow_serving\n"


@pytest.fixture
def capitals(tmp_path):
    """A served model that writes texts in capitals."""
    module = tf.Module()
    text = tf.TensorSpec([None], tf.string, name="text")
    module.answer = tf.function(lambda text: {"text": tf.strings.upper(text)}, input_signature=[text])
    tf.saved_model.save(module, str(tmp_path / "capitals" / "1"), signatures=module.answer)
    with Server({"capitals": tmp_path / "capitals"}, grpc_port=0, rest_port=0) as server:
        yield server


def test_its_rest_client_asks_with_the_standard_library_alone(installed, capitals):
    code = f"""
from zoo.serving.client import RestClient
with RestClient({capitals.rest_url!r}, model="capitals") as client:
    print(client.answer(["friday", ""]))
"""
    assert run_alone(installed, code) == "['FRIDAY', '']\n"
