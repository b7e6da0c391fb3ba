"""Judged word alignments, on a set of two sentences."""

import pytest

from zoo.data.corpora import alignments
from zoo.results import judge_alignments, page, read_alignments, read_records, write_alignments

PAIRS = alignments.AlignedPairs(
    sources=[["The", "dog"], ["A", "dog"]],
    targets=[["le", "chien"], ["chien", "un"]],
    sure=[frozenset({(0, 0), (1, 1)}), frozenset({(1, 0)})],
    possible=[frozenset(), frozenset({(0, 1)})],
)


@pytest.fixture
def judged(monkeypatch):
    monkeypatch.setattr(alignments, "load", lambda name: PAIRS)
    return judge_alignments("hansards", {})


def test_baselines_are_judged(judged):
    """The diagonal finds both links of the first pair and none of the second: 1 - (2 + 2) / (4 + 3)."""
    assert (judged["pairs"], judged["sure"], judged["possible"]) == (2, 3, 1)
    assert judged["error_rates"]["diagonal"] == pytest.approx(3 / 7, abs=1e-4)
    assert judged["error_rates"]["IBM Model 1, 5 rounds"] < 3 / 7


def test_they_are_kept_beside_the_records_and_shown(judged, tmp_path):
    write_alignments([judged], tmp_path)
    write_alignments([{**judged, "set": "czenali"}, {**judged, "pairs": 5}], tmp_path)
    found = read_alignments(tmp_path)
    assert [(entry["set"], entry["pairs"]) for entry in found] == [("czenali", 2), ("hansards", 5)]
    assert read_records(tmp_path) == []
    row = "| hansards | en–fr | 5 | 3 sure, 1 possible | diagonal | 0.4286 |"
    assert row in page([], found).splitlines()
    assert "Word alignments" not in page([], [])
