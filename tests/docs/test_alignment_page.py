"""What docs/alignment.md shows is what comes out."""

from pathlib import Path

from readme import Ran, blocks, comment_faults, path_faults, run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "alignment.md").read_text(encoding="utf-8")


def test_what_it_shows_is_what_comes_out():
    ran, namespace = Ran([], []), {"__name__": "document"}
    for block in blocks(PAGE):
        shown, printed = run(block.code, namespace)
        ran.shown.extend(shown)
        ran.printed.extend(printed)
    assert len(ran.shown) == len(ran.printed) == 8
    assert [fault for shown in ran.shown for fault in comment_faults(shown)] == []


def test_its_paths_exist():
    assert list(path_faults(PAGE, ROOT)) == []
