import json
import os
import stat
import sys
import textwrap
import threading

import pytest
from google.protobuf import text_format
from tensorflow_serving.config.model_server_config_pb2 import ModelServerConfig
from tiny_models import half_plus_two

from zoo.serving.client import RestClient
from zoo.serving.engines import ENGINES, IMAGE, choose, model_config, serve


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A folder that is the whole PATH, for programs to be put in."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
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


RECORDS_AND_ANSWERS = """
    import http.server, json, pathlib, re, sys
    if sys.argv[1:] == ["info"]:
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


def test_an_engine_can_be_asked_for():
    for engine in ENGINES:
        assert choose(engine) == (engine, "it was asked for")


def test_an_engine_that_is_none():
    with pytest.raises(ValueError, match="unknown engine 'jetty': expected auto, tensorflow_model_server"):
        choose("jetty")


def test_tensorflow_model_server_comes_first(path):
    put(path, "tensorflow_model_server", "")
    put(path, "docker", "")
    assert choose() == (
        "tensorflow_model_server",
        f"it is installed, as {path / 'tensorflow_model_server'}",
    )


def test_docker_comes_second_if_its_engine_answers(path):
    put(path, "docker", "import sys; sys.exit(sys.argv[1:] != ['info'])")
    assert choose().engine == "docker"


def test_the_embedded_server_comes_last(path):
    assert choose().engine == "embedded"
    put(path, "docker", "import sys; sys.exit(1)")
    engine, reason = choose()
    assert engine == "embedded"
    assert reason == "neither tensorflow_model_server nor a Docker engine is to be found"


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
        *ports, config = record["arguments"]
        assert ports == [f"--port={grpc_port}", f"--rest_api_port={rest_port}"]
        assert config.startswith("--model_config_file=/")
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
        scratch = record["arguments"][10].removesuffix(":/config:ro")
        assert record["arguments"] == [
            *("run", "--rm", "--init"),
            *("-p", f"127.0.0.1:{grpc_port}:8500", "-p", f"127.0.0.1:{rest_port}:8501"),
            *("-v", f"{models / 'half'}:/models/half:ro", "-v", f"{scratch}:/config:ro"),
            *("--entrypoint", "tensorflow_model_server", IMAGE),
            *("--port=8500", "--rest_api_port=8501", "--model_config_file=/config/models.config"),
        ]
        assert parsed(record["config"])["half"].base_path == "/models/half"
    assert IMAGE == "tensorflow/serving:2.20.0"


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
