"""What docs/export.md shows is what comes out, and it names the checks that there are."""

import doctest
import re
from pathlib import Path

from zoo.verify import answers, files, graph, vocabularies, warmup

PAGE = Path(__file__).parents[2] / "docs" / "export.md"


def test_every_example_gives_what_the_page_says():
    results = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.FAIL_FAST)
    assert results.attempted > 10
    assert results.failed == 0


def test_the_table_of_checks_names_all_of_them():
    table = PAGE.read_text(encoding="utf-8").split("## What is checked")[1]
    named = {name for row in re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE) for name in row.split(", ")}
    rules = (*files.CONTENTS, *graph.RULES, *vocabularies.RULES, *answers.RULES, *warmup.RULES)
    assert {rule.name for rule in rules} <= named
