"""Files that packages bring along, from a package that is installed for the test."""

import gzip
import hashlib

import pytest

from zoo.data.packages import PackagedFile, read

CONTENT = b"hello HH AH L OW\n"
FILE = PackagedFile(
    "talking-words",
    "1.2",
    "talking_words/data/words.txt",
    hashlib.sha256(CONTENT).hexdigest(),
    "pip install 'seq2seq-zoo[data]'",
)


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    monkeypatch.delenv("ZOO_DATA", raising=False)


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """A package that fails when it is imported: its file is to be read without that."""
    site = tmp_path / "site-packages"
    (site / "talking_words" / "data").mkdir(parents=True)
    (site / "talking_words" / "__init__.py").write_text("raise RuntimeError")
    (site / "talking_words" / "data" / "words.txt").write_bytes(CONTENT)
    (site / "talking_words-1.2.dist-info").mkdir()
    (site / "talking_words-1.2.dist-info" / "METADATA").write_text("Name: talking-words\nVersion: 1.2\n")
    monkeypatch.syspath_prepend(site)
    return site


@pytest.fixture
def folder(monkeypatch, tmp_path):
    (tmp_path / "data" / "words").mkdir(parents=True)
    monkeypatch.setenv("ZOO_DATA", str(tmp_path / "data"))
    return tmp_path / "data" / "words"


@pytest.mark.usefixtures("installed")
def test_from_the_package():
    assert read("words", FILE) == CONTENT


@pytest.mark.parametrize("packed", [False, True])
def test_from_a_folder(folder, packed):
    name, content = ("words.txt.gz", gzip.compress(CONTENT)) if packed else ("words.txt", CONTENT)
    (folder / name).write_bytes(content)
    assert read("words", FILE) == CONTENT


@pytest.mark.usefixtures("folder", "installed")
def test_from_the_package_if_the_folder_has_none():
    assert read("words", FILE) == CONTENT


@pytest.mark.parametrize("where", ["nothing set", "an empty folder"])
def test_what_to_install_is_told(where, request):
    if where == "an empty folder":
        request.getfixturevalue("folder")
    with pytest.raises(FileNotFoundError, match="with the package talking-words, which is not") as raised:
        read("words", FILE)
    assert "pip install 'seq2seq-zoo[data]'; or set ZOO_DATA" in str(raised.value)
    assert "words/words.txt" in str(raised.value)


def test_another_version_of_the_package(installed):
    (installed / "talking_words" / "data" / "words.txt").write_bytes(b"hello HH EH L OW\n")
    with pytest.raises(ValueError, match=r"has the SHA-256 .* and install talking-words 1\.2: pip install"):
        read("words", FILE)


def test_a_package_without_the_file(installed):
    (installed / "talking_words" / "data" / "words.txt").unlink()
    with pytest.raises(FileNotFoundError, match="talking-words"):
        read("words", FILE)
