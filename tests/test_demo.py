"""The demo must fail when something that it shows is wrong."""

import pytest
from rich.console import Console

from zoo import demo
from zoo.demo import DemoError
from zoo.runs import Evaluation
from zoo.serving.client import Hypothesis


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
