"""The demo must fail when something that it shows is wrong."""

import io
import re
import socket
import sys

import pytest
from rich.console import Console

import zoo.export
from zoo import cli, demo, recipes, runs
from zoo.data.pairs import Pairs
from zoo.decoders import Beam
from zoo.demo import DemoError
from zoo.metrics import exact_match
from zoo.models import RecurrentSeq2Seq
from zoo.predictor import Predictor
from zoo.recipes import Recipe
from zoo.runs import Evaluation
from zoo.serving.client import Hypothesis
from zoo.tasks.task import Task
from zoo.tokenizers import Characters
from zoo.training.settings import TrainingSettings
from zoo.verify import Check, Report


def evaluation(dates: float, formats: float, rules: float) -> Evaluation:
    def systems(model, baseline):
        named = {"greedy": model, "beam": model, "dateparser": baseline}
        return {name: {"exact_match": value} for name, value in named.items()}

    figures = {"held_out_dates": systems(dates, 0.5), "held_out_formats": systems(formats, rules)}
    return Evaluation(figures, {"held_out_dates": 10, "held_out_formats": 10})


def test_good_figures_pass():
    demo._require_figures(evaluation(0.99, 0.98, 0.97))


@pytest.mark.parametrize(
    ("dates", "formats", "rules", "message"),
    [(0.989, 0.99, 0.5, "held-out dates is 0.9890"), (1.0, 0.97, 0.97, "not above the rules' 0.9700")],
)
def test_poor_figures_fail(dates, formats, rules, message):
    with pytest.raises(DemoError, match=message):
        demo._require_figures(evaluation(dates, formats, rules))


class FakeClient:
    """Answers what it was told to, with a score of its own."""

    def __init__(self, text: str, score: float = -0.5) -> None:
        self.hypothesis = Hypothesis(text, score, len(text), score)

    def greedy(self, texts):
        return [self.hypothesis for _ in texts]

    def beam(self, texts):
        return [[self.hypothesis] for _ in texts]

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        return None


def ask(monkeypatch, rest: FakeClient, grpc: FakeClient) -> None:
    monkeypatch.setattr(demo, "_clients", lambda running, model: {"REST": rest, "gRPC": grpc})
    demo._ask(Console(quiet=True), None, "dates", [("1 May 2019", "2019-05-01")])


def test_right_answers_pass(monkeypatch):
    ask(monkeypatch, FakeClient("2019-05-01"), FakeClient("2019-05-01"))


def test_a_wrong_answer_fails(monkeypatch):
    with pytest.raises(DemoError, match="gRPC greedy answered '2019-01-05' to '1 May 2019'"):
        ask(monkeypatch, FakeClient("2019-05-01"), FakeClient("2019-01-05"))


def test_protocols_that_disagree_fail(monkeypatch):
    with pytest.raises(DemoError, match="REST and gRPC disagree"):
        ask(monkeypatch, FakeClient("2019-05-01"), FakeClient("2019-05-01", score=-0.6))


LETTERS = "abcd"
WORDS = [a + b for a in LETTERS for b in LETTERS]


def capitals(words):
    return Pairs(words, [word.upper() for word in words])


def small_recipe(formats: Pairs) -> Recipe:
    """Small letters to capitals under the names that the demo looks for: all of it is learned in seconds."""

    def task() -> Task:
        every = capitals(WORDS)
        return Task(
            name="capitals",
            description="Small letters to capitals.",
            languages=("en",),
            licence="CC0-1.0",
            splits={
                "train": capitals(WORDS * 20),
                "validation": every,
                "held_out_dates": every,
                "held_out_formats": formats,
            },
            source=Characters(LETTERS),
            target=Characters(LETTERS.upper()),
            metrics={"exact_match": exact_match},
            examples=("ab",),
            baselines={"dateparser": lambda sources: [""] * len(sources)},
        )

    return Recipe(
        name="capitals",
        description="Small letters to capitals.",
        task=task,
        model=lambda task: RecurrentSeq2Seq(
            task.source.vocab_size,
            task.target.vocab_size,
            embedding_dim=16,
            encoder_units=16,
            decoder_units=32,
        ),
        training=TrainingSettings(epochs=5, batch_size=16, learning_rate=1e-2, seed=1),
        beam=Beam(width=2),
        max_source_length=8,
        max_length=5,
    )


class Lean(Predictor):
    """Has only what the demo asks, since every signature costs the export, its check and the server time."""

    def signatures(self):
        kept = ("serving_default", "greedy", "beam", "align")
        return {name: signature for name, signature in super().signatures().items() if name in kept}


@pytest.fixture
def learning(monkeypatch):
    """Makes the demo train another recipe; only the demo verifies the export then, not its writer too."""
    verified = Report("", "", (Check("nothing", True, ""),))
    monkeypatch.setattr(zoo.export, "verify_in_fresh_process", lambda path: verified)
    monkeypatch.setattr(runs, "Predictor", Lean)

    def learn(recipe):
        monkeypatch.setattr(recipes, "find", lambda name: recipe)
        return verified

    return learn


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_the_whole_demo_leaves_an_export_and_a_picture_and_no_server(learning, tmp_path):
    learning(small_recipe(capitals(WORDS[:5])))
    console = Console(width=300, record=True, file=io.StringIO())
    picture = tmp_path / "alignment.png"
    demo.demo(
        console,
        runs_folder=tmp_path / "runs",
        saved_models=tmp_path / "models",
        picture=picture,
        engine="embedded",
    )
    told = console.export_text()
    assert "All that was shown is right." in told
    assert (tmp_path / "models" / "capitals" / "1" / "saved_model.pb").is_file()
    assert picture.read_bytes().startswith(b"\x89PNG")
    ports = re.search(r"REST at http://127\.0\.0\.1:(\d+), gRPC at 127\.0\.0\.1:(\d+)\.", told).groups()
    assert [is_open(int(port)) for port in ports] == [False, False]


def test_the_command_ends_with_1_where_an_answer_is_not_the_truth(learning, monkeypatch, tmp_path, capsys):
    """One truth of three is another than what was learned, so the figures pass and the answer does not."""
    wrong = Pairs(["ab", "bc", "cd"], ["AB", "BC", "DC"])
    verified = learning(small_recipe(wrong))
    monkeypatch.setattr(demo, "verify_in_fresh_process", lambda path: verified)  # real in the test above
    folders = ["--runs", "runs", "--to", "models", "--engine", "embedded"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["zoo", "demo", *folders])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 1
    assert "Error: REST greedy answered 'CD' to 'cd'; 'DC' is right." in capsys.readouterr().err
    assert not (tmp_path / "alignment.png").exists()
