"""What docs/decoding.md shows is what comes out."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "decoding.md"


def test_every_example_gives_what_the_page_says():
    results = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.FAIL_FAST)
    assert results.attempted > 15
    assert results.failed == 0
