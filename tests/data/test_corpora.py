"""The readers of corpora, on a few lines of our own in the places of the real files."""

import gzip
import hashlib
import io
import zipfile

import pytest

from zoo.data.corpora import multi30k, sigmorphon2020_g2p, tatoeba
from zoo.data.pairs import Pairs


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("ZOO_DATA", str(tmp_path))
    return tmp_path


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return hashlib.sha256(content).hexdigest()


def test_multi30k(folder, monkeypatch):
    sums = {}
    for part in ("train", "val", "test_2016_flickr", "test_2017_flickr"):
        for language in ("de", "en"):
            name = f"{part}.{language}"
            content = f" {name} eins\u0085.\n{name} zwei \n".encode()
            sums[name] = put(folder / "multi30k" / f"{name}.gz", content)
    monkeypatch.setattr(multi30k, "CHECKSUMS", sums)
    found = multi30k.load("en", "de")
    assert found.train == Pairs(
        ["train.en eins\u0085.", "train.en zwei"], ["train.de eins\u0085.", "train.de zwei"]
    )
    assert found.test_2017_flickr.sources[1] == "test_2017_flickr.en zwei"
    assert multi30k.load("de", "en").validation.sources[1] == "val.de zwei"


@pytest.mark.parametrize(("source", "target"), [("en", "en"), ("en", "xx")])
def test_multi30k_has_three_languages(source, target):
    with pytest.raises(ValueError, match="Choose two of de, en, fr"):
        multi30k.load(source, target)


def test_pronunciations(folder, monkeypatch):
    sums = []
    for part, content in (("train", "ab\ta b\nba\tb a\n"), ("dev", "a\ta\n"), ("test", "b\tb\n")):
        sums.append(put(folder / "sigmorphon2020_g2p" / part / f"ice_{part}.tsv", content.encode()))
    monkeypatch.setattr(sigmorphon2020_g2p, "CHECKSUMS", {"ice": sums})
    found = sigmorphon2020_g2p.load("ice")
    assert found.train == Pairs(["ab", "ba"], ["a b", "b a"])
    assert found.validation == Pairs(["a"], ["a"])
    assert found.test == Pairs(["b"], ["b"])
    with pytest.raises(ValueError, match=r"one of arm, .*, got 'xxx'"):
        sigmorphon2020_g2p.load("xxx")


def sentences():
    """Some with several translations, and translations of several sentences."""
    lines = [f"sentence {n // 2}.\tSatz {n // 3} {n}.\tsomebody" for n in range(900)]
    lines += [f"sentence {n}.\tdasselbe {n % 7}.\tsomebody" for n in range(400)]
    return "\n".join([*lines, lines[0]]) + "\n"


@pytest.mark.parametrize("language", ["cmn", "spa"])
def test_tatoeba(folder, monkeypatch, language):
    source = tatoeba.SOURCES[language]
    content = sentences().encode()
    if language == "spa":
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("spa-eng/spa.txt", content)
        content = packed.getvalue()
    ours = source.file._replace(sha256=put(folder / source.folder / source.file.name, content))
    monkeypatch.setitem(tatoeba.SOURCES, language, source._replace(file=ours))
    found = tatoeba.load(language)
    for side in (0, 1):
        train, validation, test = (set(part[side]) for part in found[:3])
        assert not train & validation | train & test | validation & test
    assert 10 < len(set(found.test.sources)) < 50
    pairs = [pair for part in found[:3] for pair in zip(*part, strict=True)]
    assert len(pairs) == len(set(pairs)) == 1301 - found.dropped
    assert set(pairs) <= {tuple(line.split("\t")[:2]) for line in sentences().splitlines()}
    assert found.dropped > 1
    assert tatoeba.load(language) == found


def test_tatoeba_has_two_languages():
    with pytest.raises(ValueError, match="one of cmn, spa, got 'xx'"):
        tatoeba.load("xx")


def test_a_file_that_was_changed_is_refused(folder):
    put(folder / "tatoeba_cmn_eng" / "cmn.txt.gz", b"Hi.\tno\n")
    with pytest.raises(ValueError, match=r"cmn\.txt\.gz must hold what has the SHA-256"):
        tatoeba.load("cmn")
