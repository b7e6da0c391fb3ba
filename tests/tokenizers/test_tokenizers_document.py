"""What the document about tokenizers says is what comes out."""

from pathlib import Path

import pytest
from readme import blocks, comment_faults, path_faults, run_all, table

import zoo.tokenizers
from zoo.tokenizers import UNKNOWN, Normalization
from zoo.tokenizers.normalize import CASES, FORMS, PUNCTUATION
from zoo.tokenizers.saved import KINDS

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "tokenizers.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def walk():
    """All its Python was run, in one namespace."""
    return run_all(DOCUMENT)


def test_what_it_shows_is_what_comes_out(walk):
    ran, _ = walk
    assert len(ran.shown) == len(ran.printed) >= 12
    assert [fault for shown in ran.shown for fault in comment_faults(shown)] == []


def test_it_has_python_only_and_its_paths_exist():
    assert {block.info for block in blocks(DOCUMENT)} == {"python"}
    assert list(path_faults(DOCUMENT, ROOT)) == []


def test_its_table_has_every_tokenizer_and_its_file():
    rows = {row[0].strip("`"): row[3].strip("`") for row in table(DOCUMENT, "tokenizer")}
    assert rows == {name: file for file, name in KINDS.items()}
    assert all(hasattr(zoo.tokenizers, name) for name in rows)


def test_its_table_of_policies_is_that_of_normalizations():
    names = {row[0].strip("`"): set(row[1].replace("`", "").split(", ")) for row in table(DOCUMENT, "policy")}
    assert names == {"form": set(FORMS), "case": set(CASES), "punctuation": set(PUNCTUATION)}
    assert Normalization() == Normalization("NFC", "kept", "kept")


def test_a_shared_vocabulary_is_one_object(walk):
    _, namespace = walk
    assert namespace["source"] is namespace["target"]
    assert UNKNOWN not in namespace["source"].encode(["the house", "das Haus"]).values.numpy()
