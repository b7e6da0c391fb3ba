"""The README does what it says, and each check fails where it does not."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
from curl_commands import send
from readme import (
    Block,
    Ran,
    Shown,
    answer_faults,
    blocks,
    command_faults,
    commands,
    comment_faults,
    exported_signatures,
    path_faults,
    requests,
    run,
    spans,
    table,
    written_signatures,
)

from zoo.cli import app
from zoo.serving import engines
from zoo.serving.server import Server

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
VERBS = typer.main.get_command(app).commands
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


class Walk(NamedTuple):
    """All Python of the README was run in this folder, in one namespace."""

    folder: Path
    namespace: dict[str, Any]
    ran: Ran


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walk")
    ran = Ran([], [])
    namespace: dict[str, Any] = {"__name__": "readme"}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        # Where there is a Docker engine, the README's code would fetch an image.
        patch.setattr(engines, "choose", lambda engine: engines.Choice("embedded", "it is a test"))
        for block in blocks(README):
            if block.info == "python":
                shown, printed = run(block.code, namespace)
                ran.shown.extend(shown)
                ran.printed.extend(printed)
    return Walk(folder, namespace, ran)


@pytest.fixture(scope="module")
def server(walk):
    """Serves the model of the README as `dates`: answers of the same form to whatever is asked."""
    with Server({"dates": walk.folder / "saved_models" / "numbers"}, grpc_port=0, rest_port=0) as running:
        yield running


def at(server: Server, text: str) -> str:
    """A text with the ports of this server in place of the usual ones."""
    return text.replace(":8501", f":{server.rest_port}").replace(":8500", f":{server.grpc_port}")


def test_its_model_learns(walk):
    found = re.fullmatch(r"(\d+) of (\d+) right", walk.ran.printed[0])
    right, asked = map(int, found.groups())
    assert asked == 143
    assert right >= 0.95 * asked


def test_its_beam_finds_what_is_right(walk):
    best = walk.namespace["best"]
    assert best.text.shape == (1, 3)
    assert best.text[0, 0] == b"343"
    assert best.score[0, 0] > -0.7


def test_its_server_answers(walk):
    assert walk.ran.printed[-1] == "['784', '12']"


def test_its_export_lies_where_it_says(walk):
    assert (walk.folder / "saved_models" / "numbers" / "1" / "saved_model.pb").is_file()


def test_what_it_shows_beside_its_code_is_what_comes_out(walk):
    assert [shown.comment for shown in walk.ran.shown] == ["saved_models/numbers/1"]
    assert [fault for shown in walk.ran.shown for fault in comment_faults(shown)] == []


def test_its_clients_get_answers_of_the_form_it_shows(server):
    (code,) = (block.code for block in blocks(README) if block.info == "python client")
    shown, _ = run(at(server, code), {"__name__": "readme"})
    assert [each.line.partition("(")[0] for each in shown] == [
        "client.answer",
        "client.greedy",
        "client.beam",
        "client.align",
    ]
    assert [fault for each in shown for fault in comment_faults(each)] == []


def test_its_curl_commands_get_answers_of_the_form_it_shows(server):
    asked = requests(README)
    assert len(asked) >= 2
    for request in asked:
        answer = send(at(server, request.url), request.body)
        assert list(answer_faults(request.answer, answer)) == []
        assert len(answer["predictions"]) == len(request.answer["predictions"])


def test_its_table_of_signatures_is_that_of_the_predictor_and_of_the_export(walk):
    written = written_signatures(README)
    manifest = walk.folder / "saved_models/numbers/1/assets.extra/zoo.json"
    assert written == exported_signatures(json.loads(manifest.read_text(encoding="utf-8")))
    promised = walk.namespace["predictor"].signatures()
    assert {name: set(row["inputs"]) for name, row in written.items()} == {
        name: set(signature.inputs) for name, signature in promised.items()
    }


def test_its_commands_exist():
    named = commands(README)
    assert ["make", "demo"] in named
    assert ["zoo", "ask", "15. Februar 2019"] in named
    assert [fault for words in named for fault in command_faults(words, VERBS, TARGETS)] == []


def test_its_table_of_commands_has_them_all():
    rows = re.findall(r"^\| `zoo ([a-z]+)", README, re.MULTILINE)
    assert sorted(rows) == sorted(VERBS)


def test_its_paths_exist():
    assert len(table(README, "you want")) > 5
    assert list(path_faults(README, ROOT)) == []


def test_every_block_is_of_a_kind_that_is_checked():
    assert {block.info for block in blocks(README)} == {"console", "python", "python client"}


class TestTheChecks:
    """Each finds what is broken."""

    @pytest.mark.parametrize(
        ("code", "fault"),
        [
            ("print(1 + 1)  # 3", "'print(1 + 1)  # 3' printed '2'"),
            ("[1]  # ['2019']", "[0] is 1, not a str"),
            ("['a', 2]  # ['a', ...]", "[1] is 2, not a str"),
            ("[]  # ['a']", "is [], not such a list"),
            ("'a'  # ['a']", "is 'a', not such a list"),
            ("[1.0]  # [-1]", "[0] is 1.0, not a int"),
            ("[(1, 2)]  # [Point(x=1)]", "[0] is (1, 2), not a Point"),
            ("[Point(1)]  # [Point(x='a', ...)]", "[0].x is 1, not a str"),
            ("[Point(1)]  # [Point(y=1)]", "[0].y is None, not a int"),
            ("[1]  # [x + y]", "cannot tell what x + y stands for"),
        ],
    )
    def test_values_beside_code(self, code, fault):
        (shown,) = run(code, {"Point": NamedTuple("Point", [("x", int)])}).shown
        (found,) = comment_faults(shown)
        assert fault in found

    def test_a_value_that_is_not_python_is_an_error(self):
        with pytest.raises(SyntaxError):
            list(comment_faults(Shown("f()", "['2019", ["2019"])))

    def test_what_is_right_passes(self):
        ran = run(
            "x = ['2019', '2020']\nx  # ['2018', ...]\nwith a: x  # a remark\nprint(*x)  # 2019 2020",
            {"a": A()},
        )
        assert len(ran.shown) == 3
        assert ran.printed == ["2019 2020"]
        assert [fault for shown in ran.shown for fault in comment_faults(shown)] == []

    def test_code_that_raises(self):
        with pytest.raises(ZeroDivisionError):
            run("print(1)\n1 / 0", {})

    @pytest.mark.parametrize(
        ("answer", "fault"),
        [
            ({"outputs": ["a"]}, "not an object of predictions"),
            ({"predictions": ["a"], "more": 1}, "not an object of predictions"),
            ({"predictions": []}, "the answer.predictions is [], not such a list"),
            ({"predictions": [{"text": "a"}]}, "not an object of text, score"),
            ({"predictions": [{"text": 1, "score": 1.0}]}, "text is 1, not a str"),
            ({"predictions": [{"text": "a", "score": 1}]}, "score is 1, not a float"),
            ({"predictions": [{"text": "a", "score": True}]}, "score is True, not a float"),
        ],
    )
    def test_answers(self, answer, fault):
        expected = {"predictions": [{"text": "2019", "score": -0.5}]}
        (found,) = answer_faults(expected, answer)
        assert fault in found
        assert list(answer_faults(expected, {"predictions": [{"text": "", "score": 0.25}] * 3})) == []

    def test_requests(self):
        text = '```console\n$ curl -s -d \'{"a": "b c"}\' \\\n    http://h:1/x\n{"c":\n [1]}\n\n$ ls\n```\n'
        assert requests(text) == [("http://h:1/x", '{"a": "b c"}', {"c": [1]})]
        with pytest.raises(ValueError, match="curl -X is not known"):
            requests(text.replace("-s", "-X"))
        with pytest.raises(ValueError, match="Expecting"):
            requests(text.replace("[1]", "[1"))

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("Run `make dmo`.", "`make dmo` does not exist"),
            ("```console\n$ make dmo\n```\n", "`make dmo` does not exist"),
            ("| `zoo trian dates` | to train |", "`zoo trian` does not exist"),
            ("or `.venv/bin/zoo trian`", "`zoo trian` does not exist"),
            ("or `python -m zoo trian`", "`zoo trian` does not exist"),
            ("`zoo train dates --fast`", "`zoo train dates --fast` does not work"),
            ("`zoo list everything`", "`zoo list everything` does not work"),
        ],
    )
    def test_commands(self, text, fault):
        (found,) = [fault for words in commands(text) for fault in command_faults(words, VERBS, TARGETS)]
        assert fault in found

    @pytest.mark.parametrize("text", ["`make test`", "`zoo`", "`zoo train`", "`zoo train dates`", "`train`"])
    def test_commands_that_are_right(self, text):
        assert [fault for words in commands(text) for fault in command_faults(words, VERBS, TARGETS)] == []

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("| layers | `zoo/layer/` |", "zoo/layer/ does not exist"),
            ("see `DECISION.md`", "DECISION.md does not exist"),
            ("![a](docs/images/none.png)", "docs/images/none.png does not exist"),
        ],
    )
    def test_paths(self, text, fault):
        assert list(path_faults(text, ROOT)) == [fault]

    def test_paths_that_are_right(self):
        text = "`zoo/layers/` `runs/` `saved_models/dates/1` `2/3/19` `(B, T)` [x](https://example.org/a)"
        assert list(path_faults(text, ROOT)) == []

    def test_signatures(self):
        text = (
            "| signature | inputs | outputs |\n|---|---|---|\n"
            "| `beam` | `text` (B,) | `text`, `score`, all (B, K), best first |\n"
            "| `align` | `text` (B,), `target` (B,) | `alignment` (B, T, S) |\n"
        )
        assert written_signatures(text) == {
            "beam": {"inputs": {"text": 1}, "outputs": {"text": 2, "score": 2}},
            "align": {"inputs": {"text": 1, "target": 1}, "outputs": {"alignment": 3}},
        }
        form = {"dtype": "string", "shape": [None, None]}
        manifest = {"signatures": {"beam": {"inputs": {}, "outputs": {"text": form}}}}
        assert exported_signatures(manifest) == {"beam": {"inputs": {}, "outputs": {"text": 2}}}
        with pytest.raises(ValueError, match="no table with a first column 'signature'"):
            written_signatures("no table")

    def test_blocks_and_spans(self):
        text = "a `b`\n```python client\nx = `no`\n```\n`c d`\n```console\n$ e\n```\n"
        assert blocks(text) == [Block("python client", "x = `no`\n"), Block("console", "$ e\n")]
        assert spans(text) == ["b", "c d"]


class A:
    """A context."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass
