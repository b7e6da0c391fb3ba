import gzip
import hashlib

import pytest

from zoo.data.download import File, read

TEXT = b"Zwei Zeilen,\nselbst geschrieben.\n"


PACKED = gzip.compress(TEXT, mtime=0)
BROKEN = {
    "nothing": b"",
    "cut, packed": PACKED[:-9],
    "cut": TEXT[:-1],
    "no gzip": b"\x1f\x8bnothing",
    "changed within": PACKED[:10] + b"\xff" * 8 + PACKED[18:],
}


def sha256(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch, tmp_path):
    monkeypatch.delenv("ZOO_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(params=[bytes, gzip.compress], ids=["as it is", "by gzip"])
def published(request, tmp_path):
    """A file at an address, as it is or by gzip."""
    place = tmp_path / "published.bin"
    place.write_bytes(request.param(TEXT))
    return File("part/train.de", place.as_uri(), sha256(TEXT))


def cached(tmp_path):
    return sorted(path for path in (tmp_path / "cache").rglob("*") if path.is_file())


def test_a_file_is_downloaded_once_then_read_from_the_cache(published, tmp_path):
    assert read("letters", published) == TEXT
    (path,) = cached(tmp_path)
    assert path.parent == tmp_path / "cache" / "seq2seq-zoo" / "letters" / "part"
    assert path.name in ("train.de", "train.de.gz")
    (tmp_path / "published.bin").unlink()
    assert read("letters", published) == TEXT


def test_the_folder_comes_before_the_cache(published, tmp_path, monkeypatch):
    read("letters", published)
    other = b"what is in the folder\n"
    folder = tmp_path / "folder"
    (folder / "letters" / "part").mkdir(parents=True)
    monkeypatch.setenv("ZOO_DATA", str(folder))
    with pytest.raises(FileNotFoundError, match=r"neither letters/part/train.de nor that with \.gz"):
        read("letters", published)
    (folder / "letters" / "part" / "train.de.gz").write_bytes(gzip.compress(other))
    assert read("letters", published._replace(sha256=sha256(other))) == other


def test_what_cannot_be_downloaded_says_what_to_do(tmp_path):
    missing = File("train.de", (tmp_path / "nothing").as_uri(), sha256(TEXT))
    with pytest.raises(OSError, match=r"Could not download file://.*/nothing: .*set ZOO_DATA=FOLDER"):
        read("letters", missing)


def test_a_download_that_is_not_what_it_should_be_is_not_kept(published, tmp_path):
    with pytest.raises(ValueError, match=f"SHA-256 {sha256(b'')}, got {sha256(TEXT)}"):
        read("letters", published._replace(sha256=sha256(b"")))
    assert cached(tmp_path) == []


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_in_the_cache_is_told(published, tmp_path, broken):
    read("letters", published)
    (path,) = cached(tmp_path)
    path.write_bytes(broken)
    with pytest.raises(ValueError, match=r"cache.*train\.de.* must hold .*delete it"):
        read("letters", published)


def test_nothing_half_written_stays_when_writing_fails(published, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr("zoo.data.download.os.replace", fail)
    with pytest.raises(OSError, match="no space left"):
        read("letters", published)
    assert cached(tmp_path) == []
