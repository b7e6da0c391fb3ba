"""Whom clients can be made to ask, and what they take for texts; no server is asked."""

import pytest

from zoo.serving.client import GrpcClient, RestClient, ServingError, Signature, TensorInfo
from zoo.serving.client_target import LONGEST_TIMEOUT

CLIENTS = (RestClient, GrpcClient)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"model": ""}, "Expected names in Unicode, not empty, got model ''"),
        ({"model": None}, "got model None"),
        ({"model": "m", "label": ""}, "label ''"),
        ({"model": "m", "version": "1"}, "Expected a version such as 3, .* got '1'"),
        ({"model": "m", "version": -1}, "got -1"),
        ({"model": "m", "version": True}, "got True"),
        ({"model": "m", "version": 2**63}, f"got {2**63}"),
        ({"model": "m", "version": 1, "label": "stable"}, "a version or for a label"),
        ({"model": "m", "timeout": 0}, "timeout of seconds, more than 0 .* got 0"),
        ({"model": "m", "timeout": None}, "got None"),
        ({"model": "m", "timeout": "3"}, "got '3'"),
        ({"model": "m", "timeout": float("nan")}, "got nan"),
        ({"model": "m", "timeout": LONGEST_TIMEOUT + 1}, "at most"),
    ],
)
def test_both_clients_refuse_the_same(client, asked, told):
    with pytest.raises(ValueError, match=told):
        client(**asked)


@pytest.mark.parametrize(
    "url",
    [
        *("", "localhost:8501", "ftp://models", "http://", "http://models:99999", "http://models:port"),
        *("http://mo dels", "http://models\n", "http://models?a=b", "http://models#top", "http://[::1", None),
    ],
)
def test_a_url_that_is_none(url):
    with pytest.raises(ValueError, match=r"expected a URL such as http://127\.0\.0\.1:8501, got"):
        RestClient(url, model="m")


@pytest.mark.parametrize("url", ["http://[::1]:8501", "https://models/behind/a/proxy/", "http://models"])
def test_a_url_that_is_one(url):
    assert RestClient(url, model="m").url == url.rstrip("/")


@pytest.mark.parametrize("target", ["", " ", "http://127.0.0.1:8500", "https://models:8500", None])
def test_a_target_that_is_none(target):
    with pytest.raises(ValueError, match=r"expected a host and a port such as 127\.0\.0\.1:8500, got"):
        GrpcClient(target, model="m")


class Recorder(RestClient):
    """Keeps what it would have asked a model of texts."""

    def metadata(self):
        text = {"text": TensorInfo("DT_STRING", (None,))}
        return {name: Signature(text, {}) for name in ("classify", "regress")}

    def predict(self, inputs, *, signature="serving_default"):
        self.asked = inputs
        raise ServingError("UNAVAILABLE", "nobody was asked.")


CALLS = (
    "answer",
    "greedy",
    "beam",
    "generate",
    "sample",
    "align",
    "tag",
    "tag_values",
    "classify",
    "regress",
)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("texts", ["one text", b"one text", None, 3])
def test_one_text_is_no_list_of_texts(call, texts):
    """It would be taken for its characters, or come back without its row."""
    with pytest.raises(ValueError, match=r"Give a list of texts, such as \['one text'\], got"):
        getattr(Recorder(model="m"), call)(texts)


def test_texts_and_targets_are_lists():
    with pytest.raises(ValueError, match="got 'abc'"):
        Recorder(model="m").score(["a", "b", "c"], "abc")


@pytest.mark.parametrize("call", CALLS)
def test_texts_come_from_whatever_can_be_listed(call):
    client = Recorder(model="m")
    with pytest.raises(ServingError, match="nobody"):
        getattr(client, call)(text for text in ("a", b"b"))
    assert client.asked["text"] == ["a", b"b"]


@pytest.mark.parametrize("rows", [{"a"}, [object()], (row for row in "ab")])
def test_what_json_cannot_say_is_refused_before_it_is_sent(rows, monkeypatch):
    client = RestClient(model="m")
    monkeypatch.setattr(client, "_signature", lambda name: type("Signature", (), {"outputs": {"text": None}}))
    with pytest.raises(ServingError, match="the inputs cannot be written as JSON") as caught:
        client.predict({"text": rows})
    assert caught.value.code == "INVALID_ARGUMENT"
