"""What serving/README.md tells to type and to write is what works."""

import re
import shlex

import pytest
import typer.testing
from deployed import ROOT, SERVING, entry_point, read_flags, require_files
from readme import FENCED, blocks, run, spans, table

from zoo.cli import app
from zoo.serving import flags
from zoo.serving.client import GrpcClient, RestClient

TEXT = (SERVING / "README.md").read_text(encoding="utf-8")
IMAGE_NAMES = {"seq2seq-zoo", "seq2seq-zoo:gpu"}


def lines():
    """The lines to type, those that go on joined, each in words, without variables before the program."""
    text = FENCED.sub("", TEXT).replace("\\\n", " ").replace("$PWD", str(ROOT))
    return [shlex.split(line) for line in re.findall(r"^ {4}(?:[A-Z]+=\w+ )?(\S.*)$", text, re.MULTILINE)]


def beginning(*start):
    found = [words[len(start) :] for words in lines() if words[: len(start)] == list(start)]
    assert found
    return found


def test_every_line_is_checked_below():
    programs = ("docker build", "docker run", "docker compose", "kubectl apply", "zoo serve")
    programs += ("python -m zoo.serving", "sh serving/examples/", "curl -d")
    assert [line for line in map(" ".join, lines()) if not line.startswith(programs)] == []


def test_images_are_built_under_the_names_that_are_run():
    built = [words[words.index("-t") + 1] for words in beginning("docker", "build")]
    assert set(built) == IMAGE_NAMES
    arguments = {
        words[words.index("--build-arg") + 1]
        for words in beginning("docker", "build")
        if "--build-arg" in words
    }
    assert arguments == {"VARIANT=-gpu"}


@pytest.mark.parametrize("words", beginning("docker", "run"), ids=" ".join)
def test_flags_of_a_container_are_known(words):
    (name,) = IMAGE_NAMES.intersection(words)
    given = words[words.index(name) + 1 :]
    require_files(read_flags(entry_point()[1] + given))


@pytest.mark.parametrize("words", beginning("docker", "compose"), ids=" ".join)
def test_the_compose_file_is_there(words):
    assert (ROOT / words[words.index("-f") + 1]).samefile(SERVING / "compose.yaml")


def test_the_manifests_are_there():
    ((flag, folder),) = beginning("kubectl", "apply")
    assert flag == "-f"
    assert (ROOT / folder).samefile(SERVING / "kubernetes")


def test_lines_of_the_command_line_are_understood():
    (words,) = beginning("zoo", "serve")
    help_text = typer.testing.CliRunner().invoke(app, ["serve", "--help"]).output
    for option in words:
        assert not option.startswith("--") or option in help_text


@pytest.mark.parametrize("words", beginning("python", "-m", "zoo.serving"), ids=" ".join)
def test_lines_for_the_embedded_server_are_understood(words):
    found = flags.read(words)
    assert found.unknown == []
    assert found.without_effect == []
    for name in ("model_config_file", "batching_parameters_file"):
        assert not (value := getattr(found.flags, name)) or (ROOT / value).is_file()


def test_the_line_with_curl_is_answered(ask):
    ((flag, body, url),) = beginning("curl")
    assert flag == "-d"
    assert url == "http://127.0.0.1:8501/v1/models/dates:predict"
    answer = ask("POST", "/v1/models/toy:predict", body.encode())
    assert answer.json == {"predictions": ["FRIDAY, FEBRUARY 15, 2019"]}


def test_examples_are_there():
    for script, *_ in beginning("sh"):
        assert (ROOT / script).is_file()


def test_the_table_names_every_file():
    named = {name.strip("`/") for row in table(TEXT, "file") for name in row[0].split(", ")}
    told_elsewhere = {"README.md", "compose.yaml", "kubernetes"}
    assert named == {path.name for path in SERVING.iterdir()} - told_elsewhere


def test_paths_that_are_named_are_there():
    names = {
        span
        for span in spans(TEXT)
        if re.fullmatch(r"(\.\./|kubernetes/|examples/)?[\w.-]+\.(config|yaml|sh)", span)
    }
    assert len(names) > 8
    assert [name for name in names if not (SERVING / name).exists()] == []


def test_the_python_works(server, monkeypatch):
    """Against a server of the tests, whose model is no `dates`."""
    asked = []

    class Rest(RestClient):
        def __init__(self, url, *, model, label=None, **options):
            asked.append((url, model, label))
            super().__init__(server.rest_url, model="toy", **options)

    class Grpc(GrpcClient):
        def __init__(self, target, *, model):
            asked.append((target, model, None))
            super().__init__(target, model=model)

    monkeypatch.setattr("zoo.serving.client.RestClient", Rest)
    monkeypatch.setattr("zoo.serving.client.GrpcClient", Grpc)
    printed = []
    for block in blocks(TEXT):
        assert block.info == "python"
        namespace = {"__name__": "document"}
        printed += run(block.code, namespace).printed
        if client := namespace.get("client"):
            client.close()
    assert printed == ["['FRIDAY, FEBRUARY 15, 2019']"]
    assert asked == [
        ("dns:///models-grpc:8500", "dates", None),
        ("http://127.0.0.1:8501", "dates", "canary"),
        ("http://127.0.0.1:8501", "dates", None),
    ]
