"""The studio as a whole: it serves models and page, tells what it cannot, and ends when it is told to."""

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest
import tensorflow as tf
from interruptible import interruptible

from zoo.serving.server import Server
from zoo.studio import open_studio

FROM_A_PAGE = {"Origin": "http://127.0.0.1:8600"}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """One model, which writes texts in capitals."""
    folder = tmp_path_factory.mktemp("models")
    module = tf.Module()
    text = tf.TensorSpec([None], tf.string, name="text")
    module.answer = tf.function(lambda text: {"text": tf.strings.upper(text)}, input_signature=[text])
    tf.saved_model.save(module, str(folder / "capitals" / "1"), signatures=module.answer)
    return folder


def get(url, body=None):
    request = urllib.request.Request(url, data=body, headers=FROM_A_PAGE)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.headers, json.loads(answer.read())


def is_open(url):
    host, port = re.fullmatch(r"http://([^/:]+):([0-9]+)/?", url).groups()
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def test_models_and_page_are_served_side_by_side(models):
    with open_studio(models, port=0) as studio:
        assert studio.server.engine == "embedded"
        _, told = get(f"{studio.url}models.json")
        assert told["rest_url"] == studio.server.rest_url
        assert told["started_here"]
        assert [model["name"] for model in told["models"]] == ["capitals"]
        headers, answer = get(
            f"{told['rest_url']}/v1/models/capitals:predict", b'{"inputs": {"text": ["a"]}}'
        )
        assert answer == {"outputs": ["A"]}
        assert headers["access-control-allow-origin"] == "*"
        assert is_open(studio.url)
    assert not is_open(studio.url)
    assert not is_open(told["rest_url"])


def test_a_server_that_runs_already_is_named_and_left_alone(models):
    with Server({"capitals": models / "capitals"}, grpc_port=None, rest_port=0) as server:
        with open_studio(models, port=0, rest_url=f"{server.rest_url}/") as studio:
            _, told = get(f"{studio.url}models.json")
            assert (told["rest_url"], told["started_here"]) == (server.rest_url, False)
        assert is_open(server.rest_url)


@pytest.mark.parametrize("folder", [None, "nowhere"])
def test_a_named_server_needs_no_folder(tmp_path, folder):
    with open_studio(folder and tmp_path / folder, port=0, rest_url="http://models.example:8501") as studio:
        assert get(f"{studio.url}models.json")[1]["models"] == []


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8501", "ftp://a", "http://", "http://a b", "http://a; script-src *"]
)
def test_a_url_that_is_none(url):
    with pytest.raises(ValueError, match=r"Expected the URL of a server, such as http://127\.0\.0\.1:8501"):
        open_studio(None, port=0, rest_url=url).__enter__()


def test_nothing_to_serve(tmp_path):
    with pytest.raises(ValueError, match="Give the folder"):
        open_studio(None, port=0).__enter__()
    with pytest.raises(ValueError, match="no models below"):
        open_studio(tmp_path, port=0).__enter__()


def test_a_port_that_is_taken_is_told_before_models_are_loaded(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        number = other.getsockname()[1]
        with pytest.raises(OSError, match=f"port {number} cannot be had for the page .* --port"):
            open_studio(tmp_path / "not looked at", port=number).__enter__()


def test_the_command_ends_all_when_it_is_told_to(models):
    command = [sys.executable, "-m", "zoo", "studio", str(models), "--port", "0"]
    with subprocess.Popen(
        interruptible(command), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        urls = {}
        for line in process.stdout:
            urls |= dict(re.findall(r"(Models|Studio): (http://[^ ,\n]+)", line))
            if "Ctrl-C stops." in line:
                break
        assert is_open(urls["Studio"])
        assert is_open(urls["Models"])
        process.send_signal(signal.SIGINT)
        # 130, where it came before the studio began to wait for it
        assert process.wait(timeout=60) in (0, 128 + signal.SIGINT)
    assert not is_open(urls["Studio"])
    assert not is_open(urls["Models"])
