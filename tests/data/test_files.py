import gzip
import re
import subprocess

import pytest

from zoo.data.files import divide, read_pairs
from zoo.data.pairs import Pairs

FINE = "eins\t1\nzwei \t 2\n"


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        FINE,
        FINE.removesuffix("\n"),
        "\ufeff" + FINE,
        "eins\t1\tfrom a book\nzwei\t2\tfrom another\tone\n",
    ],
    ids=["plain", "no last line feed", "byte order mark", "more columns"],
)
def test_a_tab_separated_file(tmp_path, content):
    assert read_pairs(write(tmp_path / "my.tsv", content)) == Pairs(["eins", "zwei"], ["1", "2"])


def test_two_files_in_parallel(tmp_path):
    sources, targets = write(tmp_path / "a.de", "eins\nzwei\n"), write(tmp_path / "a.en", "one\ntwo\tor 2\n")
    assert read_pairs(sources, targets) == Pairs(["eins", "zwei"], ["one", "two\tor 2"])
    assert read_pairs(str(sources), str(targets)).sources == ["eins", "zwei"]


def test_unusual_line_ends_inside_a_text_are_text(tmp_path):
    text = "eins\u2028still\x0bone\t1\n"
    assert read_pairs(write(tmp_path / "my.tsv", text)).sources == ["eins\u2028still\x0bone"]


REFUSED = [
    (b"", r"my\.tsv has 0 bytes\. Write a pair"),
    (b"\n \n\t\n", r"my\.tsv holds nothing but white space"),
    ("eins\t1\nzwei 2\n", r"my\.tsv, line 2: .*got no tab in 'zwei 2'\. Put a tab"),
    ("eins\t1\n\nzwei\t2\n", r"line 2: .*no tab in ''"),
    ("eins\t1\n\t2\n", r"line 2: the source is empty\. Fill it in, or delete the line"),
    ("eins\t1\nzwei\t \n", r"line 2: the target is empty"),
    (
        "eins\t1\nzwei\t2\neins\t1\n",
        r"line 3: the pair of line 1 again, 'eins'\. Delete the line; or keep one",
    ),
    ("eins\t1\ta\nzwei\t2\nzwei\t 2\tb\n", r"line 3: the pair of line 2 again, 'zwei'"),
    ("eins\t1\nfünf\t5\n".encode("latin-1"), r"line 2: byte 2 of it, 0xFC, is not UTF-8\. .*iconv"),
    ("eins\t1\r\nzwei\t2\r\n", r"line 1: it ends in CR LF.*tr -d '\\r'"),
    ("eins\t1\rzwei\t2\r", r"line 1: it ends in CR alone.* tr '\\r' '\\n'"),
    (FINE.encode("utf-16"), r"line 1: it is UTF-16, .*iconv -f UTF-16"),
    (b"\xfe\xff" + FINE.encode("utf-16-be"), r"line 1: it is UTF-16, .*iconv -f UTF-16"),
    (gzip.compress(FINE.encode(), mtime=0), r"line 1: it is packed, .*gunzip -c"),
    (b"PK\x03\x04\x14\0", r"line 1: it is packed, .*Save a spreadsheet as text.* unzip -p"),
]


@pytest.mark.parametrize(("content", "told"), REFUSED)
def test_what_is_wrong_is_told_with_its_line_and_what_to_do(tmp_path, content, told):
    path = write(tmp_path / "my.tsv", content)
    with pytest.raises(ValueError, match=told):
        read_pairs(path)


def test_two_files_of_unequal_length(tmp_path):
    sources, targets = write(tmp_path / "a.de", "eins\nzwei\n"), write(tmp_path / "a.en", "one\n")
    with pytest.raises(ValueError, match=r"a\.de has 2 lines and .*a\.en has 1: line 2 has no counterpart"):
        read_pairs(sources, targets)


def test_an_empty_line_in_the_second_file_is_told_of_that(tmp_path):
    sources, targets = write(tmp_path / "a.de", "eins\nzwei\n"), write(tmp_path / "a.en", "one\n\n")
    with pytest.raises(ValueError, match=r"a\.en, line 2: the target is empty"):
        read_pairs(sources, targets)


MENDED = {
    "CR LF": FINE.replace("\n", "\r\n"),
    "CR": FINE.replace("\n", "\r"),
    "Latin-1": "f\u00fcnf\t5\nzwei\t2\n".encode("latin-1"),
    "UTF-16": FINE.encode("utf-16"),
    "gzip": gzip.compress(FINE.encode(), mtime=0),
    "twice": FINE + FINE,
    "twice, from other books": "eins\t1\ta\nzwei\t2\tb\neins\t1\tc\n",
    "twice, with spaces at a tab": "eins\t1\tx\nzwei\t2\nzwei \t 2\neins\t1 \ty\n",
}


def mend(error, folder):
    """Do as an error says."""
    command = re.search(r": ((tr|iconv|gunzip|awk|paste) .*)", str(error))[1]
    subprocess.run(command, shell=True, check=True, cwd=folder, timeout=60)
    return read_pairs(folder / "new.tsv")


@pytest.mark.parametrize("content", MENDED.values(), ids=MENDED.keys())
def test_the_command_in_an_error_mends_the_file(tmp_path, content):
    path = write(tmp_path / "it's my.tsv", content)
    with pytest.raises(ValueError, match=r"new\.tsv") as raised:
        read_pairs(path)
    assert mend(raised.value, tmp_path).targets[1] == "2"
    assert len(read_pairs(tmp_path / "new.tsv").sources) == 2


def test_the_command_for_a_pair_that_is_twice_in_two_files_keeps_them_parallel(tmp_path):
    sources = write(tmp_path / "a.de", "eins\nzwei\neins\neins\n")
    targets = write(tmp_path / "a.en", "one\ntwo\none\na\n")
    with pytest.raises(ValueError, match=r"a\.de, line 3: the pair of line 1 again") as raised:
        read_pairs(sources, targets)
    assert mend(raised.value, tmp_path) == Pairs(["eins", "zwei", "eins"], ["one", "two", "a"])


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"is a folder\. Give the path of a text file"):
        read_pairs(tmp_path)


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*nothing\.tsv"):
        read_pairs(tmp_path / "nothing.tsv")


def test_parts_share_no_source_and_lose_no_pair():
    pairs = Pairs([f"word {n // 2}" for n in range(400)], [str(n) for n in range(400)])
    parts = divide(pairs)
    found = [(*pair,) for part in parts for pair in zip(*part, strict=True)]
    assert sorted(found) == sorted(zip(*pairs, strict=True))
    sources = [set(part.sources) for part in parts]
    assert not sources[0] & sources[1] | sources[0] & sources[2] | sources[1] & sources[2]
    assert [len(part) for part in sources] == [180, 10, 10]


def test_parts_do_not_depend_on_the_order():
    pairs = Pairs([f"word {n}" for n in range(100)], ["x"] * 100)
    back = Pairs(pairs.sources[::-1], pairs.targets)
    assert set(divide(pairs).test.sources) == set(divide(back).test.sources)


def test_the_smallest_file_that_can_be_divided():
    assert [len(part.sources) for part in divide(Pairs(["a", "b", "c"], ["1", "2", "3"]))] == [1, 1, 1]
    with pytest.raises(ValueError, match=r"at least 3, got 2\. Add lines"):
        divide(Pairs(["a", "b", "a"], ["1", "2", "3"]))
