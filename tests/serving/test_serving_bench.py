"""What `make bench-serving` measures, in seconds and on a model that needs no time; the page it writes."""

import copy
import json
from pathlib import Path

import pytest
import tensorflow as tf
from tiny_models import seq2seq

from benchmarks import serving, serving_export
from benchmarks.serving_faults import Faulted
from benchmarks.serving_models import Served, alphabet, texts
from benchmarks.serving_overhead import CLIENTS, Overhead, Throughput, measure_overhead, measure_throughput
from benchmarks.serving_page import page
from benchmarks.serving_sustained import SAMPLES, Sustained, growth, measure_sustained
from benchmarks.work import MODELS

DOCS = Path(__file__).parents[2] / "docs"
FOUND = [
    ("overhead", Overhead("tiny", "gRPC", 11.0, 10.0, 1.1, 1.15)),
    ("overhead", Overhead("tiny", "REST", 14.0, 10.0, 1.4, 1.3)),
    ("overhead", Overhead("dates", "REST", 14.0, 10.0, 1.4, None)),
    ("throughput", Throughput("tiny", 32, 100.0, 310.0, 320.0, 100.0, 3.1, 3.0)),
    ("sustained", Sustained("tiny", 32, 10.0, 12345, 0, 20.6, [500.0, 510.0], 0.02)),
    ("faults", Faulted("A new version is published", 1000, 0, 0, [2, 3], "kept")),
]


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    seq2seq(folder / "toy" / "1")
    return Served("toy", folder / "toy", "greedy", ["a text", "another"])


def test_a_request_costs_more_than_the_signature_alone(toy):
    found = measure_overhead(toy, 20, with_goal=True)
    assert [(row.model, row.interface, row.goal) for row in found] == [
        ("toy", "gRPC", 1.15),
        ("toy", "REST", 1.3),
    ]
    for row in found:
        assert row.median_ms > row.in_process_ms > 0
        assert row.ratio == pytest.approx(row.median_ms / row.in_process_ms)
        assert row.verdict == "goal missed", "on a model that needs no time, the wire is everything"


def test_throughput_is_measured_of_both_servers(toy):
    found = measure_throughput(toy, 0.6, clients=4)
    assert (found.model, found.clients, found.goal) == ("toy", 4, 3.0)
    assert min(found.without_per_s, found.with_per_s, found.without_ms, found.with_ms) > 0
    assert found.ratio == pytest.approx(found.with_per_s / found.without_per_s)


def test_under_load_there_are_no_errors_and_memory_is_watched(toy):
    found = measure_sustained(toy, 3 / 60, clients=4)
    assert found.errors == 0
    assert found.requests > 20
    assert len(found.memory_mb) == SAMPLES
    assert min(found.memory_mb) > 50
    assert found.growth == growth(found.memory_mb)
    assert found.growth < 0.2


def test_the_tiny_transformer_knows_its_texts_and_answers_at_length(monkeypatch, tmp_path):
    monkeypatch.setitem(MODELS, "tiny", MODELS["tiny"]._replace(depth=1, width=8, units=8, vocab_size=40))
    written = []
    monkeypatch.setattr(
        serving_export, "write", lambda predictor, folder, **about: written.append((predictor, about))
    )
    serving_export.export(tmp_path)
    ((predictor, about),) = written
    assert about["card"].name == "tiny"
    assert set(about["questions"]) <= set(texts())
    assert len(set(texts())) == len(texts()) == CLIENTS
    assert [len(text) for text in texts()[:3]] == [15, 14, 13]
    assert set("".join(texts())) <= set(alphabet())
    signatures = predictor.signatures()
    assert set(signatures) == {"serving_default", "greedy"}
    assert set(signatures["greedy"].function(text=tf.constant(texts()[:2]))) == {"text", "score", "length"}
    assert set(signatures["serving_default"].function(text=tf.constant(texts()[:2]))) == {"text"}


def test_memory_grows_from_the_first_third_to_the_last():
    assert growth([100, 100, 500, 500, 110, 110]) == pytest.approx(0.1)
    assert growth([100]) == 0.0


@pytest.mark.parametrize(
    ("row", "changes", "verdict"),
    [
        (0, {}, "goal reached"),
        (0, {"ratio": 1.16}, "goal missed"),
        (2, {}, ""),
        (3, {}, "goal reached"),
        (3, {"ratio": 2.9}, "goal missed"),
        (4, {}, "goal reached"),
        (4, {"errors": 1}, "goal missed"),
        (4, {"growth": 0.06}, "goal missed"),
    ],
)
def test_verdicts(row, changes, verdict):
    assert FOUND[row][1]._replace(**changes).verdict == verdict


def test_the_page_shows_every_row_of_the_record():
    record = json.loads(json.dumps(serving.record(FOUND, "python -m benchmarks.serving")))
    written = page(record)
    for line in (
        "| tiny | gRPC | 11.00 | 10.00 | 1.10 | ≤ 1.15 | goal reached |",
        "| tiny | REST | 14.00 | 10.00 | 1.40 | ≤ 1.3 | goal missed |",
        "| dates | REST | 14.00 | 10.00 | 1.40 |  |  |",
        "| tiny | 32 | 100 | 310 | 320 | 100 | 3.10 | ≥ 3.0 | goal reached |",
        "| tiny | 32 | 10 | 12,345 | 21 | 0 | 500 to 510 | +2.0% | 0 errors, ≤ 5 % | goal reached |",
        "| A new version is published | 1,000 | 0 | 0 | 2, then 3 | kept |",
    ):
        assert line in written.splitlines()
    another = copy.deepcopy(record)
    another["machine"]["processors"] = 64
    assert "on 64 processors" in page(another)


def test_the_page_in_the_repository_is_made_of_its_record():
    """If this fails: `make bench-serving`."""
    record = json.loads((DOCS / "serving.json").read_text(encoding="utf-8"))
    assert (DOCS / "serving.md").read_text(encoding="utf-8") == page(record)


def test_the_command_writes_record_and_page_and_fails_where_a_goal_is_missed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(serving, "tiny", lambda folder: None)
    monkeypatch.setattr(serving, "dates", lambda: None)
    monkeypatch.setattr(serving, "measure", lambda *models, **sizes: iter(FOUND))
    monkeypatch.setattr("sys.argv", ["serving", "--minutes", "0.1", "--save", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        serving.main()
    assert ended.value.code == 1
    record = json.loads((tmp_path / "serving.json").read_text(encoding="utf-8"))
    assert record["command"] == f"python -m benchmarks.serving --minutes 0.1 --save {tmp_path}"
    assert (tmp_path / "serving.md").read_text(encoding="utf-8") == page(record)
    assert "goal missed" in capsys.readouterr().out
