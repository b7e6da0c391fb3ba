import json

import pytest

import zoo.tokenizers
from zoo.tokenizers import Bytes, Characters, Subwords, WordPieces, Words, load_tokenizer
from zoo.tokenizers.saved import KINDS


def test_every_kind_is_found_by_its_file():
    assert {file: getattr(zoo.tokenizers, name) for file, name in KINDS.items()} == {
        kind.FILE: kind for kind in (Characters, Words, Subwords, WordPieces, Bytes)
    }


def test_an_empty_folder(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"No tokenizer in .*characters.json, words.json, .*bytes.json"
    ):
        load_tokenizer(tmp_path)


def test_two_tokenizers_in_one_folder(tmp_path):
    Bytes().save(tmp_path)
    Words(["a"]).save(tmp_path)
    with pytest.raises(ValueError, match=r"holds words.json and bytes.json, but one tokenizer"):
        load_tokenizer(tmp_path)


def test_a_file_of_the_first_version_is_read(tmp_path):
    content = {"normalization": "NFKC", "characters": ["a", "b"]}
    (tmp_path / "characters.json").write_text(json.dumps(content), encoding="utf-8")
    loaded = load_tokenizer(tmp_path)
    assert loaded.characters == ("a", "b")
    assert loaded.normalization.form == "NFKC"


def test_a_token_a_line(tmp_path):
    """So that a difference between two vocabularies can be read."""
    Subwords({"▁請": -1.5, "看": -2.0}, kind="unigram", byte_fallback=False).save(tmp_path)
    assert (tmp_path / "subwords.json").read_text(encoding="utf-8").splitlines() == [
        "{",
        ' "normalization": "NFC",',
        ' "case": "kept",',
        ' "punctuation": "kept",',
        ' "vocab_size": 6,',
        ' "kind": "unigram",',
        ' "byte_fallback": false,',
        ' "pieces": {',
        '  "▁請": -1.5,',
        '  "看": -2.0',
        " }",
        "}",
    ]


def test_a_lost_and_a_repeated_line(tmp_path):
    path = tmp_path / "subwords.json"
    Subwords({"▁a": -1.5, "b": -2.0}, kind="unigram", byte_fallback=False).save(tmp_path)
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole.replace('  "▁a": -1.5,\n', ""), encoding="utf-8")
    with pytest.raises(ValueError, match="it says that it has 6 ids, but has 5"):
        load_tokenizer(tmp_path)
    path.write_text(whole.replace('  "▁a": -1.5,\n', '  "b": -1.5,\n'), encoding="utf-8")
    with pytest.raises(ValueError, match="'b' is there more than once"):
        load_tokenizer(tmp_path)


def edited(folder, tokenizer, old, new):
    tokenizer.save(folder)
    path = folder / tokenizer.FILE
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))


@pytest.mark.parametrize(
    ("tokenizer", "old", "new", "told"),
    [
        (Words(["a", "b"]), b'"a"', b'""', "A word must have the one name that it has here, '## '; got ''"),
        (Words(["a", "b"]), b'"a"', b'"## b"', "A word must have the one name that it has here, 'b'"),
        (Subwords({"a": -1.0}), b"-1.0", b"-1e300", "finite in 32 bits; got 'a' with -1e[+]300"),
        (Subwords({"a": -1.0}), b"-1.0", b"NaN", "finite in 32 bits; got 'a' with nan"),
        (WordPieces(["a", "##b"]), b'"a"', b'"\\ud800"', "half a surrogate pair"),
        (Characters("ab"), b'"a",', b"[" * 100_000, "RecursionError"),
        (Words(["a", "b"]), b'"a"', b'"\xff"', "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff"),
    ],
)
def test_an_entry_that_cannot_be_one_is_told(tmp_path, tokenizer, old, new, told):
    edited(tmp_path, tokenizer, old, new)
    with pytest.raises(ValueError, match=f"{told}.*put back the file") as raised:
        load_tokenizer(tmp_path)
    assert len(str(raised.value)) < 500, "which does not repeat the file"


@pytest.mark.parametrize("tokenizer", [Words(["a", "##b"]), Subwords({"a": -1.0}), Characters("ab")])
def test_line_ends_and_blank_lines_are_no_content(tmp_path, tokenizer):
    edited(tmp_path, tokenizer, b"\n", b"\r\n\r\n")
    assert load_tokenizer(tmp_path).describe() == tokenizer.describe()


def test_a_byte_order_mark_is_taken_for_one(tmp_path):
    Characters("ab").save(tmp_path)
    path = tmp_path / "characters.json"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load_tokenizer(tmp_path).characters == ("a", "b")


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match=r"no attribute 'Syllables'; it has .*Subwords"):
        zoo.tokenizers.Syllables  # noqa: B018
