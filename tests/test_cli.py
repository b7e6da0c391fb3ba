"""The command line: what it shows, and how it fails. The verbs' work is tested where it is done."""

import subprocess
import sys
from importlib import metadata

import pytest
from own_pairs import LINES
from rich.console import Console
from typer.testing import CliRunner

from zoo import cli, runs
from zoo.decoders import Greedy
from zoo.recipes import own
from zoo.runs import Evaluation
from zoo.serving.client import Hypothesis
from zoo.tables import Answered, answers_table, evaluation_table

VERBS = (
    "list",
    "train",
    "evaluate",
    "record",
    "align",
    "results",
    "export",
    "verify",
    "describe",
    "versions",
    "rollback",
    "label",
    "prune",
    "serve",
    "studio",
    "ask",
    "plot",
    "demo",
)


def shown(table) -> str:
    console = Console(width=200, record=True)
    console.print(table)
    return console.export_text()


def command(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "zoo", *arguments], capture_output=True, text=True, timeout=120
    )


def test_every_verb_explains_itself_with_an_example():
    for verb in VERBS:
        result = CliRunner().invoke(cli.app, [verb, "--help"])
        assert result.exit_code == 0
        assert f"Example: zoo {verb}" in " ".join(result.output.split())


def test_there_are_no_other_verbs():
    registered = {
        entry.name or entry.callback.__name__.replace("_", "-") for entry in cli.app.registered_commands
    }
    assert registered == set(VERBS)


def test_list_shows_the_recipes():
    result = CliRunner().invoke(cli.app, ["list"])
    assert result.exit_code == 0
    assert "dates" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "nope"), "There is no recipe 'nope'. There are: cmudict, dates, "),
        (("train", "--data", "/nowhere/my.tsv"), "There is no file /nowhere/my.tsv. Give the path"),
        (("train", "--data", "a", "--data", "b", "--data", "c"), "got 3 files"),
        (("evaluate", "dates", "--runs", "/nowhere"), "Train it first: zoo train dates"),
        (("ask", "x", "--port", "9"), "Check that a server runs there: `zoo serve` starts one."),
        (("ask", "x", "--host", "::1", "--port", "9"), "http://[::1]:9"),
        (("ask", "x", "--version", "1", "--label", "stable"), "a version or for a label"),
        (
            ("export", "--predictor", "nowhere_at_all:make", "--name", "mine", "--question", "x"),
            "There is no module nowhere_at_all, neither as nowhere_at_all.py in",
        ),
        (("serve", "/nowhere"), "/nowhere"),
        (("serve", "--engine", "steam"), "unknown engine 'steam'"),
    ],
)
def test_what_a_user_can_mend_is_told_in_a_sentence(arguments, message):
    result = command(*arguments)
    assert result.returncode == 1
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_a_command_to_copy_stays_in_one_line():
    result = command("evaluate", "dates", "--runs", "/nowhere/" + "long" * 30)
    (error,) = (line for line in result.stderr.splitlines() if line.startswith("Error: "))
    assert error.endswith("Train it first: zoo train dates")


def test_train_wants_a_recipe_or_data():
    result = CliRunner().invoke(cli.app, ["train"])
    assert result.exit_code == 2
    assert "or give your own file with --data" in " ".join(result.output.replace("│", " ").split())


def test_training_on_a_file_of_ones_own(tmp_path):
    """Few lines and one epoch: what is learned is not the question here, but that it can be loaded."""
    (tmp_path / "my swaps.tsv").write_text("\n".join(LINES))
    arguments = ["train", "--data", str(tmp_path / "my swaps.tsv"), "--level", "characters", "--epochs", "1"]
    result = CliRunner().invoke(cli.app, [*arguments, "--runs", str(tmp_path / "runs")])
    assert result.exit_code == 0, result.output
    recipe = own([tmp_path / "my swaps.tsv"], level="characters")
    run = runs.load(recipe, tmp_path / "runs" / "my_swaps")
    assert run.record["pairs"] == 58
    assert len(run.predictor.answer(["ae i"], Greedy()).text.numpy()) == 1


def test_verify_fails_on_a_folder_that_is_no_export(tmp_path):
    result = command("verify", str(tmp_path))
    assert result.returncode == 1
    assert "There is no saved_model.pb" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["serve", "--rest-port", "99999"], "Invalid value for '--rest-port'"),
        (["serve", "--grpc-port", "-1"], "Invalid value for '--grpc-port'"),
        (["studio", "--port", "65536"], "Invalid value for '--port'"),
        (["ask", "a text", "--port", "0"], "Invalid value for '--port'"),
        (["ask", "a text", "--host", "http://127.0.0.1"], "Give a host alone, such as 127.0.0.1"),
    ],
)
def test_where_to_listen_and_whom_to_ask_is_checked_first(arguments, told):
    result = CliRunner().invoke(cli.app, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert told in " ".join(result.output.replace("│", " ").split())


def test_verify_looks_for_versions_no_deeper_than_they_lie(tmp_path):
    for place in ("models/dates/1", "dates/2", "a/b/c/d"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "saved_model.pb").touch()
    with pytest.raises(FileNotFoundError, match=rf"Did you mean {tmp_path}/dates/2\?$"):
        cli.app(["verify", str(tmp_path)], standalone_mode=False)


def test_a_wrong_answer_is_marked():
    right, wrong = Hypothesis("2019-02-15", -0.1, 10, -0.1), Hypothesis("2019-02-10", -3.0, 10, -3.0)
    text = shown(answers_table([Answered("15.2.19", "REST beam", [wrong, right], "2019-02-15")]))
    assert "2019-02-15, so this is wrong" in text
    text = shown(answers_table([Answered("15.2.19", "REST beam", [right, wrong], "2019-02-15")]))
    assert "wrong" not in text


def test_what_ranks_the_hypotheses_has_a_column_where_it_is_not_the_score():
    best, next_best = Hypothesis("a b c", -5.3659, 3, -1.34), Hypothesis("a", -4.8721, 1, -2.44)
    text = shown(answers_table([Answered("x", "REST beam", [best, next_best])]))
    head, *rows = [
        [cell.strip() for cell in line.replace("┃", "│").split("│")[3:-1]]
        for line in text.splitlines()
        if "┃" in line or "-" in line
    ]
    assert head == ["answer", "score", "length", "ranked by"]
    assert rows == [["a b c", "-5.3659", "3", "-1.3400"], ["a", "-4.8721", "1", "-2.4400"]]
    alone = Hypothesis("a", -4.8721, 1, -4.8721)
    assert "ranked by" not in shown(answers_table([Answered("x", "REST greedy", [alone])]))


def test_the_version_is_that_of_the_distribution():
    result = CliRunner().invoke(cli.app, ["--version"])
    assert (result.exit_code, result.output) == (0, f"seq2seq-zoo {metadata.version('seq2seq-zoo')}\n")


def test_an_evaluation_has_a_row_for_each_system():
    figures = {"days": {"greedy": {"exact_match": 0.5}, "rules": {"exact_match": 0.25}}}
    text = shown(evaluation_table(Evaluation(figures, {"days": 2000})))
    assert [line.split("│")[3:5] for line in text.splitlines() if "0." in line] == [
        [" greedy ", " 0.5000      "],
        [" rules  ", " 0.2500      "],
    ]
