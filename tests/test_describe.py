import ast
import contextlib
import io
import json
import re
import shutil

import curl_commands
import keras
import pytest
from typer.testing import CliRunner

import zoo.export
from zoo import cli
from zoo.decoders import Beam
from zoo.describe import Where, describe
from zoo.export import Card
from zoo.models import RecurrentSeq2Seq
from zoo.predictor import Predictor
from zoo.serving.server import Server
from zoo.tokenizers import Characters
from zoo.verify import Check, Report
from zoo.verify.layout import GOLDEN, MANIFEST
from zoo.verify.manifest import manifest_faults

QUESTIONS = ("abba", "it's a|b")
CARD = Card(
    name="toy",
    description="Letters to letters.",
    task="toy",
    recipe="none",
    languages=("en",),
    licence="ours",
    metrics={"test.greedy.exact_match": 0.25},
    notes=("Nothing was learned.",),
    data="letters drawn by hand",
)


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    """The version folder of a model that was not trained."""
    keras.utils.set_random_seed(4)
    tokenizer = Characters("abit s'|")
    model = RecurrentSeq2Seq(
        tokenizer.vocab_size, tokenizer.vocab_size, embedding_dim=4, encoder_units=4, decoder_units=4
    )
    predictor = Predictor(model, tokenizer, tokenizer, beam=Beam(2), max_source_length=10, max_length=5)
    with pytest.MonkeyPatch.context() as patch:
        report = Report("", "", (Check("nothing", True, ""),))
        patch.setattr(zoo.export, "verify_in_fresh_process", lambda path: report)
        return zoo.export.write(predictor, tmp_path_factory.mktemp("models"), card=CARD, questions=QUESTIONS)


@pytest.fixture(scope="module")
def card(export):
    """The card, with the addresses of a server that runs."""
    with Server({"toy": export.parent}, grpc_port=0, rest_port=0) as server:
        yield describe(export, Where(server.rest_url, server.grpc_target))


def blocks(card, language):
    return re.findall(rf"```{language}\n(.*?)\n```", card, re.DOTALL)


def assert_close(answer, expected):
    assert type(answer) is type(expected)
    if isinstance(answer, dict):
        assert answer.keys() == expected.keys()
        answer, expected = ([side[key] for key in sorted(side)] for side in (answer, expected))
    if isinstance(answer, list):
        for got, wanted in zip(answer, expected, strict=True):
            assert_close(got, wanted)
    else:
        assert answer == (expected if isinstance(expected, str) else pytest.approx(expected, abs=1e-5))


def test_it_says_what_the_manifest_says(card):
    assert card.startswith("# toy, version 1\n\nLetters to letters.\n")
    assert "| licence | ours |" in card
    assert "| test, greedy, exact match | 0.2500 |" in card
    assert "- Nothing was learned." in card
    assert "| `beam` | `text` string | `text` string (B, 2), `score` float32 (B, 2)" in card
    assert "`min_length` int32 (0)" in card, "neutral values"


def test_each_command_line_gets_the_answer_that_is_printed(card):
    commands, answers = blocks(card, "sh"), blocks(card, "json")
    signatures = []
    for command, answer in zip(commands, answers, strict=True):
        request = curl_commands.read(command)
        signatures.append(json.loads(request.body).get("signature_name", "serving_default"))
        received = curl_commands.send(*request)
        if not answer.endswith(" ..."):
            assert_close(received, json.loads(answer))
    asked = ["serving_default", "greedy", "beam", "generate", "sample", "score", "align"]
    assert sorted(signatures) == sorted(asked)


def test_the_python_of_a_card_runs_as_printed(card):
    rest, grpc = blocks(card, "python")
    answers = []
    for code in (rest, grpc):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(code, "card", "exec"), {})
        answers.append(ast.literal_eval(said.getvalue()))
    (over_rest,) = answers[0]["predictions"]
    assert set(over_rest) == {"text", "score", "ranked_score", "length"}
    assert [text.decode() for text in answers[1]["text"][0]] == over_rest["text"]
    assert answers[1]["score"][0] == pytest.approx(over_rest["score"], abs=1e-5)


def test_the_command_tells_what_someone_must_know_before_using_a_model(export):
    told = CliRunner().invoke(cli.app, ["describe", str(export)])
    assert told.exit_code == 0, told.output
    for row in (
        "| task | toy |",
        "| languages | en |",
        "| trained on | letters drawn by hand |",
        "| licence | ours |",
        "| test, greedy, exact match | 0.2500 |",
    ):
        assert row in told.output
    signatures = re.findall(r"^\| `(\w+)` \|", told.output, re.MULTILINE)
    assert signatures == ["serving_default", "greedy", "beam", "generate", "sample", "score", "align"]


def test_an_export_from_before_cards_named_their_data_is_described(export, tmp_path):
    path = shutil.copytree(export, tmp_path / "7")
    manifest = json.loads((path / MANIFEST).read_text())
    del manifest["card"]["data"]
    assert not list(manifest_faults(manifest))
    (path / MANIFEST).write_text(json.dumps(manifest))
    assert "| trained on | not stated |" in describe(path)


def test_a_model_stands_for_its_highest_version(export):
    assert describe(export.parent) == describe(export)


def without(member):
    def change(path):
        content = json.loads((path / MANIFEST).read_text())
        del content[member]
        (path / MANIFEST).write_text(json.dumps(content))

    return change


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (without("card"), "no manifest of the zoo: card is missing"),
        (without("files"), "no manifest of the zoo: files is missing"),
        (without("signatures"), "no manifest of the zoo: signatures is missing"),
        (lambda path: (path / GOLDEN).write_text("[]"), r"no question to serving_default.*`zoo verify "),
        (lambda path: (path / GOLDEN).write_text("[{}]"), "Entry 0 of .*golden.json is no question"),
    ],
)
def test_a_broken_export_has_no_card_and_no_traceback(export, tmp_path, change, told):
    path = shutil.copytree(export, tmp_path / "7")
    change(path)
    with pytest.raises(ValueError, match=told):
        describe(path)


def test_where_there_is_no_export(tmp_path):
    with pytest.raises(FileNotFoundError, match="NAME/VERSION"):
        describe(tmp_path)
