import json
import os
import platform
import re
import stat
import sys
import textwrap
import threading
import time

import pytest
from google.protobuf import text_format
from tensorflow_serving.config.model_server_config_pb2 import ModelServerConfig
from tiny_models import half_plus_two

from zoo.serving import engines
from zoo.serving.client import RestClient
from zoo.serving.configs import model_config
from zoo.serving.engines import ENGINES, IMAGE, choose, serve


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A folder that is the whole PATH, for programs to be put in, on a machine that the image runs on."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    return folder


@pytest.fixture
def models(tmp_path):
    folder = tmp_path / "models"
    half_plus_two(folder / "half" / "1")
    half_plus_two(folder / "half" / "2")
    half_plus_two(folder / "other" / "5")
    return folder


def put(folder, name, script):
    """An executable Python script."""
    program = folder / name
    program.write_text(f"#!{sys.executable}\n{textwrap.dedent(script)}")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def wait_until(is_so):
    deadline = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


RECORDS_AND_ANSWERS = """
    import http.server, json, pathlib, re, sys
    if sys.argv[1] in ("info", "rm"):
        sys.exit(0)
    arguments = " ".join(sys.argv[1:])
    config = re.search(r"--model_config_file=(\\S+)", arguments)[1]
    folder = re.search(r"-v (\\S+):/config:ro", arguments)
    config = config.replace("/config", folder[1]) if folder else config
    record = {"arguments": sys.argv[1:], "config": pathlib.Path(config).read_text()}
    pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(record))
    flag = re.search(r"--rest_api_port=([0-9]+)", arguments)
    port = re.search(r"127.0.0.1:([0-9]+):8501", arguments) or flag
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            status = {"version": "1", "state": "AVAILABLE", "status": {}}
            self.wfile.write(json.dumps({"model_version_status": [status]}).encode())
    http.server.HTTPServer(("127.0.0.1", int(port[1])), Handler).serve_forever()
"""


OPEN = "it listens on all addresses of this machine"


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_can_be_asked_for(engine):
    note = f"; {OPEN}" if engine == "tensorflow_model_server" else ""
    assert choose(engine) == (engine, f"it was asked for{note}")


def test_an_engine_that_is_none():
    with pytest.raises(ValueError, match="unknown engine 'jetty': expected auto, tensorflow_model_server"):
        choose("jetty")


def test_tensorflow_model_server_comes_first(path):
    put(path, "tensorflow_model_server", "")
    put(path, "docker", "")
    assert choose() == (
        "tensorflow_model_server",
        f"it is installed, as {path / 'tensorflow_model_server'}; {OPEN}",
    )


def test_docker_comes_second_if_its_engine_answers(path):
    put(path, "docker", "import sys; sys.exit(sys.argv[1:] != ['info'])")
    assert choose() == ("docker", "tensorflow_model_server is not on PATH, and a Docker engine answers")


@pytest.mark.parametrize(("machine", "engine"), [("AMD64", "docker"), ("arm64", "embedded")])
def test_docker_is_chosen_only_where_the_image_runs(path, monkeypatch, machine, engine):
    put(path, "docker", "")
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert choose().engine == engine
    assert engine == "docker" or choose().reason == (
        f"tensorflow_model_server is not on PATH, and {IMAGE} runs on x86_64 alone, not on arm64"
    )
    assert choose("docker").engine == "docker"


def test_the_embedded_server_comes_last(path):
    assert choose().engine == "embedded"
    put(path, "docker", "import sys; sys.exit(1)")
    engine, reason = choose()
    assert engine == "embedded"
    assert reason == "tensorflow_model_server is not on PATH, and no Docker engine answers"


def parsed(text):
    return {
        entry.name: entry for entry in text_format.Parse(text, ModelServerConfig()).model_config_list.config
    }


def test_a_config_serves_the_latest_versions(models):
    config = parsed(model_config({"half": models / "half"}))["half"]
    assert (config.base_path, config.model_platform) == (str(models / "half"), "tensorflow")
    assert not config.HasField("model_version_policy")


def test_a_config_names_the_good_version_where_the_newest_is_broken(models, caplog):
    (models / "half" / "2" / "saved_model.pb").unlink()
    policy = parsed(model_config({"half": models / "half"}))["half"].model_version_policy
    assert list(policy.specific.versions) == [1]
    assert "it has no saved_model.pb" in caplog.text


def test_a_config_needs_a_good_version(models):
    for version in ("1", "2"):
        (models / "half" / version / "saved_model.pb").unlink()
    with pytest.raises(ValueError, match=r"model 'half' has no version that can be served: .*Remedy"):
        model_config({"half": models / "half"})


def test_serve_runs_tensorflow_model_server(path, models):
    put(path, "tensorflow_model_server", RECORDS_AND_ANSWERS)
    with serve(models, grpc_port=0, rest_port=0) as running:
        record = json.loads((path / "tensorflow_model_server.json").read_text())
        grpc_port = running.grpc_target.rpartition(":")[2]
        rest_port = running.rest_url.rpartition(":")[2]
        *ports, config, labels = record["arguments"]
        assert ports == [f"--port={grpc_port}", f"--rest_api_port={rest_port}"]
        assert config.startswith("--model_config_file=/")
        assert labels == engines.LABELS_BEFORE_LOADING
        assert set(parsed(record["config"])) == {"half", "other"}
        assert running.engine == "tensorflow_model_server"
        assert RestClient(running.rest_url, model="half").is_available()
    assert not RestClient(running.rest_url, model="half").is_available()
    assert not os.path.exists(config.partition("=")[2])


def test_serve_runs_docker(path, models):
    put(path, "docker", RECORDS_AND_ANSWERS)
    with serve(models, engine="docker", grpc_port=0, rest_port=0, names=["half"]) as running:
        record = json.loads((path / "docker.json").read_text())
        grpc_port = running.grpc_target.rpartition(":")[2]
        rest_port = running.rest_url.rpartition(":")[2]
        scratch = record["arguments"][12].removesuffix(":/config:ro")
        name = record["arguments"][4]
        assert re.fullmatch(r"zoo-serving-\w+", name)
        assert record["arguments"] == [
            *("run", "--rm", "--init", "--name", name),
            *("-p", f"127.0.0.1:{grpc_port}:8500", "-p", f"127.0.0.1:{rest_port}:8501"),
            *("-v", f"{models / 'half'}:/models/half:ro", "-v", f"{scratch}:/config:ro"),
            *("--entrypoint", "tensorflow_model_server", IMAGE),
            *("--port=8500", "--rest_api_port=8501", "--model_config_file=/config/models.config"),
            engines.LABELS_BEFORE_LOADING,
        ]
        assert parsed(record["config"])["half"].base_path == "/models/half"
    assert IMAGE == "tensorflow/serving:2.20.0"


def test_serve_says_that_tensorflow_model_server_is_open_to_the_network(path, models, caplog):
    put(path, "tensorflow_model_server", RECORDS_AND_ANSWERS)
    with serve(models, grpc_port=0, rest_port=0) as running:
        assert running.reason.endswith(OPEN)
        assert OPEN in caplog.text


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_host_that_is_given_is_kept(path, models, host):
    put(path, "tensorflow_model_server", RECORDS_AND_ANSWERS)
    with serve(models, host=host, grpc_port=0, rest_port=0) as running:
        assert running.engine == "embedded"
        assert running.reason == (
            f"tensorflow_model_server cannot keep to {host}, and no Docker engine answers"
        )
    assert not (path / "tensorflow_model_server.json").exists()


def test_tensorflow_model_server_refuses_a_host_that_it_cannot_keep(path, models):
    put(path, "tensorflow_model_server", RECORDS_AND_ANSWERS)
    with pytest.raises(ValueError, match=r"cannot keep to 127.0.0.1: .*host 0\.0\.0\.0"):
        serve(models, engine="tensorflow_model_server", host="127.0.0.1", grpc_port=0, rest_port=0)
    assert not (path / "tensorflow_model_server.json").exists()


@pytest.fixture
def available(monkeypatch):
    """Every server counts as available at once: for addresses that this machine may not have."""

    class Available(RestClient):
        def is_available(self):
            return True

    monkeypatch.setattr(engines, "RestClient", Available)


@pytest.mark.parametrize("engine", ["auto", "tensorflow_model_server"])
@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_tensorflow_model_server_serves_all_addresses(path, models, available, engine, host):
    put(path, "tensorflow_model_server", "import time; time.sleep(60)")
    with serve(models, engine=engine, host=host, grpc_port=18500, rest_port=18501) as running:
        assert running.engine == "tensorflow_model_server"
        # Its gRPC listens on IPv4 alone.
        assert (running.rest_url, running.grpc_target) == ("http://127.0.0.1:18501", "127.0.0.1:18500")


@pytest.mark.parametrize(
    ("host", "published", "reachable"),
    [
        ("0.0.0.0", "0.0.0.0", "127.0.0.1"),
        ("10.0.0.7", "10.0.0.7", "10.0.0.7"),
        ("::1", "[::1]", "[::1]"),
        ("::", "[::]", "[::1]"),
        ("fd00::7", "[fd00::7]", "[fd00::7]"),
    ],
)
def test_docker_keeps_to_a_host(path, models, available, host, published, reachable):
    put(
        path,
        "docker",
        """
        import pathlib, sys, time
        if sys.argv[1] == "run":
            record = pathlib.Path(__file__).with_suffix(".txt")
            record.with_suffix(".new").write_text(" ".join(sys.argv))
            record.with_suffix(".new").rename(record)
            time.sleep(60)
        """,
    )
    with serve(models, engine="docker", host=host, grpc_port=18500, rest_port=18501) as running:
        assert running.rest_url == f"http://{reachable}:18501"
        assert running.grpc_target == f"{reachable}:18500"
        record = path / "docker.txt"
        wait_until(record.exists)
        assert f"-p {published}:18500:8500 -p {published}:18501:8501" in record.read_text()


@pytest.mark.parametrize("client", ["time.sleep(60)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_no_container_survives_its_server(path, models, available, monkeypatch, client):
    """Neither where Docker's client ignores the end that it is asked for, nor where it was killed before."""
    monkeypatch.setattr(engines, "_STOP_SECONDS", 0.1)
    put(
        path,
        "docker",
        f"""
        import os, pathlib, signal, sys, time
        here = pathlib.Path(__file__).parent
        if sys.argv[1] == "run":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            (here / "started.new").write_text(sys.argv[sys.argv.index("--name") + 1])
            (here / "started.new").rename(here / "started")
            {client}
        if sys.argv[1:3] == ["rm", "--force"]:
            (here / "removed").write_text(" ".join(sys.argv[3:]))
        """,
    )
    with serve(models, engine="docker", grpc_port=0, rest_port=0) as running:
        wait_until((path / "started").exists)
        if "SIGKILL" in client:
            running.wait()
    assert (path / "removed").read_text() == (path / "started").read_text()


def test_an_engine_that_does_not_start_shows_the_end_of_its_log(path, models):
    put(path, "tensorflow_model_server", "import sys; print('no such flag'); sys.exit(3)")
    with pytest.raises(RuntimeError, match=r"(?s)ended with 3.*no such flag"):
        serve(models, grpc_port=0, rest_port=0)


def test_serve_embedded(path, models):
    with serve(models, grpc_port=0, rest_port=0, names=["half"]) as running:
        assert running.engine == "embedded"
        with RestClient(running.rest_url, model="half") as client:
            assert client.predict({"x": [1.0]}) == {"y": [2.5]}
        assert not RestClient(running.rest_url, model="other").is_available()
        threading.Timer(0.2, running.stop).start()
        running.wait()


def test_serve_needs_models_that_are_there(path, models, tmp_path):
    with pytest.raises(ValueError, match=r"no model third below .*, only half, other"):
        serve(models, names=["half", "third"])
    with pytest.raises(ValueError, match=r"no models below .*expected .*/NAME/1"):
        serve(tmp_path / "nowhere")


@pytest.mark.parametrize("ports", [{"grpc_port": 65_536, "rest_port": 0}, {"grpc_port": 0, "rest_port": -1}])
def test_a_port_that_is_none(path, models, ports):
    with pytest.raises(ValueError, match="a port is a number from 1 to 65535, or 0 for a free one, got"):
        serve(models, engine="embedded", **ports)
