"""Hand alignments, from a few lines of our own in the places of the real files."""

import hashlib
import io
import json
import zipfile

import pytest

from zoo.data.corpora import alignments


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("ZOO_DATA", str(tmp_path))
    return tmp_path / "word_alignment_gold"


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def test_lines_of_json(folder, monkeypatch):
    sums = ["en-ja"]
    for part, word in (("train", "教義"), ("valid", "、")):
        line = {"src_words": ["a", "b"], "tgt_words": [word], "alignment": [[1, 0], [0, 0]]}
        content = f"{json.dumps(line, ensure_ascii=False)}\n".encode()
        sums.append(put(folder / f"en-ja.kftt.{part}.jsonl", content))
    monkeypatch.setattr(alignments, "CHECKSUMS", {"kftt": tuple(sums)})
    found = alignments.load("kftt")
    assert found.sources == [["a", "b"]] * 2
    assert found.targets == [["教義"], ["、"]]
    assert found.sure == [{(0, 0), (1, 0)}] * 2
    assert found.possible == [set()] * 2


def test_hansards_have_possible_links(folder, monkeypatch):
    content = (
        'id\ten\tfr\tsure(en-fr)\tpossible(en-fr)\n1\tthe "house\tla chambre\t1-1\t0-0 0-1\n2\t.\t.\t\t\n'
    )
    sha256 = put(folder / alignments.HANSARDS.name, content.encode())
    monkeypatch.setattr(alignments, "HANSARDS", alignments.HANSARDS._replace(sha256=sha256))
    found = alignments.load("hansards")
    assert found.sources == [["the", '"house'], ["."]]
    assert found.targets == [["la", "chambre"], ["."]]
    assert found.sure == [{(1, 1)}, set()]
    assert found.possible == [{(0, 0), (0, 1)}, set()]


def test_hansards_cannot_be_downloaded(monkeypatch):
    monkeypatch.delenv("ZOO_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="set ZOO_DATA=FOLDER"):
        alignments.load("hansards")


def test_german_is_turned_round(folder, monkeypatch):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in (
            ("test.de", "\ufeffherr präsident\nguten tag\n"),
            ("test.en", "mr president\nhello\n"),
            ("de-en.ref.wa", "1 0 0 S \n1 1 1 S \n2 1 0 S \n2 1 7 S \n"),
        ):
            archive.writestr(f"German-English_WordAlignment/{name}", text)
    sha256 = put(folder / alignments.EUROPARL_DE.name, packed.getvalue())
    monkeypatch.setattr(alignments, "EUROPARL_DE", alignments.EUROPARL_DE._replace(sha256=sha256))
    found = alignments.load("europarl_de")
    assert found.sources == [["mr", "president"], ["hello"]]
    assert found.targets == [["herr", "präsident"], ["guten", "tag"]]
    assert found.sure == [{(0, 0), (1, 1)}, {(0, 1)}], "a link to a word that is not there is left out"


def test_there_are_no_others():
    with pytest.raises(ValueError, match=r"one of czenali, es_golden, .*, got 'klingon'"):
        alignments.load("klingon")
