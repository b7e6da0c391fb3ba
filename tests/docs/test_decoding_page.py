"""What docs/decoding.md shows is what comes out."""

import doctest
import math
import re
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "decoding.md"
TEXT = PAGE.read_text(encoding="utf-8")
PROSE = "\n".join(line for line in TEXT.splitlines() if not line.startswith("    "))
COLUMNS = {"</s>": 2, "a": 3, "b": 4}
"""Ids of the page's example."""
NUMBER = r"(?:ln )?\d+(?:\.\d+)?"
EQUATIONS = re.findall(rf"({NUMBER}(?: [·+/] {NUMBER})*) = (-?\d+\.\d+)", PROSE)


@pytest.fixture(scope="module")
def page():
    """The page after its examples have run: what they defined, and how it went."""
    examples = doctest.DocTestParser().get_doctest(TEXT, {"__name__": "page"}, PAGE.name, str(PAGE), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.FAIL_FAST)
    results = runner.run(examples, clear_globs=False)
    return examples.globs, results


def test_every_example_gives_what_the_page_says(page):
    _, results = page
    assert results.attempted > 15
    assert results.failed == 0


@pytest.mark.parametrize(("calculation", "result"), EQUATIONS)
def test_numbers_between_the_lines(calculation, result):
    python = re.sub(r"ln ([\d.]+)", r"log(\1)", calculation).replace("·", "*")
    decimals = len(result.split(".")[1])
    assert round(eval(python, {"log": math.log}), decimals) == float(result)


def test_all_equations_are_found():
    assert len(EQUATIONS) >= 7


@pytest.mark.parametrize(("number", "name"), [(0, "Table"), (1, "Late")])
def test_tables_of_the_page_are_those_of_its_examples(page, number, name):
    """Rows: at first, after a, after b, and after anything longer."""
    tables = re.findall(r"^\| after \|.*\n(?:\|.*\n)+", TEXT, flags=re.MULTILINE)
    assert len(tables) == 2
    header, _, *rows = [
        [cell.strip(" `") for cell in line.split("|")[1:-1]] for line in tables[number].split("\n")[:-1]
    ]
    definitions, _ = page
    probabilities = np.exp(definitions[name].rows)
    places = {"nothing": 0, "a": 1, "b": 2, "anything longer": 3}
    for after, *cells in rows:
        for column, cell in zip(header[1:], cells, strict=True):
            assert probabilities[places[after], COLUMNS[column]] == pytest.approx(float(cell), abs=1e-12)
