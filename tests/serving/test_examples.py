"""The shell examples: what they hand to curl and grpcurl is sent as those would, and answered."""

import argparse
import base64
import json
import os
import subprocess
from urllib.parse import urlsplit

import grpc
import pytest
from deployed import SERVING
from google.protobuf import json_format
from tensorflow_serving.apis import get_model_status_pb2, predict_pb2

TEXTS = [b"ab", "é 'x' \"y\"\n\\ $HOME".encode(), b"a\xff", b""]
READ = ["AB", "é 'X' \"Y\"\n\\ $HOME", "A\ufffd", ""]


@pytest.fixture
def handed(tmp_path):
    """Run an example; returns what it handed to curl or grpcurl, stand-ins for which keep it."""
    kept = tmp_path / "arguments"
    for program in ("curl", "grpcurl"):
        path = tmp_path / program
        path.write_text(f"#!/bin/sh\nprintf '%s\\0' {program} \"$@\" >{kept}\n")
        path.chmod(0o755)

    def run(example, *texts, **variables):
        environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"} | variables
        command = ["sh", SERVING / "examples" / example, *texts]
        subprocess.run(command, env=environment, check=True, timeout=30)
        return kept.read_text(encoding="utf-8").split("\0")[:-1]

    return run


def read_curl(arguments):
    """What curl would do; an option that is not known here is an error."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("program", choices=["curl"])
    for switch in ("--silent", "--show-error", "--fail-with-body", "--retry-connrefused"):
        parser.add_argument(switch, action="store_true")
    for number in ("--max-time", "--retry"):
        parser.add_argument(number, type=float)
    parser.add_argument("-d", "--data")
    parser.add_argument("url")
    return parser.parse_args(arguments)


def read_grpcurl(arguments):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("program", choices=["grpcurl"])
    parser.add_argument("-plaintext", action="store_true", required=True)
    parser.add_argument("-max-time", type=float)
    parser.add_argument("-d")
    parser.add_argument("target")
    parser.add_argument("method")
    return parser.parse_args(arguments)


@pytest.fixture
def curl(handed, ask, server):
    def run(example, *texts, **variables):
        found = read_curl(handed(example, *texts, **variables))
        assert found.url.startswith("http://127.0.0.1:8501/")
        assert found.silent
        assert found.fail_with_body
        assert found.max_time
        method = "GET" if found.data is None else "POST"
        return ask(method, urlsplit(found.url).path, found.data and found.data.encode())

    return run


def test_ask(curl):
    answer = curl("ask.sh", *TEXTS, MODEL="toy")
    # This model, unlike the zoo's, gives back what is not UTF-8.
    assert json.loads(answer.raw.decode("utf-8", "replace")) == {"predictions": READ}


def test_ask_another_signature(curl):
    answer = curl("ask.sh", b"ab", b"c", MODEL="toy", SIGNATURE="greedy")
    assert [row["text"] for row in answer.json["predictions"]] == ["AB", "C"]


def test_status(curl):
    (version,) = curl("status.sh", MODEL="toy").json["model_version_status"]
    assert (version["version"], version["state"]) == ("7", "AVAILABLE")


def test_metadata(curl):
    signatures = curl("metadata.sh", MODEL="toy").json["metadata"]["signature_def"]["signature_def"]
    assert "beam" in signatures


def test_another_server(handed):
    assert (
        read_curl(handed("status.sh", URL="http://models:8501")).url == "http://models:8501/v1/models/dates"
    )
    assert read_grpcurl(handed("status_grpc.sh", TARGET="models:8500")).target == "models:8500"


@pytest.fixture
def grpcurl(handed, server):
    def run(example, request, response, *texts, **variables):
        found = read_grpcurl(handed(example, *texts, **variables))
        assert found.target == "127.0.0.1:8500"
        assert found.max_time
        sent = json_format.Parse(found.d, request())
        with grpc.insecure_channel(server.grpc_target) as channel:
            method = channel.unary_unary(f"/{found.method}", request.SerializeToString, response.FromString)
            return json_format.MessageToDict(method(sent, timeout=20), preserving_proto_field_name=True)

    return run


@pytest.mark.parametrize("signature", ["serving_default", "greedy"])
def test_ask_over_grpc(grpcurl, signature):
    variables = {"MODEL": "toy", "SIGNATURE": signature}
    messages = (predict_pb2.PredictRequest, predict_pb2.PredictResponse)
    text = grpcurl("ask_grpc.sh", *messages, *TEXTS, **variables)["outputs"]["text"]
    assert [base64.b64decode(value).decode("utf-8", "replace") for value in text["string_val"]] == READ


def test_status_over_grpc(grpcurl):
    messages = (get_model_status_pb2.GetModelStatusRequest, get_model_status_pb2.GetModelStatusResponse)
    (version,) = grpcurl("status_grpc.sh", *messages, MODEL="toy")["model_version_status"]
    assert (version["version"], version["state"]) == ("7", "AVAILABLE")
