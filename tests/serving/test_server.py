import shutil
import socket
import threading
import time
from dataclasses import replace

import pytest
from tiny_models import half_plus_two

from zoo.serving.client import GrpcClient, RestClient, ServingError
from zoo.serving.loader import Servable
from zoo.serving.messages import RefusalError
from zoo.serving.server import Server
from zoo.serving.settings import Settings

FAST = Settings(file_system_poll_wait_seconds=0.05)


def wait_for(condition, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.02)


def test_it_tells_which_free_ports_it_took(server):
    assert server.rest_port
    assert server.grpc_port
    assert server.rest_url == f"http://127.0.0.1:{server.rest_port}"
    assert server.grpc_target == f"127.0.0.1:{server.grpc_port}"


@pytest.mark.parametrize("port", ["rest_port", "grpc_port"])
def test_a_port_that_is_taken(models_folder, port):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        ports = {"rest_port": 0, "grpc_port": 0, port: holder.getsockname()[1]}
        with pytest.raises(OSError, match=rf"127\.0\.0\.1:{ports[port]} .*choose another port, or 0"):
            Server({"half": models_folder / "half"}, **ports).start()


def test_a_model_without_a_good_version(tmp_path):
    (tmp_path / "half" / "1").mkdir(parents=True)
    with pytest.raises(ValueError, match=r"model 'half' has no version that can be served: .*Remedy"):
        Server({"half": tmp_path / "half"}, grpc_port=0, rest_port=0).start()


@pytest.mark.parametrize("name", ["half", "nowhere"])
def test_a_model_without_any_version(tmp_path, name):
    (tmp_path / "half").mkdir()
    with pytest.raises(ValueError, match=f"expected .*{name}/1 with a SavedModel"):
        Server({name: tmp_path / name}, grpc_port=0, rest_port=0).start()


class Load(threading.Thread):
    """Asks one question after another until it is told to stop, and keeps the answers and the failures."""

    def __init__(self, client):
        super().__init__(daemon=True)
        self.client = client
        self.answers = []
        self.failures = []
        self.enough = threading.Event()

    def run(self):
        while not self.enough.is_set():
            try:
                self.answers.append(self.client.predict({"x": [0.0]})["y"][0])
            except Exception as error:
                self.failures.append(error)

    def end(self):
        self.enough.set()
        self.join()
        self.client.close()


@pytest.mark.parametrize("settings", [FAST, replace(FAST, enable_batching=True)], ids=["single", "batching"])
def test_versions_change_under_requests_without_a_failure(tmp_path, settings):
    """New ones, a broken one, one that goes away: each request gets an answer, of a version that was good."""
    base = tmp_path / "half"
    base.mkdir()
    half_plus_two(base / "1", offset=1.0)
    with Server({"half": base}, grpc_port=0, rest_port=0, settings=settings) as server:
        rest = RestClient(server.rest_url, model="half")
        loads = [
            Load(RestClient(server.rest_url, model="half")),
            Load(GrpcClient(server.grpc_target, model="half")),
        ]
        for load in loads:
            load.start()
        wait_for(lambda: all(load.answers for load in loads))
        half_plus_two(base / "2", offset=2.0)
        wait_for(lambda: all(load.answers[-1] == 2.0 for load in loads))
        (half_plus_two(base / "3", offset=3.0) / "variables" / "variables.index").unlink()
        wait_for(lambda: rest.status()[0][:2] == (3, "END"))
        half_plus_two(base / "4", offset=4.0)
        wait_for(lambda: all(load.answers[-1] == 4.0 for load in loads))
        shutil.rmtree(base / "4")
        wait_for(lambda: all(load.answers[-1] == 2.0 for load in loads))
        for load in loads:
            load.end()
        rest.close()
    for load in loads:
        assert load.failures == []
        assert set(load.answers) == {1.0, 2.0, 4.0}


def test_stopping_answers_what_was_accepted_and_refuses_the_rest(models_folder, monkeypatch):
    run = Servable.run
    accepted, may_go_on = threading.Semaphore(0), threading.Event()

    def run_when_told(*arguments, **options):
        accepted.release()
        assert may_go_on.wait(20)
        return run(*arguments, **options)

    monkeypatch.setattr(Servable, "run", run_when_told)
    server = Server({"toy": models_folder / "toy"}, grpc_port=0, rest_port=0).start()
    clients = [RestClient(server.rest_url, model="toy"), GrpcClient(server.grpc_target, model="toy")]
    answers = []
    askers = [
        threading.Thread(target=lambda client=client: answers.append(client.answer(["a"])))
        for client in clients
    ]
    for asker in askers:
        asker.start()
    for _ in askers:
        assert accepted.acquire(timeout=20)
    threading.Timer(0.3, may_go_on.set).start()
    server.stop()
    for asker in askers:
        asker.join()
    assert answers == [["A"], ["A"]]
    assert server.has_stopped
    for client in clients:
        with pytest.raises(ServingError, match="UNAVAILABLE"):
            client.answer(["a"])
        client.close()
    server.stop()


@pytest.mark.parametrize(
    ("missing", "other"), [("grpc_port", "rest_port"), ("rest_port", "grpc_port")], ids=["rest", "grpc"]
)
def test_one_port_is_enough(models_folder, missing, other):
    with Server({"toy": models_folder / "toy"}, **{missing: None, other: 0}) as server:
        assert getattr(server, missing) is None
        client = (
            RestClient(server.rest_url, model="toy")
            if server.rest_port
            else GrpcClient(server.grpc_target, model="toy")
        )
        with client:
            assert client.answer(["a"]) == ["A"]


def test_a_file_that_does_not_parse_is_named(models_folder, tmp_path):
    broken = tmp_path / "monitoring.config"
    broken.write_text("prometheus {}")
    with pytest.raises(RefusalError, match=f"Invalid protobuf file: '{broken}'"):
        Server({"toy": models_folder / "toy"}, settings=Settings(monitoring_config_file=str(broken)))


def test_batching_parameters_without_batching(models_folder):
    with pytest.raises(RefusalError, match=r"without setting server_options\.enable_batching to true"):
        Server({"toy": models_folder / "toy"}, settings=Settings(batching_parameters_file="any"))
