import pytest

from zoo.serving.flags import BadValueError, read, usage
from zoo.serving.messages import RefusalError
from zoo.serving.settings import Flags


def test_without_arguments_the_defaults_are_those_of_the_real_server():
    flags = read([]).flags
    assert flags == Flags()
    assert (flags.port, flags.rest_api_port) == (8500, 0)
    assert (flags.model_name, flags.model_base_path, flags.model_config_file) == ("default", "", "")
    assert (flags.file_system_poll_wait_seconds, flags.model_config_file_poll_wait_seconds) == (1, 0)
    assert (flags.max_num_load_retries, flags.load_retry_interval_micros) == (5, 60_000_000)
    assert flags.rest_api_timeout_in_ms == 30_000
    assert flags.enable_model_warmup
    assert not flags.enable_batching
    assert not flags.rest_api_enable_cors_support
    assert not flags.enable_grpc_healthcheck_service
    assert not flags.allow_version_labels_for_unavailable_models


@pytest.mark.parametrize(
    ("argument", "name", "value"),
    [
        ("--port=9000", "port", 9000),
        ("--port=-1", "port", -1),
        ("--load_retry_interval_micros=3000000000", "load_retry_interval_micros", 3_000_000_000),
        ("--model_base_path=/a=b c", "model_base_path", "/a=b c"),
        ("--model_name=", "model_name", ""),
        ("--enable_batching", "enable_batching", True),
        ("--enable_batching=true", "enable_batching", True),
        ("--enable_batching=1", "enable_batching", True),
        ("--enable_model_warmup=false", "enable_model_warmup", False),
        ("--enable_model_warmup=0", "enable_model_warmup", False),
        ("--num_load_threads=4", "num_load_threads", 4),
    ],
)
def test_a_value(argument, name, value):
    line = read([argument])
    assert getattr(line.flags, name) == value
    assert not line.unknown


def test_of_repeated_flags_the_last_counts():
    assert read(["--port=1", "--port=2"]).flags.port == 2


@pytest.mark.parametrize(
    "argument", ["--port=x", "--port=", "--port=1.5", "--port=3000000000", "--enable_batching=yes"]
)
def test_a_bad_value(argument):
    name, _, value = argument.removeprefix("--").partition("=")
    with pytest.raises(BadValueError, match=f"Couldn't interpret value {value} for flag {name}"):
        read([argument])


@pytest.mark.parametrize("argument", ["--nonsense=1", "--nonsense", "port=1", "-port=1", "--port", "folder"])
def test_what_is_unknown_is_handed_back_and_harms_nothing(argument):
    line = read([argument, "--rest_api_port=5"])
    assert line.unknown == [argument]
    assert line.flags == Flags(rest_api_port=5)


def test_flags_without_effect_are_accepted_and_named():
    line = read(["--tensorflow_session_parallelism=4", "--flush_filesystem_caches=false"])
    assert line == (Flags(), ["tensorflow_session_parallelism", "flush_filesystem_caches"], [])
    with pytest.raises(BadValueError):
        read(["--tensorflow_session_parallelism=many"])


def test_who_asks_for_encryption_is_not_served_without():
    with pytest.raises(RefusalError, match=r"UNIMPLEMENTED: .*--ssl_config_file"):
        read(["--ssl_config_file=ssl.config"])
    assert read(["--use_alts_credentials=false"]).flags == Flags()


def test_the_usage_has_a_line_for_each_flag_with_its_default():
    lines = usage("serve").splitlines()
    assert lines[:2] == ["usage: serve", "Flags:"]
    assert any(line.startswith("\t--port=8500 ") for line in lines)
    assert any(line.startswith('\t--model_name="default"') for line in lines)
    assert any(line.startswith("\t--enable_batching=false") for line in lines)
