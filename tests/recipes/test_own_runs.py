"""What follows `zoo train --data`: the other verbs find the pairs again by what the run recorded."""

import json

import keras
import pytest
from own_pairs import LINES, zoo

from zoo import runs
from zoo.recipes import find, own


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One epoch: what is learned is not the question here."""
    place = tmp_path_factory.mktemp("own")
    (place / "my swaps.tsv").write_text("\n".join(LINES))
    data = ("--data", place / "my swaps.tsv", "--level", "characters", "--epochs", 1)
    result = zoo("train", *data, "--runs", place / "runs")
    assert result.exit_code == 0, result.output
    return place


def test_the_record_says_where_the_pairs_are(place):
    record = json.loads((place / "runs" / "my_swaps" / "run.json").read_text())
    assert record["own"] == {"files": [str(place / "my swaps.tsv")], "level": "characters", "size": "tiny"}
    assert record["signatures"]["chrf"].startswith("nrefs:1|case:mixed|eff:yes|nc:6|nw:0|")
    again = runs.recipe_of("my_swaps", place / "runs" / "my_swaps")
    first = own([place / "my swaps.tsv"], level="characters", epochs=1)
    assert again.training == first.training
    assert again.task().splits == first.task().splits
    assert again.command == first.command
    assert again.command == f"zoo train my_swaps --data '{place}/my swaps.tsv' --level characters --size tiny"


def test_pairs_that_were_changed_are_not_gone_on_with(tmp_path):
    """The same characters in as many pairs: only what stands in the file says that it is another training."""

    def interrupt(epoch, logs):
        if epoch == 1:
            raise KeyboardInterrupt

    file, folder = tmp_path / "my.tsv", tmp_path / "runs" / "my"
    file.write_text("\n".join(LINES))
    recipe = own([file], level="characters", epochs=2)
    first = recipe.task()
    with pytest.raises(KeyboardInterrupt):
        runs.train(
            recipe, first, folder, callbacks=[keras.callbacks.LambdaCallback(on_epoch_begin=interrupt)]
        )
    changed = first.splits["train"].targets[0]
    file.write_text("\n".join(LINES).replace(changed, changed[::-1]))
    recipe = own([file], level="characters", epochs=2)
    assert recipe.task().target.describe() == first.target.describe()
    with pytest.raises(ValueError, match=r"another kind \(learned_from: .*--fresh"):
        runs.train(recipe, recipe.task(), folder)


def test_evaluate(place):
    result = zoo("evaluate", "my_swaps", "--runs", place / "runs")
    assert result.exit_code == 0, result.output
    for word in ("greedy", "beam", "exact", "chrf"):
        assert word in result.output


def test_export(place):
    result = zoo("export", "my_swaps", "--runs", place / "runs", "--to", place / "saved")
    assert result.exit_code == 0, result.output
    assert (place / "saved" / "my_swaps" / "1" / "saved_model.pb").is_file()


def test_plot(place):
    picture = place / "examples.png"
    result = zoo("plot", "my_swaps", "--runs", place / "runs", "--to", picture)
    assert result.exit_code == 0, result.output
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.fixture
def moved(place):
    here, there = place / "my swaps.tsv", place / "moved.tsv"
    here.rename(there)
    yield there
    there.rename(here)


def test_pairs_that_were_moved(place, moved):
    result = zoo("evaluate", "my_swaps", "--runs", place / "runs")
    assert isinstance(result.exception, FileNotFoundError)
    assert "my swaps.tsv, which is not there. Say where it is now with --data" in str(result.exception)
    result = zoo("evaluate", "my_swaps", "--runs", place / "runs", "--data", moved)
    assert result.exit_code == 0, result.output


@pytest.mark.usefixtures("moved")
def test_texts_of_the_command_line_are_drawn_without_the_pairs(place):
    picture = place / "text.png"
    result = zoo("plot", "my_swaps", "ae i", "--runs", place / "runs", "--to", picture)
    assert result.exit_code == 0, result.output
    assert picture.is_file()


def test_pairs_that_have_changed(place, tmp_path):
    other = tmp_path / "other.tsv"
    other.write_text("\n".join(line.upper() for line in LINES))
    result = zoo("evaluate", "my_swaps", "--runs", place / "runs", "--data", other)
    assert "Train again: zoo train my_swaps --data" in str(result.exception)


def test_runs_that_are_not_there_or_have_data_of_their_own(place, tmp_path):
    with pytest.raises(FileNotFoundError, match="zoo train nothing --data FILE for your own pairs"):
        runs.recipe_of("nothing", tmp_path / "nothing")
    with pytest.raises(FileNotFoundError, match="There is no run"):
        runs.recipe_of("dates", tmp_path / "dates", [place / "my swaps.tsv"])
    assert runs.recipe_of("dates", tmp_path / "dates").name == find("dates").name == "dates"
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(FileNotFoundError, match="There is no run"):
        runs.recipe_of("nothing", tmp_path)
    (tmp_path / "run.json").write_text('{"recipe": "dates"}')
    with pytest.raises(ValueError, match="leave --data out"):
        runs.recipe_of("dates", tmp_path, [place / "my swaps.tsv"])
    assert runs.recipe_of("dates", tmp_path).name == "dates"
