"""`zoo export --predictor`: from a function in a file of one's own to a published version."""

import json
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import tensorflow as tf
import typer.testing
from readme import blocks

import zoo.export
from zoo.cli import app
from zoo.cli.own_predictors import made_by
from zoo.text_operations import register_text_operations
from zoo.verify import Check, Report

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")

KINDS = """
    import keras

    from zoo.layers import LogMel, Pooling
    from zoo.models import (
        RecurrentEncoder, RecurrentFrameEncoder, RecurrentSeq2Seq, SequenceRegressor, SequenceTagger,
    )
    from zoo.predictors import (
        NodeSetReader, Predictor, RecordRegressingPredictor, RegressingPredictor, SoundReader,
        TaggingPredictor,
    )
    from zoo.tokenizers import Characters, Words

    TEXTS = Characters("abc ")
    NODES = Words(["C", "O"])

    def encoder():
        return RecurrentEncoder(TEXTS.vocab_size, 4, embedding_dim=4)

    def tagger():
        return TaggingPredictor(SequenceTagger(encoder(), classes=2), TEXTS, ["x", "y"])

    def regressor(blank_value=-1.0):
        model = SequenceRegressor(encoder(), pooling=Pooling("mean"))
        return RegressingPredictor(model, TEXTS, blank_value=blank_value)

    def translator():
        model = RecurrentSeq2Seq(TEXTS.vocab_size, TEXTS.vocab_size, encoder_units=4, decoder_units=4)
        return Predictor(model, TEXTS, TEXTS, max_source_length=8, max_length=4)

    def sounds():
        features = LogMel(8000, bands=12, window_seconds=0.032, hop_seconds=0.016)
        model = SequenceRegressor(RecurrentFrameEncoder(12, 4), pooling=Pooling("mean"))
        return RecordRegressingPredictor(model, SoundReader(features), blank_value=-1.0)

    class Edges(keras.Model):
        def call(self, inputs):
            return keras.ops.sum(keras.ops.cast(inputs["edge_types"], "float32"), axis=(1, 2))[:, None]

    def node_sets():
        return RecordRegressingPredictor(Edges(), NodeSetReader(NODES), blank_value=-1.0)
"""

SOUND = b"RIFF, but no sound"

MISTAKES = """
    import math

    number = 3

    def nothing(): ...

    def taking(words): ...

    class Model:
        def signatures(self): ...
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A current folder with files of one's own, which are forgotten after the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    known = set(sys.modules)
    for name, code in {"kinds": KINDS, "mistakes": MISTAKES, "imports": "import not_there_at_all"}.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(code))
    yield tmp_path
    for name in {"kinds", "mistakes", "imports"} & (set(sys.modules) - known):
        del sys.modules[name]


def invoke(*words):
    return typer.testing.CliRunner().invoke(app, list(words))


def test_what_the_page_tells_to_type_works_as_printed(tmp_path):
    """In processes of their own: the program `zoo` does not look into the current folder by itself."""
    (code,) = (block.code for block in blocks(PAGE) if block.info == "python")
    section = PAGE.split("In the folder of that file:")[1].split("\n##")[0]
    train, export, verify = re.findall(r"^ {4}(\S.*)$", section, re.MULTILINE)
    (tmp_path / "sentiment.py").write_text(code)
    programs = {"python": sys.executable, "zoo": str(Path(sys.executable).with_name("zoo"))}
    for line in (train, export, verify):
        program, *words = shlex.split(line)
        command = [programs[program], *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr

    path = tmp_path / "saved_models" / "sentiment" / "1"
    card = json.loads((path / "assets.extra" / "zoo.json").read_text())["card"]
    assert (card["name"], card["recipe"], card["languages"]) == ("sentiment", "sentiment:predictor", ["en"])
    register_text_operations()
    classify = tf.saved_model.load(str(path)).signatures["classify"]
    answer = classify(text=tf.constant(["a lovely story", "a dull story", ""]))
    assert answer["label"].numpy().tolist() == [b"good", b"bad", b""]


@pytest.fixture
def verified(monkeypatch):
    fine = Report("", "", (Check("nothing", True, ""),))
    monkeypatch.setattr(zoo.export, "verify_in_fresh_process", lambda path: fine)


@pytest.mark.parametrize(
    ("function", "option", "question", "signatures"),
    [
        ("tagger", "--question", "a cab", {"tag"}),
        ("regressor", "--question", "a cab", {"regress"}),
        ("translator", "--question", "a cab", {"greedy", "beam", "generate", "sample", "score", "align"}),
        ("sounds", "--question-file", "yes.wav", {"regress"}),
        ("node_sets", "--question", "C C O | 0-1 1-2", {"regress"}),
    ],
)
def test_every_kind_of_predictor_is_exported(here, verified, function, option, question, signatures):
    (here / "yes.wav").write_bytes(SOUND)
    about = ["--description", "A toy.", "--licence", "CC0-1.0", "--language", "en", "--language", "de"]
    about += ["--trained-on", "three words"]
    words = ["export", "--predictor", f"kinds:{function}", "--name", "toy", option, question, *about]
    result = invoke(*words, "--to", "models")
    assert result.exit_code == 0, result.output
    assert "Published models/toy/1." in result.output

    path = here / "models" / "toy" / "1"
    manifest = json.loads((path / "assets.extra" / "zoo.json").read_text())
    assert set(manifest["signatures"]) == {"serving_default", *signatures}
    assert manifest["card"] == {
        "name": "toy",
        "description": "A toy.",
        "task": "toy",
        "recipe": f"kinds:{function}",
        "languages": ["en", "de"],
        "licence": "CC0-1.0",
        "metrics": {},
        "notes": [],
        "data": "three words",
    }
    golden = json.loads((path / "assets.extra" / "golden.json").read_text())
    (name,) = {form["question"] for form in manifest["signatures"].values()}
    asked = [entry["inputs"][name] for entry in golden if entry["signature"] == "serving_default"]
    assert (question if option == "--question" else SOUND.decode()) in asked


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["export"],
            "Name a recipe, see `zoo list`, or give a predictor of your own with --predictor; not both",
        ),
        (["export", "dates", "--predictor", "a:b"], "not both"),
        (
            ["export", "dates", "--name", "d", "--licence", "x", "--trained-on", "y"],
            "Leave --name, --licence, --trained-on out: a recipe brings its own",
        ),
        (
            ["export", "--predictor", "a:b", "--name", "d", "--data", "x"],
            "Leave --data out: it is that of a run",
        ),
        (["export", "--predictor", "a:b", "--question", "x"], "served under, with --name"),
        (["export", "--predictor", "a:b", "--name", "d"], "with --question or --question-file"),
    ],
)
def test_options_that_do_not_go_together_say_what_to_do(words, message):
    result = invoke(*words)
    assert result.exit_code == 2
    assert message in " ".join(result.output.replace("│", " ").split())


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("kinds", r"Expected MODULE:FUNCTION, such as sentiment:predictor .* got 'kinds'"),
        ("kinds.py:tagger", "got 'kinds.py:tagger'"),
        ("./kinds:tagger", "got './kinds:tagger'"),
        ("kind:tagger", r"There is no module kind, neither as kind.py in .* nor installed"),
        ("kinds.deeper:tagger", r"There is no module kinds.deeper, neither as kinds/deeper.py in "),
        ("mistakes:tagger", r"Expected a function tagger in .*mistakes.py, found nothing of that name"),
        ("mistakes:tagger", r"it defines nothing, taking, Model\. Write one that returns the predictor"),
        ("mistakes:number", "found an object of int"),
        ("mistakes:taking", r"mistakes:taking is called without arguments: missing a required argument"),
        ("mistakes:nothing", r"returned an object of NoneType, expected a predictor: .*ClassifyingPredictor"),
        ("mistakes:Model", "returned an object of Model, expected a predictor"),
        ("kinds:encoder", "returned an object of RecurrentEncoder, expected a predictor"),
    ],
)
def test_what_is_no_predictor_is_told_with_what_to_do(here, reference, message):
    with pytest.raises(ValueError, match=message):
        made_by(reference)


def test_what_the_module_misses_is_not_taken_for_the_module(here):
    with pytest.raises(ModuleNotFoundError, match="not_there_at_all"):
        made_by("imports:predictor")


def test_a_name_that_cannot_be_served_is_refused_before_anything_is_made(here):
    result = invoke("export", "--predictor", "kinds:tagger", "--name", "My Model", "--question", "a")
    assert "lower-case letters" in str(result.exception)
    assert "kinds" not in sys.modules


def test_a_file_that_is_missing_is_named(here):
    words = ("export", "--predictor", "kinds:sounds", "--name", "toy", "--question-file", "no.wav")
    result = invoke(*words)
    assert isinstance(result.exception, FileNotFoundError)
    assert "no.wav" in str(result.exception)
