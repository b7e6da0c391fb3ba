"""The notebooks run from nothing, find what they say, and are committed with the outputs of such a run."""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from ipykernel.kernelspec import write_kernel_spec
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook, new_output

FOLDER = Path(__file__).parents[2] / "notebooks"
PATHS = sorted(FOLDER.glob("*.ipynb"))
LARGEST = 300_000
"""Bytes."""
LINES_OF_A_CELL = 40
A_PATH = re.compile(r"(?<![\w.:/<])/(?:[\w.-]+/)+|\b[A-Za-z]:\\")
"""Of the machine that a notebook ran on; not of a URL."""


def quickstart(printed: str) -> None:
    right, asked = map(int, re.search(r"(\d+) of (\d+) held-out times are right", printed).groups())
    assert asked == 103
    assert right >= 0.95 * asked
    answers = {
        "twenty-three to six": "5:37",
        "half past ten": "10:30",
        "quarter to one": "12:45",
        "eleven past eleven": "11:11",
        "": "",
    }
    served = re.findall(r"^'(.*)' +'(.*)' +score", printed, re.MULTILINE)
    assert dict(served) == answers
    likely, unlikely = map(float, re.search(r"5:37 is (.*)% likely, 6:23 is (.*)% likely", printed).groups())
    assert likely > 50 > 1 > unlikely
    signatures = re.findall(r"^(\w+) .*→", printed, re.MULTILINE)
    assert signatures == ["serving_default", "greedy", "beam", "generate", "sample", "score", "align"]


def inside(printed: str) -> None:
    left = dict(re.findall(r"^(\S.*?) +(\S+) of 1 is left after 60 steps", printed, re.MULTILINE))
    assert float(left["lstm"]) > 10 * float(left["rnn"]) > 1e5 * float(left["rnn, weaker by 0.7"])
    kept = re.search(r"step by step: (.*)", printed)[1].split(", ")
    assert kept[:2] == ["0.00", "0.00"]
    assert float(kept[2]) > float(kept[5]) > float(kept[11]) > 0.01
    widths = re.findall(r"width +(\d+): variance +(\S+), divided by its root (\S+)", printed)
    assert [int(width) for width, *_ in widths] == [4, 16, 64, 256, 1024]
    for width, variance, scaled in widths:
        assert abs(float(variance) / int(width) - 1) < 0.2
        assert abs(float(scaled) - 1) < 0.2
    apart = re.findall(r"^(\w+) +the words differ by (\S+), the sentences by (\S+)", printed, re.MULTILINE)
    assert [name for name, *_ in apart] == ["none", "sinusoidal", "learned", "rotary"]
    assert apart[0][1:] == ("0.000", "0.000")
    assert all(float(number) > 0.01 for _, *numbers in apart[1:] for number in numbers)
    assert re.search(r"^lstm +51 steps", printed, re.MULTILINE)
    assert re.search(r"^self_attention +4 steps", printed, re.MULTILINE)
    assert re.search(r"^stack/forward_0 +0.000 0.000 0.000 0.0[0-9]*[1-9]", printed, re.MULTILINE)


FINDINGS: dict[str, Callable[[str], None]] = {"00_quickstart": quickstart, "01_inside": inside}
"""What each notebook has to print."""


class Executed(NamedTuple):
    """A notebook after it ran, which Python that was, and what it left behind."""

    notebook: nbformat.NotebookNode
    interpreter: str
    left: list[str]


def execute(notebook: nbformat.NotebookNode, folder: Path) -> Executed:
    """Run a notebook with this very Python, away from the project and from the user's settings."""
    work, scratch = folder / "work", folder / "scratch"
    work.mkdir()
    scratch.mkdir()
    write_kernel_spec(folder / "kernels" / "python3")
    manager = KernelManager(
        kernel_name="python3",
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(folder / "kernels")]),
    )
    probe = new_code_cell("import sys; print(sys.executable)")
    probed = new_notebook(cells=[*notebook.cells, probe], metadata=notebook.metadata)
    client = NotebookClient(
        probed, km=manager, timeout=300, allow_errors=True, resources={"metadata": {"path": str(work)}}
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        patch.setenv("JUPYTER_RUNTIME_DIR", str(folder / "runtime"))
        patch.setenv("TMPDIR", str(scratch))
        client.execute(cleanup_kc=True)
    *notebook.cells, probe = probed.cells
    left = [path.name for place in (work, scratch) for path in place.iterdir()]
    return Executed(notebook, probe.outputs[0].text.strip(), left)


@pytest.fixture(scope="module", params=PATHS, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture(scope="module")
def executed(path, tmp_path_factory):
    return execute(nbformat.read(path, as_version=4), tmp_path_factory.mktemp(path.stem))


def code_cells(notebook) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(notebook) -> str:
    outputs = [output for cell in code_cells(notebook) for output in cell.outputs]
    return "".join(output.text for output in outputs if output.get("name") == "stdout")


def pictures(notebook) -> int:
    return sum(
        "image/png" in output.get("data", ()) for cell in code_cells(notebook) for output in cell.outputs
    )


def errors(notebook) -> Iterator[str]:
    for number, cell in enumerate(code_cells(notebook), start=1):
        for output in cell.outputs:
            if output.output_type == "error":
                yield f"code cell {number} failed: {output.ename}: {output.evalue}"


def faults(notebook) -> Iterator[str]:
    """What must not be committed."""
    yield from errors(notebook)
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        yield "the kernel is not python3"
    for number, cell in enumerate(code_cells(notebook), start=1):
        place = f"code cell {number}"
        if cell.execution_count != number:
            yield f"{place} has execution count {cell.execution_count}: run all cells once, in order"
        if len(cell.source.splitlines()) > LINES_OF_A_CELL:
            yield f"{place} has more than {LINES_OF_A_CELL} lines"
        if any(isinstance(node, ast.ClassDef) for node in ast.walk(_parsed(cell.source))):
            yield f"{place} defines a class, which belongs in the zoo"
        for output in cell.outputs:
            if output.get("name") == "stderr":
                yield f"{place} has a log in its outputs"
            for text in _texts(output):
                if A_PATH.search(text):
                    yield f"{place} shows a path of the machine it ran on: {A_PATH.search(text)[0]}"


def _parsed(source: str) -> ast.Module:
    """A cell as Python, without the commands to IPython."""
    return ast.parse(re.sub(r"^%.*", "", source, flags=re.MULTILINE))


def _texts(output) -> list[str]:
    data = output.get("data", {})
    return [output.get("text", ""), *(text for kind, text in data.items() if kind.startswith("text/"))]


def test_every_notebook_has_findings():
    assert {path.stem for path in PATHS} == set(FINDINGS)


def test_no_cell_fails(executed):
    assert list(errors(executed.notebook)) == []


def test_it_finds_what_it_says(path, executed):
    FINDINGS[path.stem](printed(executed.notebook))


def test_it_shows_as_many_pictures_as_were_committed(path, executed):
    assert pictures(executed.notebook) == pictures(nbformat.read(path, as_version=4)) > 0


def test_it_ran_with_the_python_of_the_tests(executed):
    assert executed.interpreter == sys.executable


def test_it_leaves_nothing_behind(executed):
    assert executed.left == []


def test_what_is_committed_is_whole_and_clean(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert list(faults(notebook)) == []
    assert path.stat().st_size < LARGEST
    FINDINGS[path.stem](printed(notebook))


def notebook_of(source="x = 1", count=1, outputs=(), kernel="python3"):
    cell = new_code_cell(source, execution_count=count, outputs=list(outputs))
    return new_notebook(cells=[cell], metadata={"kernelspec": {"name": kernel, "display_name": "Python"}})


def stream(text, name="stdout"):
    return new_output("stream", name=name, text=text)


class TestTheChecks:
    """Each finds what is broken."""

    @pytest.mark.parametrize(
        ("notebook", "fault"),
        [
            (notebook_of(kernel="my-kernel"), "the kernel is not python3"),
            (notebook_of(count=None), "code cell 1 has execution count None"),
            (notebook_of(count=2), "code cell 1 has execution count 2"),
            (notebook_of("x = 1\n" * 41), "more than 40 lines"),
            (notebook_of("%matplotlib inline\nif x:\n    class A: ..."), "defines a class"),
            (notebook_of(outputs=[stream("warned", "stderr")]), "has a log in its outputs"),
            (notebook_of(outputs=[new_output("error", ename="KeyError", evalue="a")]), "failed: KeyError: a"),
            (notebook_of(outputs=[stream("saved to /home/me/x")]), "it ran on: /home/me/"),
            (notebook_of(outputs=[stream("'/tmp/x'")]), "it ran on: /tmp/"),
            (notebook_of(outputs=[stream("in C:\\Users\\me")]), "it ran on: C:\\"),
            (
                notebook_of(outputs=[new_output("execute_result", {"text/plain": "Path('/var/x/y')"})]),
                "it ran on: /var/x/",
            ),
        ],
    )
    def test_what_must_not_be_committed(self, notebook, fault):
        (found,) = faults(notebook)
        assert fault in found

    @pytest.mark.parametrize("text", ["http://127.0.0.1:8501/v1/models/x", "a/b/c", "<s> 1 / 2 </s>", "1/2"])
    def test_what_may_be_committed(self, text):
        picture = new_output("display_data", {"image/png": "iVBOR/w0K/GgoA"})
        assert list(faults(notebook_of(outputs=[stream(text), picture]))) == []

    def test_a_cell_that_fails(self, tmp_path):
        ran = execute(notebook_of("open('left.txt', 'w').close()\nprint('so far')\n1 / 0"), tmp_path)
        assert list(errors(ran.notebook)) == ["code cell 1 failed: ZeroDivisionError: division by zero"]
        assert printed(ran.notebook) == "so far\n"
        assert ran.left == ["left.txt"]

    @pytest.mark.parametrize(
        ("right", "wrong"),
        [
            ("103 of 103", "90 of 103"),
            ("'5:37'", "'6:23'"),
            ("99.0% likely, 6", "9.0% likely, 6"),
            ("beam ", "bean "),
        ],
    )
    def test_other_findings(self, right, wrong):
        text = (
            "103 of 103 held-out times are right\n"
            "'twenty-three to six'    '5:37'   score -0.1\n'half past ten'  '10:30'   score -0.1\n"
            "'quarter to one'  '12:45'   score -0.1\n'eleven past eleven' '11:11'   score -0.1\n"
            "''   ''  score -8.0\n5:37 is 99.0% likely, 6:23 is 0.0% likely\n"
            "serving_default text → text\ngreedy text → text\nbeam text → text\n"
            "generate text → text\nsample text → text\nscore text → score\nalign text → text\n"
        )
        quickstart(text)
        with pytest.raises(AssertionError):
            quickstart(text.replace(right, wrong))
