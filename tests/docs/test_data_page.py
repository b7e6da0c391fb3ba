"""What the document about data says is what comes out."""

from pathlib import Path

import pytest
from readme import Ran, blocks, comment_faults, path_faults, run, table

import zoo.metrics
from zoo.data.corpora import multi30k, sigmorphon2020_g2p, tatoeba

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def walk():
    """All its Python was run, in one namespace."""
    ran, namespace = Ran([], []), {"__name__": "document"}
    for block in blocks(DOCUMENT):
        shown, printed = run(block.code, namespace)
        ran.shown.extend(shown)
        ran.printed.extend(printed)
    return ran


def test_what_it_shows_is_what_comes_out(walk):
    assert len(walk.shown) == len(walk.printed) == 6
    assert [fault for shown in walk.shown for fault in comment_faults(shown)] == []


def test_its_paths_exist():
    assert list(path_faults(DOCUMENT, ROOT)) == []


def test_its_table_of_corpora_tells_their_licences():
    rows = {row[0].strip("`").split(".")[-1]: row[2] for row in table(DOCUMENT, "loader")}
    assert "no licence is stated" in multi30k.LICENCE
    assert rows["multi30k"] == "none stated; for research"
    assert tatoeba.LICENCE.startswith(rows["tatoeba"])
    assert sigmorphon2020_g2p.LICENCE.startswith(rows["sigmorphon2020_g2p"])


def test_its_table_of_metrics_has_them_all():
    named = {name.strip("` ") for row in table(DOCUMENT, "metric") for name in row[0].split(",")}
    assert named == set(zoo.metrics.__all__) - {"edit_distance", "moses_tokens"}
