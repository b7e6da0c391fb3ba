"""The embedded server gives the answers that a real TensorFlow Serving gave to the same requests.

`rest_golden.json` holds them. What differs is listed in `differences.json` with its reason; a listed
case that agrees after all, or an unlisted one that does not, fails.
"""

import contextlib
import functools
import http.client
import json
import re
from pathlib import Path

import pytest
from golden_models import write
from golden_replay import ask, difference

from zoo.serving.configs import read_file
from zoo.serving.flags import read
from zoo.serving.server import Server

HERE = Path(__file__).parent
GOLDEN = json.loads((HERE / "rest_golden.json").read_text(encoding="utf-8"))
DIFFERENCES = json.loads((HERE / "differences.json").read_text(encoding="utf-8"))
LEFT_TO_THE_REAL_SERVER = re.compile(":(classify|regress)$")
SHARE = 0.95


def is_left(case):
    return LEFT_TO_THE_REAL_SERVER.search(case["path"]) is not None


ANSWERED = [case for case in GOLDEN["cases"] if not is_left(case)]
LEFT = [case for case in GOLDEN["cases"] if is_left(case)]


def parameters(cases):
    return pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in cases])


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("golden")
    write(folder)
    return folder


@pytest.fixture(scope="module")
def port_of(models):
    """The REST port for a setup; its server is started by the first case that asks, and runs to the end."""
    with contextlib.ExitStack() as servers:

        @functools.cache
        def start(setup):
            return servers.enter_context(server_of(setup, models)).rest_port

        yield start


def server_of(setup, models):
    """A server with the flags of a setup, for the models that its cases ask."""
    words = re.findall(r"--\S+", f"{GOLDEN['setups']['default']} {GOLDEN['setups'][setup]}")
    line = read([word.replace("FOLDER", str(models)).replace("PORT", "0") for word in words])
    assert (line.without_effect, line.unknown) == ([], [])
    configs = read_file(Path(line.flags.model_config_file))
    asked = {case["model"] for case in GOLDEN["cases"] if case["setup"] == setup}
    served = {name: config for name, config in configs.items() if name in asked}
    return Server(served, grpc_port=None, rest_port=0, settings=line.flags)


def what_differs(case, port):
    """The first difference, and the status of ours; None for a status where there was no answer."""
    try:
        answers = ask(case, port)
    except (OSError, http.client.HTTPException) as error:
        return f"no answer: {error!r}", None
    found = [problem for answer in answers if (problem := difference(case, answer))]
    return (found[0] if found else None), answers[0].status


@parameters([case for case in ANSWERED if case["id"] not in DIFFERENCES])
def test_the_answer_is_the_real_server_s(port_of, case):
    problem, _ = what_differs(case, port_of(case["setup"]))
    assert problem is None


@parameters([case for case in ANSWERED if case["id"] in DIFFERENCES])
def test_a_listed_difference_is_still_one(port_of, case):
    """Its status agrees nevertheless, unless the list says what ours is; some differ only sometimes."""
    problem, status = what_differs(case, port_of(case["setup"]))
    listed = DIFFERENCES[case["id"]]
    assert problem or listed.get("sometimes"), f"take {case['id']} out of differences.json: it agrees"
    assert not problem or status == listed.get("status", case["status"])


@parameters(LEFT)
def test_classify_and_regress_are_left_to_the_real_server(port_of, case):
    (answer,) = ask(case, port_of(case["setup"]))
    assert answer.status == 501
    assert "left to TensorFlow Serving" in json.loads(answer.body)["error"]


def test_nearly_all_answers_agree_and_what_differs_has_a_reason():
    known = {case["id"] for case in ANSWERED}
    assert DIFFERENCES.keys() <= known
    assert all(entry["reason"] for entry in DIFFERENCES.values())
    assert len(DIFFERENCES) <= (1 - SHARE) * len(ANSWERED)
