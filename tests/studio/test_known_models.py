"""What the page is told of the models in a folder."""

import json

import pytest

from zoo.studio.known import EXAMPLES, KnownModel, _known, known_models


@pytest.fixture
def model(tmp_path):
    """Writes a version of a model, or its extra files: text as it is, everything else as JSON."""

    def write(name, version=1, **extra):
        folder = tmp_path / name / str(version) / "assets.extra"
        folder.mkdir(parents=True)
        for file, content in extra.items():
            text = content if isinstance(content, str) else json.dumps(content)
            (folder / file.replace("_", ".", 1)).write_text(text, encoding="utf-8")
        return tmp_path

    return write


def asked(*texts):
    return [{"signature": "greedy", "inputs": {"text": text}, "outputs": {}} for text in texts]


def test_a_model_tells_of_itself(model):
    card = {"name": "other", "description": "Dates.", "languages": ["de", "en"]}
    golden = asked("1.2.19", "15. Februar", "15. Februar", "Feb 15")
    folder = model("dates", zoo_json={"card": card}, golden_json=golden)
    assert known_models(folder) == [
        KnownModel("dates", "Dates.", ("de", "en"), ("15. Februar", "Feb 15", "1.2.19"))
    ]


def test_what_nobody_would_ask_is_no_example(model):
    odd = asked("", "  ", "👍🏽🎉", {"b64": "//4="}, "x" * 1000, *(f"text {number}" for number in range(20)))
    (known,) = known_models(model("m", golden_json=odd))
    assert known.examples == tuple(f"text {number}" for number in range(EXAMPLES))


def test_the_labels_of_a_classifier(model):
    (known,) = known_models(model("m", labels_txt="calm\nvery loud\n"))
    assert known.labels == ("calm", "very loud")


def test_the_highest_version_counts(model):
    for version in (9, 10, 2):
        folder = model("m", version, zoo_json={"card": {"description": f"Version {version}."}})
    assert known_models(folder)[0].description == "Version 10."


def test_a_foreign_model_has_a_name(model, caplog):
    model("broken", zoo_json="{")
    folder = model("foreign")
    assert known_models(folder) == [KnownModel("broken"), KnownModel("foreign")]
    assert "broken is passed over" in caplog.text


def test_a_model_that_goes_away_meanwhile_has_a_name(tmp_path):
    assert _known("gone", tmp_path / "gone") == KnownModel("gone")
    (tmp_path / "empty").mkdir()
    assert _known("empty", tmp_path / "empty") == KnownModel("empty")


def test_a_manifest_of_another_shape_is_passed_over(model):
    model("list", zoo_json=[1], golden_json={"a": 1})
    folder = model("odd", zoo_json={"card": "x"}, golden_json=[{"inputs": {}}, 3])
    assert known_models(folder) == [KnownModel("list"), KnownModel("odd")]


def test_no_folder_no_models(tmp_path):
    assert known_models(None) == known_models(tmp_path / "none") == []
