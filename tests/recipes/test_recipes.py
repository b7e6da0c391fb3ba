"""Every recipe says what it is without any data, and its model and settings fit together."""

from pathlib import Path
from types import SimpleNamespace

import keras
import numpy as np
import pytest

from zoo.models import RecurrentSeq2Seq, TransformerSeq2Seq
from zoo.recipes import RECIPES, find, own
from zoo.recipes.sizes import RECURRENT, TRANSFORMER
from zoo.tokenizers import END, PAD, START


def task_with(source, target):
    """As much of a task as a model is made for."""
    return SimpleNamespace(
        source=SimpleNamespace(vocab_size=source), target=SimpleNamespace(vocab_size=target)
    )


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_a_recipe_goes_by_its_name_and_loads_nothing(name, monkeypatch):
    monkeypatch.setenv("ZOO_DATA", "/there/is/no/such/folder")
    recipe = find(name)
    assert recipe.name == name
    assert recipe.description.endswith(".")
    assert recipe.training.average_last <= recipe.training.epochs


@pytest.mark.parametrize("name", ["multi30k_transformer", "multi30k_sutskever", "tatoeba_en_zh", "g2p_ice"])
def test_data_are_looked_for_when_the_task_is_made(name, monkeypatch, tmp_path):
    monkeypatch.setenv("ZOO_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=f"ZOO_DATA is {tmp_path}"):
        find(name).task()


MODELS = ["multi30k_bahdanau", "multi30k_sutskever", "g2p_ice", "tatoeba_en_zh", "cmudict"]


@pytest.mark.parametrize(
    ("name", "source_size"),
    [("multi30k_transformer", 13), *((name, 11) for name in MODELS)],
)
def test_a_model_gives_logits(name, source_size):
    keras.utils.set_random_seed(0)
    model = find(name).model(task_with(source_size, 13))
    source, target_ids = np.array([[4, 5, END], [6, END, PAD]]), np.array([[START, 4], [START, 5]])
    assert model({"source": source, "target_ids": target_ids}).shape == (2, 2, 13)


def test_the_transformer_has_the_published_sizes():
    """Wu et al. (2021) count 2.6 million, with one embedding matrix for both sides."""
    model = find("multi30k_transformer").model(task_with(10_000, 10_000))
    assert 2.5e6 < model.count_params() < 2.7e6
    assert find("multi30k_transformer").beam.width == 5


@pytest.mark.parametrize(
    ("kind", "sizes"), [(RecurrentSeq2Seq, RECURRENT), (TransformerSeq2Seq, TRANSFORMER)]
)
def test_a_model_of_each_size_has_more_weights_than_the_one_before(kind, sizes):
    inputs = {"source": np.array([[4, 5, END]]), "target_ids": np.array([[START, 4]])}
    counts = []
    for size in ("tiny", "small", "base"):
        model = kind(20, 20, **sizes[size])
        assert model(inputs).shape == (1, 2, 20)
        counts.append(model.count_params())
    assert counts == sorted(set(counts))


def test_a_recipe_of_ones_own(tmp_path):
    file = tmp_path / "My words (2).tsv"
    file.write_text("".join(f"{n}\t{n}\n" for n in range(100)))
    assert own([file]).name == "My_words__2_"
    assert own([file], name="words").name == "words"
    assert own([file], epochs=3).training.epochs == 3
    assert own([file]).training.epochs == 100
    assert own([file], level="characters").task().splits["train"].sources


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"name": "a/b"}, "letters, digits, _ and - alone, got 'a/b'"),
        ({"level": "words"}, "characters, subwords, got 'words'"),
        ({"size": "huge"}, "tiny, small, base, got 'huge'"),
        ({"files": []}, "got 0 files"),
    ],
)
def test_what_cannot_be_a_recipe_is_refused(tmp_path, changed, told):
    file = tmp_path / "my.tsv"
    file.write_text("a\t1\n")
    with pytest.raises(ValueError, match=told):
        own(**{"files": [Path(file)], **changed})
