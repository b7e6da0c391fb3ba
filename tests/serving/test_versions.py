import json
import shutil
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from tiny_models import half_plus_two
from typer.testing import CliRunner

from zoo.cli import app
from zoo.serving.configs import model_config
from zoo.serving.engines import serve
from zoo.serving.folders import find_versions
from zoo.serving.server import Server
from zoo.serving.settings import Settings
from zoo.serving.versions import DELETED, LABELS, label, labels, prune, roll_back, versions
from zoo.verify.layout import WITHDRAWN


@pytest.fixture(scope="session")
def three_versions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("versions")
    for number in (1, 2, 10):
        half_plus_two(folder / "half" / str(number), offset=float(number))
    return folder


@pytest.fixture
def home(three_versions, tmp_path):
    shutil.copytree(three_versions, tmp_path / "models")
    return tmp_path / "models" / "half"


def served(home):
    return [version.number for version in versions(home) if not version.withdrawn]


def break_version(home, number):
    shutil.rmtree(home / str(number) / "variables")


def ask(url, path="models/half"):
    """What x = 2 becomes: 1 and the offset of the version that answered."""
    request = urllib.request.Request(f"{url}/v1/{path}:predict", b'{"instances": [2.0]}')
    with urllib.request.urlopen(request, timeout=20) as response:
        return json.load(response)["predictions"]


def test_versions_highest_first_by_number_not_by_name(home):
    (home / "notes").mkdir()
    found = versions(home)
    assert [version.number for version in found] == [10, 2, 1]
    assert all(version.problem is None and not version.withdrawn and not version.labels for version in found)
    assert found[0].size == sum(file.stat().st_size for file in (home / "10").rglob("*") if file.is_file())


def test_a_broken_version_tells_its_problem(home):
    break_version(home, 10)
    assert "variables.index is missing" in versions(home)[0].problem
    assert versions(home)[0].created is None


def test_where_there_are_none(tmp_path):
    with pytest.raises(FileNotFoundError, match="no model in"):
        versions(tmp_path / "half")
    with pytest.raises(FileNotFoundError, match="has no version"):
        versions(tmp_path)


def test_going_back_withdraws_the_highest_and_loses_nothing(home):
    before = (home / "10" / "saved_model.pb").read_bytes()
    after = roll_back(home)
    assert [(version.number, version.withdrawn) for version in after] == [(10, True), (2, False), (1, False)]
    assert after[0].path.joinpath("saved_model.pb").read_bytes() == before
    roll_back(home)
    assert served(home) == [1]
    with pytest.raises(ValueError, match="no earlier version"):
        roll_back(home)


def test_going_forward_again_brings_a_version_back(home):
    roll_back(home, to=1)
    assert served(home) == [1]
    roll_back(home, to=2)
    assert served(home) == [2, 1]
    roll_back(home, to=10)
    assert served(home) == [10, 2, 1]


@pytest.mark.parametrize(
    ("withdrawn", "to", "highest"),
    [([], None, [2]), ([], 1, [10, 1]), ([2], 2, [10, 2]), ([2], 1, [1]), ([10, 2], 10, [10])],
)
def test_at_every_moment_the_highest_is_the_former_one_or_the_target(
    home, monkeypatch, withdrawn, to, highest
):
    for number in withdrawn:
        (home / str(number)).rename(home / f"{WITHDRAWN}{number}")
    seen, rename = [], Path.rename

    def rename_and_look(path, target):
        rename(path, target)
        seen.append(max(find_versions(home)))

    monkeypatch.setattr(Path, "rename", rename_and_look)
    roll_back(home, to)
    assert seen == highest


def test_going_back_passes_over_broken_versions(home):
    break_version(home, 2)
    roll_back(home)
    assert served(home) == [1], "2 is broken: it is withdrawn too"
    with pytest.raises(ValueError, match=r"variables.index is missing"):
        roll_back(home, to=2)


def test_a_version_that_there_is_not(home):
    with pytest.raises(ValueError, match="no version 7, only 10, 2, 1"):
        roll_back(home, to=7)


def test_a_labelled_version_is_not_withdrawn(home):
    label(home, "canary", 10)
    with pytest.raises(ValueError, match=r"zoo label .*half canary 2"):
        roll_back(home)
    assert served(home) == [10, 2, 1]
    label(home, "canary", 2)
    roll_back(home)
    assert served(home) == [2, 1]


def test_labels_are_kept_in_a_file_that_no_server_takes_for_a_version(home):
    assert labels(home) == {}
    label(home, "stable", 1)
    assert label(home, "canary", 10) == {"stable": 1, "canary": 10}
    assert {version.number: version.labels for version in versions(home)}[10] == ("canary",)
    assert label(home, "canary", None) == {"stable": 1} == labels(home)
    assert sorted(path.name for path in home.iterdir()) == ["1", "10", "2", LABELS]


@pytest.mark.parametrize(
    ("name", "number", "told"),
    [
        ("a b", 1, "letters"),
        ("..", 1, "letters"),
        ("-x", 1, "letters"),
        ("stable", 7, "no version 7"),
        ("stable", None, "no label stable"),
    ],
)
def test_labels_that_cannot_be(home, name, number, told):
    with pytest.raises(ValueError, match=told):
        label(home, name, number)
    assert labels(home) == {}


def test_a_withdrawn_version_gets_no_label(home):
    roll_back(home)
    with pytest.raises(ValueError, match=r"zoo rollback .*half --to 10"):
        label(home, "stable", 10)


@pytest.mark.parametrize("text", ["{", "[1]", '{"stable": "3"}', '{"stable": true}'])
def test_a_file_of_labels_that_someone_spoiled(home, text):
    (home / LABELS).write_text(text)
    with pytest.raises(ValueError, match=LABELS):
        versions(home)


def test_pruning_keeps_the_highest_whole_ones_and_the_labelled(home):
    half_plus_two(home / "11", offset=11.0)
    break_version(home, 11)
    label(home, "stable", 1)
    assert prune(home, keep=1) == [11, 2]
    assert served(home) == [10, 1]
    assert not list(home.glob(f"{DELETED}*"))
    with pytest.raises(ValueError, match="At least one"):
        prune(home, keep=0)


def test_pruning_takes_away_what_stands_in_the_place_of_a_version(home, tmp_path):
    (home / "11").write_text("a file")
    shutil.copytree(home / "10", tmp_path / "elsewhere")
    (home / "1").rename(tmp_path / "first")
    (home / "1").symlink_to(tmp_path / "elsewhere")
    assert prune(home, keep=1) == [11, 2, 1]
    assert [entry.name for entry in home.iterdir()] == ["10"]
    assert (tmp_path / "elsewhere" / "saved_model.pb").is_file(), "what a link points to is somebody else's"


def test_going_back_needs_the_place_of_what_is_withdrawn(home):
    shutil.copytree(home / "10", home / f"{WITHDRAWN}10")
    with pytest.raises(ValueError, match=r"10 cannot be withdrawn: .*\.withdrawn-10 is there already"):
        roll_back(home, to=1)
    assert served(home) == [10, 2, 1]


@pytest.mark.parametrize("created", [5, None, ["today"]])
def test_a_manifest_that_tells_no_time(home, created):
    extra = home / "10" / "assets.extra"
    extra.mkdir(exist_ok=True)
    (extra / "zoo.json").write_text(json.dumps({"files": {}, "created": created}))
    assert versions(home)[0].created is None


def test_pruning_leaves_what_is_withdrawn_if_nothing_else_is_whole(home):
    roll_back(home, to=1)
    break_version(home, 1)
    with pytest.raises(ValueError, match="nothing would be left"):
        prune(home, keep=1)
    assert [version.number for version in versions(home)] == [10, 2, 1]


def test_a_running_server_follows_back_and_forward(home):
    settings = Settings(file_system_poll_wait_seconds=0)
    with Server({"half": home}, grpc_port=None, rest_port=0, settings=settings) as server:
        assert ask(server.rest_url) == [11.0]
        roll_back(home)
        server.servables.poll()
        assert ask(server.rest_url) == [3.0]
        roll_back(home, to=10)
        server.servables.poll()
        assert ask(server.rest_url) == [11.0]


def test_zoo_serve_answers_for_labels(home):
    label(home, "stable", 2)
    with serve(home.parent, engine="embedded", grpc_port=0, rest_port=0) as running:
        assert ask(running.rest_url) == [11.0]
        assert ask(running.rest_url, "models/half/labels/stable") == [3.0]
        with pytest.raises(urllib.error.HTTPError):
            ask(running.rest_url, "models/half/versions/1")


def test_a_label_for_a_version_that_went_away(home):
    label(home, "stable", 2)
    shutil.rmtree(home / "2")
    with pytest.raises(ValueError, match=r"zoo label .*half stable VERSION"):
        model_config({"half": home})


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_on_the_command_line(home):
    assert run("versions", home).count("whole") == 2
    assert "Labels of half: stable is 2." in run("label", home, "stable", 2)
    assert "withdrawn" in run("rollback", home)
    assert "Deleted 10, 1 of half." in run("prune", home, "--keep", 1)
    assert "Labels of half: none." in run("label", home, "stable")
    assert "answers requests that name no version" in run("versions", home)
