"""What the typed calls make of a server's answers."""

import pytest

from zoo.serving.answers import Classified, Client, ServingError, Signature, Tagged, TensorInfo

ANSWERS = {
    "tag": {
        "tokens": [["ab", "c", ""], ["d", "e", "f"], ["", "", ""]],
        "labels": [["X", "O", ""], ["O", "O", "X"], ["", "", ""]],
        "scores": [[0.5, 1.0, 0.0], [0.25, 0.0, 0.75], [0.0, 0.0, 0.0]],
    },
    "classify": {
        "label": ["good", ""],
        "score": [0.75, 0.0],
        "probabilities": [[0.25, 0.75], [0.0, 0.0]],
    },
    "regress": {"value": [1.5, -2.0]},
}


class Canned(Client):
    """Answers from a table, and keeps what it was asked; its signatures have the inputs that it is given."""

    def __init__(self, *inputs):
        super().__init__("toy", None, None, 1.0)
        self.inputs = inputs or ("text",)
        self.asked = []

    def predict(self, inputs, *, signature="serving_default"):
        self.asked.append((signature, inputs))
        return ANSWERS[signature]

    def status(self):
        return []

    def metadata(self):
        inputs = {name: TensorInfo("DT_STRING", (None,)) for name in self.inputs}
        return {name: Signature(inputs, {}) for name in ANSWERS}

    def close(self):
        pass


@pytest.mark.parametrize("name", ANSWERS)
def test_each_call_asks_its_signature_for_the_texts(name):
    client, texts = Canned(), ["a", b"\xff"]
    getattr(client, name)(texts)
    assert client.asked == [(name, {"text": texts})]


@pytest.mark.parametrize("name", ["classify", "regress"])
def test_classes_and_numbers_are_asked_for_whatever_the_model_reads(name):
    client = Canned("audio")
    getattr(client, name)([b"RIFF"])
    assert client.asked == [(name, {"audio": [b"RIFF"]})]


@pytest.mark.parametrize("name", ["classify", "regress"])
def test_a_signature_of_several_inputs_is_left_to_predict(name):
    client = Canned("text", "prefix")
    with pytest.raises(ServingError, match=r"one input of '\w+' to fill, got \['prefix', 'text'\]; predict"):
        getattr(client, name)(["a"])
    assert client.asked == []


def test_tags_without_what_fills_rows_up():
    """A score of 0 is a score; the tokens say where a row ends."""
    assert Canned().tag([]) == [
        Tagged(["ab", "c"], ["X", "O"], [0.5, 1.0]),
        Tagged(["d", "e", "f"], ["O", "O", "X"], [0.25, 0.0, 0.75]),
        Tagged([], [], []),
    ]


def test_a_class_with_all_probabilities():
    assert Canned().classify([]) == [Classified("good", 0.75, [0.25, 0.75]), Classified("", 0.0, [0.0, 0.0])]


def test_numbers():
    assert Canned().regress([]) == [1.5, -2.0]
