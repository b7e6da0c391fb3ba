import logging
import shutil
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from half_servables import ask, states
from tensorflow_serving.apis.prediction_log_pb2 import PredictionLog
from tiny_models import TEXT, X, half_plus_two, save, texts

from zoo.serving.configs import ModelConfig, Policy
from zoo.serving.folders import BrokenVersionError
from zoo.serving.loader import Servable
from zoo.serving.messages import RefusalError
from zoo.serving.servables import Servables, State

ROOT = Path(__file__).parents[2]


def spoil(folder):
    (folder / "variables" / "variables.index").unlink()


def test_the_latest_version_answers(base, open_servables):
    half_plus_two(base / "1", offset=2.0)
    half_plus_two(base / "3", offset=4.0)
    servables = open_servables()
    assert ask(servables) == (3, [4.5])
    assert states(servables) == {3: "AVAILABLE"}


def test_every_version_answers_under_its_number(base, open_servables):
    half_plus_two(base / "1", offset=2.0)
    half_plus_two(base / "3", offset=4.0)
    servables = open_servables(Policy.all())
    assert ask(servables, 1) == (1, [2.5])
    assert ask(servables, 3) == (3, [4.5])
    assert [status.version for status in servables.status("half")] == [3, 1]


def test_only_the_versions_named_are_served(base, open_servables):
    half_plus_two(base / "1", offset=2.0)
    half_plus_two(base / "3", offset=4.0)
    assert ask(open_servables(Policy.specific(1, 2))) == (1, [2.5])


@pytest.mark.parametrize(
    ("name", "version", "message"),
    [
        ("other", None, "Servable not found for request: Latest(other)"),
        ("half", 9, "Servable not found for request: Specific(half, 9)"),
    ],
)
def test_what_is_not_served_is_not_found(base, open_servables, name, version, message):
    half_plus_two(base / "1")
    with pytest.raises(RefusalError, match="NOT_FOUND") as caught, open_servables().acquire(name, version):
        pass
    assert caught.value.message == message


def test_a_new_version_takes_over_and_the_old_one_is_unloaded(base, open_servables):
    half_plus_two(base / "1", offset=2.0)
    servables = open_servables()
    half_plus_two(base / "2", offset=3.0)
    servables.poll()
    assert ask(servables) == (2, [3.5])
    assert states(servables) == {2: "AVAILABLE", 1: "END"}


def test_without_the_newest_version_the_next_lower_one_serves(base, open_servables):
    half_plus_two(base / "1", offset=2.0)
    half_plus_two(base / "2", offset=3.0)
    servables = open_servables()
    shutil.rmtree(base / "2")
    servables.poll()
    assert ask(servables) == (1, [2.5])


def test_a_version_in_use_is_unloaded_only_when_it_is_let_go(base, open_servables):
    half_plus_two(base / "1", offset=2.0)
    servables = open_servables()
    with servables.acquire("half") as (number, servable):
        half_plus_two(base / "2", offset=3.0)
        servables.poll()
        assert states(servables) == {2: "AVAILABLE", 1: "UNLOADING"}
        signature = servable.signatures["serving_default"]
        assert servable.run(signature, {"x": np.zeros(1, np.float32)}, ["y"])["y"].tolist() == [2.0]
        assert number == 1
    assert states(servables) == {2: "AVAILABLE", 1: "END"}


def test_closing_waits_for_the_requests_in_progress(base, open_servables):
    half_plus_two(base / "1")
    servables = open_servables()
    lent, closed = threading.Event(), threading.Event()

    def hold():
        with servables.acquire("half"):
            lent.set()
            assert not closed.wait(0.3)

    holder = threading.Thread(target=hold)
    holder.start()
    lent.wait()
    servables.close()
    closed.set()
    holder.join()
    assert states(servables) == {1: "END"}


def test_a_broken_version_is_refused_and_the_good_one_goes_on_serving(base, open_servables, caplog):
    half_plus_two(base / "1", offset=2.0)
    servables = open_servables()
    spoil(half_plus_two(base / "2"))
    servables.poll()
    servables.poll()
    assert ask(servables) == (1, [2.5])
    (broken, _) = servables.status("half")
    assert (broken.state, broken.error_code) == (State.END, "FAILED_PRECONDITION")
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    for part in (
        str(base / "2"),
        "variables/variables.index is missing",
        "Remedy: publish the version again",
    ):
        assert part in record.getMessage()
        assert part in broken.error_message


def test_at_the_start_a_broken_version_is_passed_over_for_the_next_lower_good_one(base, open_servables):
    half_plus_two(base / "1", offset=2.0)
    half_plus_two(base / "2", offset=3.0)
    (base / "3").mkdir()
    spoil(half_plus_two(base / "4"))
    servables = open_servables()
    assert ask(servables) == (2, [3.5])
    assert states(servables) == {4: "END", 3: "END", 2: "AVAILABLE"}


def test_with_broken_versions_alone_what_is_loaded_stays(base, open_servables):
    half_plus_two(base / "1", offset=2.0)
    servables = open_servables()
    shutil.rmtree(base / "1")
    (base / "2").mkdir()
    servables.poll()
    assert ask(servables) == (1, [2.5])


def test_a_missing_base_path_unloads_nothing_and_an_empty_one_everything(base, open_servables):
    half_plus_two(base / "1", offset=2.0)
    servables = open_servables()
    base.rename(base.with_name("away"))
    servables.poll()
    assert ask(servables) == (1, [2.5])
    base.mkdir()
    servables.poll()
    with pytest.raises(RefusalError, match=r"Latest\(half\)"):
        ask(servables)


def test_a_refused_version_is_tried_again_only_when_its_folder_changes(base, open_servables, monkeypatch):
    tried = []
    check = sys.modules["zoo.serving.loader"].check
    monkeypatch.setattr("zoo.serving.loader.check", lambda path: tried.append(path.name) or check(path))
    half_plus_two(base / "1")
    version = half_plus_two(base / "2", offset=3.0)
    index = version / "variables" / "variables.index"
    content = index.read_bytes()
    index.unlink()
    servables = open_servables()
    servables.poll()
    assert tried == ["2", "1"]
    index.write_bytes(content)
    servables.poll()
    assert tried == ["2", "1", "2"]
    assert ask(servables) == (2, [3.5])


def test_a_cut_off_variable_file_is_refused_even_without_a_manifest(base, open_servables):
    half_plus_two(base / "1", offset=2.0)
    servables = open_servables()
    data = half_plus_two(base / "2") / "variables" / "variables.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:2])
    servables.poll()
    assert ask(servables) == (1, [2.5])
    assert "TensorFlow cannot load it" in servables.status("half", 2)[0].error_message


def test_a_graph_that_asks_for_xla_is_refused(base, open_servables):
    compiled = tf.function(lambda x: x + 1.0, jit_compile=True, input_signature=[X])
    save(base / "1", tf.Module(), serving_default=(lambda x: {"y": compiled(x)}, [X]))
    (status,) = open_servables().status("half")
    assert status.state is State.END
    assert "XLA" in status.error_message
    assert "without jit_compile=True" in status.error_message


def test_closing_cancels_what_outlasts_its_patience(tmp_path):
    texts(tmp_path / "texts" / "1")
    servables = Servables({"texts": ModelConfig(tmp_path / "texts")})
    servables.poll()
    lent, outcome = threading.Event(), []

    def run_for_ever():
        with servables.acquire("texts") as (_, servable):
            lent.set()
            try:
                servable.run(
                    servable.signatures["slow"], {"steps": np.array([2**31 - 1], np.int32)}, ["done"]
                )
            except RefusalError as error:
                outcome.append(error.code)

    runner = threading.Thread(target=run_for_ever)
    runner.start()
    lent.wait()
    servables.close(timeout=0.2)
    runner.join(20)
    assert outcome == ["CANCELLED"]


def write_warmup(folder, *inputs):
    (folder / "assets.extra").mkdir()
    with tf.io.TFRecordWriter(str(folder / "assets.extra" / "tf_serving_warmup_requests")) as writer:
        for name in inputs:
            log = PredictionLog()
            log.predict_log.request.model_spec.name = "half"
            log.predict_log.request.inputs[name].CopyFrom(tf.make_tensor_proto([1.0], tf.float32))
            writer.write(log.SerializeToString())


def test_warm_up_records_are_replayed_before_a_version_is_available(base, open_servables, caplog):
    caplog.set_level(logging.INFO)
    write_warmup(half_plus_two(base / "1"), "x", "x")
    assert ask(open_servables()) == (1, [2.5])
    assert "replayed 2 warm-up records" in caplog.text


@pytest.mark.parametrize(("given", "runs"), [(-1, 2), (0, 2), (1, 2), (3, 6)])
def test_warm_up_records_are_replayed_as_often_as_is_asked(base, open_servables, monkeypatch, given, runs):
    ran, run = [], Servable.run
    monkeypatch.setattr(Servable, "run", lambda *words, **more: ran.append(1) or run(*words, **more))
    write_warmup(half_plus_two(base / "1"), "x", "x")
    open_servables(num_request_iterations_for_warmup=given)
    assert len(ran) == runs


def test_a_version_whose_warm_up_fails_is_refused(base, open_servables):
    half_plus_two(base / "1", offset=2.0)
    write_warmup(half_plus_two(base / "2"), "x", "nonsense")
    servables = open_servables()
    assert ask(servables) == (1, [2.5])
    assert (
        "record 1 of assets.extra/tf_serving_warmup_requests" in servables.status("half", 2)[0].error_message
    )


def test_a_version_is_refused_whose_warm_up_asks_for_an_output_that_it_lacks(base, open_servables):
    folder = half_plus_two(base / "1")
    write_warmup(folder, "x")
    file = folder / "assets.extra" / "tf_serving_warmup_requests"
    (record,) = tf.data.TFRecordDataset(str(file)).as_numpy_iterator()
    log = PredictionLog.FromString(record)
    log.predict_log.request.output_filter.append("z")
    with tf.io.TFRecordWriter(str(file)) as writer:
        writer.write(log.SerializeToString())
    message = open_servables().status("half", 1)[0].error_message
    assert "it asks for the output 'z', expected ['y']" in message


def test_a_warm_up_file_that_is_no_tfrecord_is_refused(base, open_servables):
    extra = half_plus_two(base / "1") / "assets.extra"
    extra.mkdir()
    (extra / "tf_serving_warmup_requests").write_text("this is no TFRecord file, whatever it is called")
    assert "record 0 of" in open_servables().status("half", 1)[0].error_message


def test_text_ops_are_registered_without_importing_their_package(base):
    """In a fresh process, since ops once registered stay so."""
    import importlib.util

    (package,) = importlib.util.find_spec("tensorflow_text").submodule_search_locations
    library = tf.load_op_library(str(Path(package, "python", "ops", "_normalize_ops.so")))
    folder = save(
        base / "1", tf.Module(), serving_default=(lambda text: {"text": library.case_fold_utf8(text)}, [TEXT])
    )
    script = textwrap.dedent(
        f"""
        import sys
        from pathlib import Path
        import numpy as np
        from zoo.serving.loader import load
        servable = load(Path({str(folder)!r}))
        text = np.array([b"HELLO"], object)
        out = servable.run(servable.signatures["serving_default"], {{"text": text}}, ["text"])
        assert out["text"].tolist() == [b"hello"], out
        assert "tensorflow_text" not in sys.modules
        """
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT, timeout=120)


def test_a_version_that_failed_is_tried_again_so_many_times(base, open_servables, monkeypatch):
    tried = []
    monkeypatch.setattr("zoo.serving.loader.check", lambda path: tried.append(path.name) or refuse(path))

    def refuse(path):
        raise BrokenVersionError(path, "the network is away")

    half_plus_two(base / "1")
    servables = open_servables(max_num_load_retries=2, load_retry_interval_micros=0)
    for _ in range(4):
        servables.poll()
    assert tried == ["1"] * 3


def test_warm_up_can_be_left_out(base, open_servables):
    write_warmup(half_plus_two(base / "1", offset=2.0), "nonsense")
    assert ask(open_servables(enable_model_warmup=False)) == (1, [2.5])
