"""Models that are no exports of the zoo: the embedded server serves them, both clients ask them."""

import http.client
import json

import numpy as np
import pytest
from foreign_models import FOREIGN, example

from zoo.serving.client import GrpcClient, RestClient, ServingError
from zoo.serving.folders import check
from zoo.serving.server import Server
from zoo.verify import verify, verify_in_fresh_process


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Version folders, by name of the model."""
    folder = tmp_path_factory.mktemp("foreign")
    return {name: write(folder / name / "1") for name, write in FOREIGN.items()}


@pytest.fixture(scope="module")
def foreign(folders):
    models = {name: path.parent for name, path in folders.items()}
    with Server(models, grpc_port=0, rest_port=0) as running:
        yield running


@pytest.fixture(params=["rest", "grpc"])
def connect(request, foreign):
    kind, place = {"rest": (RestClient, foreign.rest_url), "grpc": (GrpcClient, foreign.grpc_target)}[
        request.param
    ]
    return lambda model: kind(place, model=model)


@pytest.mark.parametrize("model", ["session", "module"])
def test_half_plus_two(connect, model):
    with connect(model) as client:
        client.wait_until_available(5)
        assert client.predict({"x": [[1.0], [2.0], [5.0]]}) == {"y": [[2.5], [3.0], [4.5]]}
        assert client.predict({"x": np.array([[-4.0]], np.float32)}) == {"y": [[0.0]]}
        assert client.predict({"x": np.zeros([0, 1])}) == {"y": []}


@pytest.mark.parametrize(
    ("signature", "output"), [("regress_x_to_y", "outputs"), ("classify_x_to_y", "scores")]
)
def test_signatures_over_serialised_examples_can_be_asked_by_predict(connect, signature, output):
    with connect("session") as client:
        found = client.predict({"inputs": [example(x=1.0), example(x=-4.0)]}, signature=signature)
        assert found == {output: [[2.5], [0.0]]}
        with pytest.raises(ServingError) as caught:
            client.predict({"inputs": [b"no example"]}, signature=signature)
        assert caught.value.code == "INVALID_ARGUMENT"


def test_a_dense_model_of_keras(connect):
    with connect("dense") as client:
        ((inputs, outputs),) = [
            entry for name, entry in client.metadata().items() if name == "serving_default"
        ]
        ((name, given),) = inputs.items()
        assert given.shape == (None, 3)
        found = client.predict({name: np.array([[1.0, 0.0, 0.0], [1.0, 2.0, 3.0]])})
        assert list(found) == list(outputs)
        np.testing.assert_allclose(next(iter(found.values())), [[1.0, 1.0], [9.0, 19.0]])


def test_a_model_of_keras_with_texts(connect):
    with connect("words") as client:
        ((name, _),) = client.metadata()["serving_default"].inputs.items()
        for words in ([["a b"], ["b c a a"], [""]], np.array([["a b"], ["b c a a"], [""]], object)):
            assert list(client.predict({name: words}).values()) == [[[2, 3, 0], [3, 1, 2], [0, 0, 0]]]


@pytest.mark.parametrize(
    ("model", "document", "expected"),
    [
        ("session", {"instances": [{"x": [1.0]}, {"x": [2.0]}]}, {"predictions": [[2.5], [3.0]]}),
        ("session", {"instances": [[1.0], [2.0]]}, {"predictions": [[2.5], [3.0]]}),
        ("module", {"inputs": [[1.0]]}, {"outputs": [[2.5]]}),
        ("dense", {"instances": [[1.0, 2.0, 3.0]]}, {"predictions": [[9.0, 19.0]]}),
        ("words", {"instances": [["a b"]]}, {"predictions": [[2, 3, 0]]}),
    ],
)
def test_the_forms_of_rest(foreign, model, document, expected):
    connection = http.client.HTTPConnection("127.0.0.1", foreign.rest_port, timeout=20)
    connection.request("POST", f"/v1/models/{model}:predict", json.dumps(document))
    assert json.load(connection.getresponse()) == expected
    connection.close()


@pytest.mark.parametrize("verb", ["classify", "regress"])
def test_classify_and_regress_are_not_implemented(foreign, verb):
    connection = http.client.HTTPConnection("127.0.0.1", foreign.rest_port, timeout=20)
    body = json.dumps({"signature_name": f"{verb}_x_to_y", "examples": [{"x": 1.0}]})
    connection.request("POST", f"/v1/models/session:{verb}", body)
    assert connection.getresponse().status == 501
    connection.close()


@pytest.mark.parametrize("model", FOREIGN)
def test_their_folders_are_whole(folders, model):
    assert "serving_default" in check(folders[model]).signature_def


@pytest.mark.parametrize("model", FOREIGN)
def test_verification_says_that_nobody_knows_what_they_should_answer(folders, model):
    report = verify(folders[model])
    assert [check.name for check in report.failures] == ["files"]
    for said in ("SavedModel without the file assets.extra/zoo.json", "not written by the zoo", "zoo export"):
        assert said in report.failures[0].detail


def test_in_a_fresh_process_it_says_the_same(folders):
    report = verify_in_fresh_process(folders["session"])
    assert report.failures == verify(folders["session"]).failures
