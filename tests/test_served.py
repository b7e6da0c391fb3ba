"""Whether a server answers as the run does: `zoo evaluate --rest-url`, with a server and its own export."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import tensorflow as tf
from own_pairs import LINES, zoo
from small_exports import find_nothing_wrong

from zoo import runs
from zoo.data.pairs import Pairs
from zoo.predictor import Answers
from zoo.served import BATCH, compare
from zoo.serving.client import Hypothesis, RestClient
from zoo.serving.engines import serve


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A run, its export, and another run of the same name that learned something else."""
    place = tmp_path_factory.mktemp("served")
    for folder, lines in (("runs", LINES), ("others", LINES[::-1])):
        file = place / folder / "swaps.tsv"
        file.parent.mkdir()
        file.write_text("\n".join(lines))
        data = ("--data", file, "--level", "characters", "--epochs", 1)
        result = zoo("train", *data, "--runs", file.parent)
        assert result.exit_code == 0, result.output
    with pytest.MonkeyPatch.context() as patch:
        find_nothing_wrong(patch)
        result = zoo("export", "swaps", "--runs", place / "runs", "--to", place / "saved")
    assert result.exit_code == 0, result.output
    return place


@pytest.fixture(scope="module")
def server(place):
    with serve(place / "saved", engine="embedded", grpc_port=0, rest_port=0) as running:
        yield running


def test_a_server_of_the_run_answers_as_the_run_does(place, server):
    result = zoo("evaluate", "swaps", "--runs", place / "runs", "--rest-url", server.rest_url)
    assert result.exit_code == 0, result.output
    recipe = runs.recipe_of("swaps", place / "runs" / "swaps")
    count = len(recipe.task().tests["test"].sources)
    assert count > 0
    assert f"test: the served beams of {count} of {count} are the same." in result.output


def test_another_run_is_told_from_the_served_one(place, server):
    result = zoo("evaluate", "swaps", "--runs", place / "others", "--rest-url", server.rest_url)
    assert "the served beams of 0 of " in result.output
    assert isinstance(result.exception, RuntimeError)
    assert "otherwise than the run does" in str(result.exception)


def test_every_source_is_asked_in_as_many_requests_as_it_takes(place, server):
    recipe = runs.recipe_of("swaps", place / "runs" / "swaps")
    run, task = runs.load(recipe, place / "runs" / "swaps"), recipe.task()
    pairs = task.splits["train"]
    twice = Pairs([*pairs.sources] * 2, [*pairs.targets] * 2)
    assert len(twice.sources) > BATCH
    with RestClient(server.rest_url, model="swaps") as client:
        (found,) = compare(run, replace(task, splits={**task.splits, "test": twice}), client)
    assert found == ("test", len(twice.sources), [])


FIRST, SECOND, THIRD = OURS = (
    Hypothesis("a", -1.0, 1, -0.500_000),
    Hypothesis("b c", -1.5, 3, -0.500_001),
    Hypothesis("d", -2.0, 1, -1.0),
)
"""The first two tie, though their scores do not: they are of unequal lengths."""


def found_by(hypotheses):
    """A run, and a task with one source, to which the beam is these hypotheses."""
    answer = Answers(*(tf.constant([[getattr(one, name) for one in hypotheses]]) for name in Answers._fields))
    predictor = SimpleNamespace(answer=lambda text, beam: answer)
    run = SimpleNamespace(predictor=predictor, recipe=SimpleNamespace(beam=None))
    return run, SimpleNamespace(tests={"test": Pairs(["x"], ["y"])})


@pytest.mark.parametrize(
    ("theirs", "same"),
    [
        (OURS, True),
        ((SECOND, FIRST, THIRD), True),
        ((FIRST, SECOND, THIRD._replace(score=-2.000_001, ranked_score=-1.000_001)), True),
        ((FIRST, THIRD, SECOND), False),
        ((FIRST, SECOND), False),
        ((FIRST, SECOND, THIRD._replace(text="e")), False),
        ((FIRST._replace(text="e"), SECOND, THIRD), False),
        ((FIRST, SECOND, THIRD._replace(score=-2.1)), False),
        ((FIRST, SECOND, THIRD._replace(ranked_score=-1.1)), False),
    ],
)
def test_ties_alone_may_change_places(theirs, same):
    run, task = found_by(OURS)
    (found,) = compare(run, task, SimpleNamespace(beam=lambda texts: [list(theirs)]))
    assert found == ("test", 1, [] if same else ["x"])
