"""Each scenario of `make bench-serving`, with few clients: no failed request, always the promised version."""

import pytest

from benchmarks.serving_faults import SCENARIOS, ground, publish, row, terminate
from benchmarks.serving_load import Load, Outcome
from zoo.serving.answers import ServingError

EXPECTED = {
    "publish": [2, 3],
    "publish_broken": [3],
    "publish_without_variables": [3],
    "go_back_and_forth": [3, 2, 3],
    "reload_config": [3, 2, 3],
    "delete_served": [3, 2],
    "delete_old": [2, 3],
    "kill_and_start_again": [3],
    "terminate": [3],
}


def test_every_promise_is_kept(tmp_path):
    """One server for all: to start it takes longer than most of the scenarios."""
    found = {}
    with ground(tmp_path, clients=4) as prepared:
        for scenario in SCENARIOS:
            found[scenario.__name__] = scenario(prepared)
    assert {name: one.verdict for name, one in found.items()} == dict.fromkeys(EXPECTED, "kept")
    assert {name: one.versions for name, one in found.items()} == EXPECTED
    for name, one in found.items():
        assert one.requests >= 4 * 3, name
        assert one.failed == 0, name
        assert (one.refused > 0) == (name == "terminate"), name


@pytest.mark.parametrize(
    ("met", "may_refuse", "verdict"),
    [
        (Outcome([["1.0", "2.0"]] * 2, [0.1] * 4, []), False, "kept"),
        (Outcome([["1.0", "2.0"], ["1.0"]], [0.1] * 3, []), False, "a client saw 1.0 in place of 1.0, 2.0"),
        (
            Outcome([["1.0", "2.0", "1.0", "2.0"]], [0.1] * 4, []),
            False,
            "a client saw 1.0, 2.0, 1.0, 2.0 in place of 1.0, 2.0",
        ),
        (Outcome([["1.0", "2.0"]], [0.1], ["INTERNAL: a"]), True, "failed: INTERNAL: a"),
        (Outcome([["1.0", "2.0"]], [0.1], ["UNAVAILABLE: a"]), False, "failed: UNAVAILABLE: a"),
        (Outcome([["1.0", "2.0"]], [0.1], ["UNAVAILABLE: a"]), True, "kept"),
    ],
)
def test_a_promise_that_is_broken_is_told(met, may_refuse, verdict):
    found = row(publish, met, [1, 2], may_refuse=may_refuse)
    assert found.verdict == verdict
    assert found.kept == (verdict == "kept")
    assert found.requests == len(met.seconds) + len(met.failures)
    assert found.failed + found.refused == len(met.failures)


def test_a_row_tells_what_happened():
    met = Outcome([["3.0"], []], [0.1], [])
    assert row(terminate, met, [3])[:5] == (
        "SIGTERM: what was accepted is answered, what comes then is refused",
        1,
        0,
        0,
        [3],
    )


def test_a_load_keeps_answers_changes_and_failures_apart():
    answers = iter(["a", "a", "b"])

    def ask():
        answer = next(answers, None)
        if answer is None:
            raise ServingError("INTERNAL", "nothing left.")
        return answer

    with Load([ask]) as load:
        load.wait_for_more(4)
    assert load.outcome.changes == [["a", "b"]]
    assert len(load.outcome.seconds) == 3
    assert set(load.outcome.failures) == {str(ServingError("INTERNAL", "nothing left."))}


def test_a_load_says_what_did_not_come(monkeypatch):
    monkeypatch.setattr("benchmarks.serving_load.WAIT_SECONDS", 0.1)
    with (
        Load([lambda: "a"]) as load,
        pytest.raises(TimeoutError, match=r"the answer b did not come .*\['a'\]"),
    ):
        load.wait_until_all_answer("b")
