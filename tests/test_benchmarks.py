"""What is timed has the agreed shapes, what is printed is rightly reckoned, and the zoo's side runs."""

import dataclasses
import time
from types import SimpleNamespace

import numpy as np
import pytest
from keras import ops

from benchmarks.bench import record, systems_of
from benchmarks.growth import AXES, CURVES, Curve, Point, measure_point, slopes, times_the_memory_of_one
from benchmarks.measure import Measured, read, time_runs
from benchmarks.models import make
from benchmarks.ours import by_fit, by_step, measure, served
from benchmarks.pipeline import pipeline_speed, training_speed
from benchmarks.table import Ratio, ratios, ratios_table, verdict
from benchmarks.work import MODELS, WORK, Goal
from zoo.data.batches import batches
from zoo.data.pairs import Pairs
from zoo.models import RecurrentSeq2Seq
from zoo.recipes import find
from zoo.tokenizers import END, PAD, START, Characters

SHAPES = {
    "base-greedy": ((6, 512, 2048, 8, 32000), 16, 30, 30, 1),
    "base-beam4": ((6, 512, 2048, 8, 32000), 16, 30, 30, 4),
    "tiny-greedy": ((4, 128, 256, 4, 10000), 64, 15, 15, 1),
    "tiny-beam5": ((4, 128, 256, 4, 10000), 64, 15, 15, 5),
    "train-tiny": ((4, 128, 256, 4, 10000), 64, 15, 15, 0),
    "train-lstm": ((256, 128, 256, 256, 8000), 64, 20, 20, 0),
    "lstm-greedy": ((256, 128, 256, 256, 8000), 64, 20, 20, 1),
}


def measured(system, *rates, work="train-lstm"):
    return Measured(system, work, list(rates), 100.0, {"tensorflow": "2.21.0"})


def weights(model):
    return {weight.path.split("/", 1)[1]: tuple(weight.shape) for weight in model.weights}


def small(name, **sizes):
    return dataclasses.replace(WORK[name], **{"batch": 2, "source": 3, "target": 4, **sizes})


@pytest.fixture
def tiny_sizes(monkeypatch):
    """The models, so small that they run in no time."""
    monkeypatch.setitem(MODELS, "tiny", MODELS["tiny"]._replace(depth=1, width=8, units=8, vocab_size=11))
    shrunk = {"embedding_dim": 4, "encoder_units": 3, "decoder_units": 6, "attention_units": 6}
    monkeypatch.setitem(MODELS, "lstm", MODELS["lstm"]._replace(**shrunk, vocab_size=11))


def test_the_shapes_are_the_agreed_ones():
    works = WORK.values()
    assert {
        w.name: (tuple(MODELS[w.model]), w.batch, w.source, w.target, w.hypotheses) for w in works
    } == SHAPES


def test_the_recurrent_model_has_the_sizes_of_the_peer():
    shapes = weights(make("lstm", "zoo"))
    own = weights(make("lstm", "zoo-maxout"))
    for found in (shapes, own):
        assert found["embedding/embeddings"] == (8000, 256)
        assert sorted(shape for name, shape in found.items() if "attention" in name) == [
            (256, 1),
            *[(256, 256)] * 2,
        ]
    assert shapes["readout/kernel"] == (256 + 256, 8000)
    assert (128, 8000) in own.values()


def test_a_run_of_fit_takes_as_many_steps_as_it_says_and_moves_every_weight(tiny_sizes):
    work = small("train-tiny")
    model = make(work.model, "zoo")
    before = [ops.convert_to_numpy(weight) for weight in model.trainable_weights]
    by_fit(model, work, steps=3)()
    assert int(model.optimizer.iterations) == 3
    for weight, old in zip(model.trainable_weights, before, strict=True):
        assert np.abs(ops.convert_to_numpy(weight) - old).max() > 0, weight.path


def test_both_ways_to_train_give_the_same_weights(tiny_sizes):
    work = small("train-lstm")
    models = [make(work.model, "zoo") for _ in range(2)]
    by_fit(models[0], work, steps=2)()
    by_step(models[1], work, steps=2)()
    for one, other in zip(models[0].weights, models[1].weights, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5, err_msg=one.path)


@pytest.mark.parametrize(("name", "hypotheses"), [("lstm-greedy", 1), ("tiny-greedy", 1), ("tiny-beam5", 3)])
def test_a_served_search_writes_as_many_tokens_as_the_work_says(tiny_sizes, name, hypotheses):
    work = small(name, hypotheses=hypotheses)
    found = served(make(work.model, "zoo"), work)()
    assert found["token_ids"].shape == (2, hypotheses, 4)
    assert not np.isin(found["token_ids"], [PAD, START, END]).any()


def test_the_zoo_tells_of_each_variant_and_way(tiny_sizes, monkeypatch, capsys):
    for way in ("by_fit", "by_step"):  # they have tests of their own, and take long to trace
        monkeypatch.setattr(f"benchmarks.ours.{way}", lambda model, work: lambda: time.sleep(0.001))
    measure(small("train-lstm"), 2)
    measure(small("lstm-greedy"), 2)
    told = read("a library's notice\n" + capsys.readouterr().out)
    assert [(m.system, m.work) for m in told] == [
        ("zoo", "train-lstm"),
        ("zoo-step", "train-lstm"),
        ("zoo-maxout", "train-lstm"),
        ("zoo-maxout-step", "train-lstm"),
        ("zoo", "lstm-greedy"),
        ("zoo-maxout", "lstm-greedy"),
    ]
    for m in told:
        assert len(m.tokens_per_s) == 2
        assert min(m.tokens_per_s) > 0
        assert m.peak_mb > 50
        assert set(m.versions) == {"tensorflow", "keras", "numpy"}


def test_a_run_is_tried_once_before_the_clock_starts(monkeypatch):
    ticks = iter([10.0, 12.0, 20.0, 24.0])
    monkeypatch.setattr("benchmarks.measure.time", SimpleNamespace(perf_counter=lambda: next(ticks)))
    runs = []
    assert time_runs(lambda: runs.append(1), tokens=100, repeats=2) == [50.0, 25.0]
    assert len(runs) == 3


def test_ratios_are_medians_over_rounds_of_medians_of_runs():
    rounds = [
        [measured("zoo", 100, 300, 110), measured("torch", 100, 90, 110)],  # 110 / 100
        [measured("torch", 50, 50), measured("zoo", 60, 60)],  # 60 / 50
        [measured("zoo", 400), measured("torch", 200)],  # 400 / 200
    ]
    (found,) = ratios(rounds, WORK)
    assert found == Ratio(
        "train-lstm", "zoo", 110, "torch", 100, pytest.approx(1.2), 1.1, 2.0, Goal(1.2, 0.9)
    )


def test_only_the_zoo_itself_has_goals_and_every_variant_meets_every_peer():
    systems = ["zoo", "zoo-step", "hf", "other"]
    found = list(ratios([[measured(system, 100, work="train-tiny") for system in systems]], WORK))
    assert [(r.system, r.peer, r.goal) for r in found] == [
        ("zoo", "hf", Goal(1.5, 1.1)),
        ("zoo-step", "hf", None),
        ("zoo", "other", None),
        ("zoo-step", "other", None),
    ]


def test_a_round_without_a_peer_is_left_out():
    rounds = [[measured("zoo", 100)], [measured("zoo", 100), measured("torch", 50)]]
    assert [r.ratio for r in ratios(rounds, WORK)] == [2.0]
    assert list(ratios(rounds[:1], WORK)) == []


@pytest.mark.parametrize(
    ("ratio", "goal", "words"),
    [
        (1.2, Goal(1.2, 0.9), "goal reached"),
        (1.1, Goal(1.2, 0.9), "below the goal"),
        (0.9, Goal(1.2, 0.9), "below the goal"),
        (0.89, Goal(1.2, 0.9), "below what is owed"),
        (0.1, Goal(2.5, None), "below the goal"),
        (0.1, None, ""),
    ],
)
def test_a_ratio_stands_beside_its_goal(ratio, goal, words):
    assert verdict(Ratio("train-lstm", "zoo", 1, "torch", 1, ratio, ratio, ratio, goal)) == words


def test_a_table_has_a_row_for_each_ratio():
    rounds = [[measured("zoo", 120), measured("zoo-step", 130), measured("torch", 100)]]
    table = ratios_table(list(ratios(rounds, WORK)))
    assert table.row_count == 2
    cells = [next(iter(column.cells)) for column in table.columns]
    assert cells == [
        *("train-lstm", "zoo", "120", "torch", "100", "1.20", "1.20 to 1.20", "1.2", "0.9", "goal reached"),
    ]


def test_peers_do_the_work_that_there_is_a_goal_for():
    everyone = ["torch", "hf", "ct2", "kerashub"]
    assert systems_of("train-lstm", everyone) == ["torch"]
    assert systems_of("train-tiny", everyone) == ["hf"]
    assert systems_of("tiny-beam5", everyone) == ["hf", "ct2-float32", "ct2-int8", "kerashub"]
    assert systems_of("tiny-beam5", ["ct2"]) == ["ct2-float32", "ct2-int8"]
    assert systems_of("tiny-beam5", ["torch"]) == []


def test_memory_is_told_for_each_more_of_the_axis():
    points = [Point(20, 1.0, 100.0), Point(40, 2.0, 140.0), Point(80, 4.0, 220.0)]
    assert slopes(points) == [None, 2.0, 2.0]


@pytest.mark.parametrize(("most", "told"), [(149.0, "1.49 times"), (151.0, "1.51 times")])
def test_memory_of_eight_hypotheses_stands_beside_that_of_one(most, told):
    curve = Curve("tiny-beam5", "hypotheses", (1, 8))
    line = times_the_memory_of_one(curve, [Point(1, 1.0, 100.0), Point(8, 2.0, most)])
    assert told in line
    assert line.endswith("reached" if most < 150 else "missed")
    assert not times_the_memory_of_one(CURVES[0], [])


def test_a_point_of_a_curve_is_measured(tiny_sizes):
    point = measure_point("lstm-greedy", "target", 3)
    assert point.value == 3
    assert point.ms > 0
    assert point.added_mb >= 0
    assert {curve.work for curve in CURVES} <= set(WORK)
    assert {curve.axis for curve in CURVES} <= set(AXES)


def test_hypotheses_are_parted_among_sources():
    work = AXES["hypotheses of 64"](WORK["tiny-beam5"], 8)
    assert (work.batch, work.hypotheses) == (8, 8)


def test_a_record_names_versions_and_machine():
    rounds = [[measured("zoo", 120), measured("torch", 100)]]
    kept = record(rounds, [(CURVES[0], [Point(20, 1.0, 100.0)])])
    assert kept["versions"]["zoo"] == {"tensorflow": "2.21.0"}
    assert kept["machine"]["processors"] >= 1
    assert kept["ratios"][0]["ratio"] == 1.2
    assert kept["rounds"][0][1]["tokens_per_s"] == [100]
    assert kept["growth"][0]["points"] == [{"value": 20, "ms": 1.0, "added_mb": 100.0}]


def test_the_pipeline_gives_more_than_a_training_takes():
    letters, texts = Characters("abc"), ["abcabc"] * 400
    pairs = Pairs(texts, texts)
    data = batches(pairs, letters, letters, max_source_length=8, max_length=8, batch_size=20, seed=0)
    recipe = dataclasses.replace(find("dates"), model=lambda task: RecurrentSeq2Seq(7, 7))
    assert pipeline_speed(data) > training_speed(recipe, None, data, steps=5) > 0
