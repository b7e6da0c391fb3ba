"""Searches that each request chooses: the signatures `generate` and `sample`."""

import numpy as np
import pytest
from predictor_cases import LENGTH, TEXTS, WIDTH, asking, assert_equal_rows, make_predictor

from zoo.decoders import Beam, Greedy


@pytest.fixture(scope="module")
def predictor():
    return make_predictor()


@pytest.fixture(scope="module")
def ask():
    return asking()


@pytest.fixture(scope="module")
def answers(ask):
    return {name: ask(name, TEXTS) for name in ("serving_default", "greedy", "beam")}


def test_neutral_knobs_ask_for_the_beam_of_the_export(ask, answers):
    found = ask("generate", TEXTS)
    for key, value in answers["beam"].items():
        if value.dtype == np.float32:
            np.testing.assert_allclose(found[key][:, :WIDTH], value, atol=1e-5)
        else:
            np.testing.assert_array_equal(found[key][:, :WIDTH], value)
    assert not found["text"][:, WIDTH:].any()
    np.testing.assert_array_equal(found["score"][:, WIDTH:], np.full((len(TEXTS), 8 - WIDTH), -1e9))


REQUESTS = [
    {},
    {"width": 1},
    {"width": 8, "length_penalty": 1.0},
    {"width": 99, "length_penalty": -2.0, "max_length": 3},
    {"min_length": 4},
    {"min_length": 99, "max_length": 2},
    {"prefix": "xy"},
    {"prefix": "zzzzzzzzzzzz", "width": 2},
    {"prefix": "x😀", "max_length": 99},
    {"width": -5, "min_length": -1, "max_length": -7},
    {"length_penalty": float("nan")},
    {"length_penalty": float("inf")},
    {"length_penalty": -1e30},
]


def test_requests_of_one_batch_ask_for_different_searches(ask, predictor):
    """Each answers as it would alone, and as a search of its own would."""
    neutral = predictor.signatures()["generate"].neutral
    knobs = {key: [request.get(key, value) for request in REQUESTS] for key, value in neutral.items()}
    together = ask("generate", ["abc"] * len(REQUESTS), **knobs)
    for row, request in enumerate(REQUESTS):
        alone = ask("generate", ["abc"], **{key: [value] for key, value in request.items()})
        assert_equal_rows(alone, 0, row, together)
    assert np.isfinite(together["ranked_score"]).all()
    one = predictor.answer(["abc"], Greedy())
    assert together["text"][1, 0] == one.text.numpy()[0, 0]
    own = predictor.answer(["abc"], Beam(8, 1.0))
    np.testing.assert_array_equal(together["text"][2], own.text.numpy()[0])
    assert together["length"][3].max() == 3
    assert (together["length"][4, :WIDTH] >= 4).all()
    assert together["length"][5, :WIDTH].tolist() == [2, 2, 2]
    assert all(text.startswith(b"xy") for text in together["text"][6, :WIDTH])
    assert together["text"][7].tolist() == [b"z" * LENGTH, *[b""] * 7]
    assert together["text"][8, 0].startswith("x\ufffd".encode())
    for row in (9, 10):
        assert_equal_rows(together, row, 0)


@pytest.mark.parametrize(("penalty", "nearest"), [(float("inf"), 10), (11, 10), (-1e30, -10), (-10.5, -10)])
def test_a_length_penalty_is_brought_to_between_minus_10_and_10(ask, penalty, nearest):
    beyond, at = (ask("generate", ["abc"], length_penalty=[value]) for value in (penalty, nearest))
    assert_equal_rows(beyond, 0, 0, at)
    inside = ask("generate", ["abc"], length_penalty=[0.9 * nearest])
    assert np.abs(inside["ranked_score"] - at["ranked_score"]).max() > 1e-3


def test_a_sample_is_what_its_seed_says(ask):
    texts = ["abc", "cab", "abc", "", "abc"]
    seeds = [3, 3, 4, 3, 3]
    found = ask("sample", texts, seed=seeds)
    for row, (text, seed) in enumerate(zip(texts, seeds, strict=True)):
        assert_equal_rows(ask("sample", [text], seed=[seed]), 0, row, found)
    assert_equal_rows(found, 4, 0)
    assert found["text"][3] == b""
    drawn = ask("sample", ["abc"] * 20, seed=list(range(20)))
    assert len(set(drawn["text"])) > 5
    scored = ask("score", ["abc"] * 20, drawn["text"])
    plain = [row for row, text in enumerate(drawn["text"]) if b"\xef\xbf\xbd" not in text]
    np.testing.assert_allclose(drawn["score"][plain], scored["score"][plain], atol=1e-5)


def test_knobs_of_sampling_without_sense_harm_nobody(ask, answers):
    wild = {
        "seed": [-(2**31), 2**31 - 1, 0, 0],
        "temperature": [float("nan"), float("inf"), 0.0, 1.0],
        "top_k": [-3, 2**31 - 1, 0, 1],
        "top_p": [float("nan"), 7.0, 1.0, -1.0],
    }
    found = ask("sample", ["abc"] * 4, **wild)
    assert np.isfinite(found["score"]).all()
    for row in (2, 3):  # cold, and the likeliest alone
        assert found["text"][row] == answers["greedy"]["text"][0]
