import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tensorflow.core.protobuf.meta_graph_pb2 import SignatureDef
from tiny_models import texts

from zoo.serving.batching import Batcher
from zoo.serving.batching_parameters import Parameters, read_parameters
from zoo.serving.client import RestClient
from zoo.serving.loader import Servable
from zoo.serving.messages import RefusalError
from zoo.serving.server import Server
from zoo.serving.settings import Settings


def signature(*outputs):
    made = SignatureDef()
    made.inputs["x"].name = "x:0"
    for output in outputs:
        made.outputs[output].name = f"{output}:0"
    return made


class Doubler:
    """A servable that doubles, and that can be held up; keeps the rows of each batch."""

    path = Path("doubler/1")
    signatures: dict = {}  # noqa: RUF012

    def __init__(self):
        self.batches, self.timeouts = [], []
        self.may_run = threading.Event()
        self.may_run.set()
        self.runs = threading.Semaphore(0)

    def run(self, signature, inputs, outputs, *, timeout=None):
        self.runs.release()
        assert self.may_run.wait(20)
        self.batches.append(inputs["x"].tolist())
        self.timeouts.append(timeout)
        if -1.0 in inputs["x"]:
            raise RefusalError("INVALID_ARGUMENT", "a bad row")
        return {name: inputs["x"] * 2.0 for name in outputs}

    def close(self):
        pass


@pytest.fixture
def doubler():
    return Doubler()


@pytest.fixture
def batch(doubler):
    """Has the doubler run in batches; requests are made one after another, and do not wait for answers."""
    batchers = []
    pool = ThreadPoolExecutor(16)

    def wrap(**parameters):
        batcher = Batcher(Parameters(**{"num_batch_threads": 1, **parameters})).start()
        batchers.append(batcher)
        servable = batcher.wrap(doubler)

        def waiting():
            return sum(len(one.tasks) for queue in list(batcher._waiting) for one in list(queue.batches))

        def call(*rows, outputs=("y",), timeout=None, until=None):
            """Returns once `until` says so or, without it, the request waits in a queue or is answered."""
            before = waiting()
            asked = pool.submit(ask, servable, rows, outputs, timeout)
            while not (until() if until else waiting() > before or asked.done()):
                time.sleep(0.001)
            return asked

        return call

    yield wrap
    doubler.may_run.set()
    pool.shutdown()
    for batcher in batchers:
        batcher.close()


def ask(servable, rows, outputs, timeout):
    answer = servable.run(signature(*outputs), {"x": np.array(rows, np.float32)}, outputs, timeout=timeout)
    return [answer[name].tolist() for name in outputs]


def hold(doubler, call):
    """Occupy the only thread with a batch of its own."""
    doubler.may_run.clear()
    return call(99.0, until=lambda: doubler.runs.acquire(blocking=False))


def test_what_waits_meanwhile_runs_together(doubler, batch):
    call = batch(max_batch_size=4)
    held = hold(doubler, call)
    answers = [call(1.0), call(2.0, 3.0), call(4.0, 5.0), call(6.0)]
    doubler.may_run.set()
    assert held.result(10) == [[198.0]]
    assert [answer.result(10) for answer in answers] == [[[2.0]], [[4.0, 6.0]], [[8.0, 10.0]], [[12.0]]]
    assert doubler.batches == [[99.0], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def test_a_batch_waits_for_more_rows_only_so_long(doubler, batch):
    call = batch(batch_timeout=0.5)
    began = time.monotonic()
    answers = [call(1.0), call(2.0)]
    assert [answer.result(10) for answer in answers] == [[[2.0]], [[4.0]]]
    assert 0.4 < time.monotonic() - began < 5
    assert doubler.batches == [[1.0, 2.0]]


def test_a_batch_waits_for_those_who_were_just_answered(doubler, batch, monkeypatch):
    monkeypatch.setattr("zoo.serving.batching._SHARE_WAITED", 1e6)
    call = batch(max_batch_size=9)
    hold(doubler, call)
    answers = [call(1.0), call(2.0)]
    doubler.may_run.set()
    time.sleep(0.1)
    assert doubler.batches == [[99.0]], "who was answered is expected back"
    answers.append(call(3.0))
    assert [answer.result(10) for answer in answers] == [[[2.0]], [[4.0]], [[6.0]]]
    answers = [call(4.0), call(5.0)]
    time.sleep(0.1)
    assert not any(answer.done() for answer in answers), "three rows were answered"
    answers.append(call(6.0))
    assert [answer.result(10) for answer in answers] == [[[8.0]], [[10.0]], [[12.0]]]
    assert doubler.batches == [[99.0], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def test_who_is_alone_does_not_wait(doubler, batch, monkeypatch):
    monkeypatch.setattr("zoo.serving.batching._SHARE_WAITED", 1e6)
    call = batch(max_batch_size=9)
    assert [call(float(number)).result(10) for number in range(3)] == [[[0.0]], [[2.0]], [[4.0]]]


def test_nobody_is_waited_for_longer_than_a_share_of_the_run(doubler, batch):
    call = batch(max_batch_size=9)
    hold(doubler, call)
    answer = call(1.0)
    doubler.may_run.set()
    assert answer.result(10) == [[2.0]]


def test_a_full_batch_does_not_wait(doubler, batch):
    call = batch(max_batch_size=2, batch_timeout=60.0)
    answers = [call(1.0), call(2.0)]
    assert [answer.result(10) for answer in answers] == [[[2.0]], [[4.0]]]


def test_outputs_that_differ_do_not_share_a_batch(doubler, batch):
    call = batch()
    hold(doubler, call)
    answers = [call(1.0), call(2.0, outputs=("y", "z")), call(3.0)]
    doubler.may_run.set()
    assert [answer.result(10) for answer in answers] == [[[2.0]], [[4.0], [4.0]], [[6.0]]]
    assert sorted(doubler.batches) == [[1.0, 3.0], [2.0], [99.0]]


def test_a_batch_is_filled_up_to_an_allowed_size(doubler, batch):
    call = batch(max_batch_size=8, allowed_batch_sizes=(2, 8))
    assert call(1.0).result(10) == [[2.0]]
    assert call(1.0, 2.0, 3.0).result(10) == [[2.0, 4.0, 6.0]]
    assert doubler.batches == [[1.0, 1.0], [1.0, 2.0, 3.0] + [1.0] * 5]


def test_a_request_larger_than_a_batch_is_refused(batch):
    with pytest.raises(RefusalError) as caught:
        batch(max_batch_size=2)(1.0, 2.0, 3.0).result(10)
    assert caught.value.code == "INVALID_ARGUMENT"
    assert caught.value.message == "Task size 3 is larger than maximum input batch size 2"


def test_a_request_may_be_divided_between_batches(doubler, batch):
    call = batch(max_batch_size=10, enable_large_batch_splitting=True, max_execution_batch_size=3)
    hold(doubler, call)
    answers = [call(1.0, 2.0), call(*map(float, range(3, 9)))]
    doubler.may_run.set()
    assert answers[0].result(10) == [[2.0, 4.0]]
    assert answers[1].result(10) == [[6.0, 8.0, 10.0, 12.0, 14.0, 16.0]]
    assert doubler.batches[1:] == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0]]


def test_a_full_queue_refuses(doubler, batch):
    call = batch(max_batch_size=1, max_enqueued_batches=2)
    hold(doubler, call)
    waiting = [call(1.0), call(2.0)]
    with pytest.raises(RefusalError, match=r"UNAVAILABLE: The batch scheduling queue .* is full"):
        call(3.0).result(10)
    doubler.may_run.set()
    assert [answer.result(10) for answer in waiting] == [[[2.0]], [[4.0]]]


def test_who_waited_too_long_is_refused_unless_another_did_not(doubler, batch):
    call = batch(max_batch_size=2)
    hold(doubler, call)
    late = [call(1.0, timeout=0.05), call(2.0, timeout=0.05)]
    mixed = [call(3.0, timeout=0.05), call(4.0, timeout=60.0)]
    time.sleep(0.1)
    doubler.may_run.set()
    for answer in late:
        with pytest.raises(RefusalError) as caught:
            answer.result(10)
        assert caught.value.code == "RESOURCE_EXHAUSTED"
        assert caught.value.message == "Run() timeout exceeded while waiting in batching queue"
    assert [answer.result(10) for answer in mixed] == [[[6.0]], [[8.0]]]
    assert 50.0 < doubler.timeouts[-1] < 60.0


def test_an_error_is_everyone_s_in_the_batch_and_nobody_else_s(doubler, batch):
    call = batch(max_batch_size=2)
    hold(doubler, call)
    answers = [call(1.0), call(-1.0), call(3.0)]
    doubler.may_run.set()
    for answer in answers[:2]:
        with pytest.raises(RefusalError, match="a bad row"):
            answer.result(10)
    assert answers[2].result(10) == [[6.0]]


def test_a_fault_reaches_those_who_wait(doubler, batch):
    call = batch()
    doubler.run = lambda *arguments, **options: {}["fault"]
    with pytest.raises(KeyError):
        call(1.0).result(10)


def test_without_rows_a_request_runs_by_itself(batch):
    assert batch()().result(10) == [[]]


def test_a_closed_batcher_refuses(doubler):
    batcher = Batcher(Parameters()).start()
    batcher.close()
    with pytest.raises(RefusalError, match="UNAVAILABLE"):
        ask(batcher.wrap(doubler), [1.0], ("y",), None)


def test_parameters_are_read_with_their_defaults(tmp_path):
    assert read_parameters("") == Parameters()
    path = tmp_path / "batching.config"
    path.write_text(
        "max_batch_size { value: 32 } batch_timeout_micros { value: 2000 }\n"
        "max_enqueued_batches { value: 100 } num_batch_threads { value: 4 } allowed_batch_sizes: 1\n"
        "allowed_batch_sizes: 32 pad_variable_length_inputs: true thread_pool_name { value: 'x' }\n"
        "enable_large_batch_splitting { value: true } max_execution_batch_size { value: 32 }\n"
    )
    assert read_parameters(str(path)) == Parameters(32, 0.002, 100, 4, (1, 32), True, True, 32)
    path.write_text("max_batch_size: 32")
    with pytest.raises(RefusalError, match="Invalid protobuf file: '"):
        read_parameters(str(path))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"max_batch_size": 8, "allowed_batch_sizes": (2, 4)},
            "Last entry in allowed_batch_sizes must match",
        ),
        ({"max_batch_size": 4, "allowed_batch_sizes": (4, 2, 4)}, "must be monotonically increasing"),
        ({"max_batch_size": 0}, "max_batch_size must be at least 1; was 0"),
        ({"num_batch_threads": 0}, "num_batch_threads must be at least 1"),
        ({"batch_timeout": -0.1}, "batch_timeout_micros must be at least 0"),
    ],
)
def test_parameters_that_cannot_be(parameters, message):
    with pytest.raises(RefusalError, match=message):
        Parameters(**parameters)


def wait_for(condition, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)


def test_32_clients_at_a_time_share_two_runs(tmp_path, monkeypatch):
    """One that is alone in its batch, since it came first, and one for all that came meanwhile."""
    texts(tmp_path / "texts" / "1")
    config = tmp_path / "batching.config"
    config.write_text("max_batch_size { value: 32 } num_batch_threads { value: 1 }")
    settings = Settings(enable_batching=True, batching_parameters_file=str(config))
    run, sizes, all_wait = Servable.run, [], threading.Event()

    def run_when_all_wait(servable, signature, inputs, outputs, **options):
        sizes.append(len(inputs["text"]))
        assert all_wait.wait(20)
        return run(servable, signature, inputs, outputs, **options)

    monkeypatch.setattr(Servable, "run", run_when_all_wait)
    with (
        Server({"texts": tmp_path / "texts"}, grpc_port=None, rest_port=0, settings=settings) as server,
        RestClient(server.rest_url, model="texts") as client,
        ThreadPoolExecutor(32) as pool,
    ):
        client.metadata()
        first = pool.submit(client.predict, {"text": ["0"]})
        wait_for(lambda: sizes == [1])
        rest = [pool.submit(client.predict, {"text": [str(number)]}) for number in range(1, 32)]
        queued = server._batcher._waiting
        wait_for(lambda: queued and queued[0].batches[0].rows == 31)
        all_wait.set()
        assert [one.result(20)["text"] for one in [first, *rest]] == [[str(number)] for number in range(32)]
    assert sizes == [1, 31]


def test_many_clients_get_their_own_answers_from_a_server_that_batches(tmp_path):
    texts(tmp_path / "texts" / "1")
    settings = Settings(enable_batching=True)
    sent = [f"text {number}" for number in range(120)]
    with Server({"texts": tmp_path / "texts"}, grpc_port=None, rest_port=0, settings=settings) as server:
        with (
            RestClient(server.rest_url, model="texts") as client,
            ThreadPoolExecutor(16) as pool,
        ):
            answers = list(pool.map(lambda text: client.predict({"text": [text]})["text"], sent))
            assert client.predict({"text": []})["text"] == []
        assert answers == [[text.upper()] for text in sent]
