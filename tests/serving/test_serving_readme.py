"""What serving/README.md tells to type and to write is what works."""

import re
import shlex
import socket
import subprocess
import sys

import pytest
import typer.testing
from deployed import ROOT, SERVING, entry_point, read_flags, require_files
from readme import FENCED, blocks, exchanges, run, spans, table

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


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


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


def test_containers_are_reached_from_this_machine_alone():
    """Whoever reaches the gRPC port can replace the set of models."""
    readme = [words for words, _ in exchanges((ROOT / "README.md").read_text(encoding="utf-8"))]
    run_there = [words for words in readme if words[:2] == ["docker", "run"]]
    assert run_there
    for words in [*beginning("docker", "run"), *run_there]:
        ports = [words[place + 1] for place, word in enumerate(words) if word == "-p"]
        assert ports
        assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


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
    assert found.flags.model_config_file == "", "the one that is there names paths of the image"
    assert found.flags.model_base_path == str(ROOT / "saved_models" / "dates")
    assert found.flags.model_name == "dates"


@pytest.mark.parametrize("words", beginning("python", "-m", "zoo.serving"), ids=" ".join)
def test_lines_for_the_embedded_server_start_it(words, models_folder, tmp_path):
    """In a folder like that of the project, with a model of the tests as `dates`, on free ports."""
    (tmp_path / "serving").symlink_to(SERVING)
    (tmp_path / "saved_models").mkdir()
    (tmp_path / "saved_models" / "dates").symlink_to(models_folder / "toy")
    ports = {"8500": str(free_port()), "8501": str(free_port())}
    typed = shlex.join(words).replace(str(ROOT), str(tmp_path))
    for usual, free in ports.items():
        typed = typed.replace(f"={usual}", f"={free}")
    command = [sys.executable, "-m", "zoo.serving", *shlex.split(typed)]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as started:
        try:
            with RestClient(f"http://127.0.0.1:{ports['8501']}", model="dates") as client:
                client.wait_until_available()
                assert client.answer(["friday"]) == ["FRIDAY"]
        finally:
            started.terminate()


def test_flags_without_effect_that_show_in_the_real_server_are_named():
    (told,) = re.findall(r"accepted without effect(.*?)\n\n", TEXT, re.DOTALL)
    named = re.findall("`--([a-z_]+)`", told)
    assert flags.read([f"--{name}=1" for name in named]).without_effect == named
    assert named == [
        "grpc_socket_path",
        "grpc_channel_arguments",
        "saved_model_tags",
        "prefer_tflite_model",
        "platform_config_file",
        "mixed_precision",
        "xla_cpu_compilation_enabled",
        "xla_gpu_compilation_enabled",
        "enable_serialization_as_tensor_content",
        "enable_signature_method_name_check",
        "enable_per_model_batching_parameters",
    ]


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
