import pytest

from zoo.serving.flags import BadValueError, read, usage
from zoo.serving.messages import RefusalError
from zoo.serving.settings import Flags

OF_THE_REAL_SERVER = [
    "--port=8500",
    "--grpc_socket_path=/tmp/grpc.sock",
    "--rest_api_port=8501",
    "--rest_api_num_threads=16",
    "--rest_api_timeout_in_ms=30000",
    "--rest_api_enable_cors_support=false",
    "--grpc_max_threads=16",
    "--grpc_channel_arguments=grpc.max_connection_age_ms=5",
    "--enable_grpc_healthcheck_service=false",
    "--enable_serialization_as_tensor_content=false",
    "--use_alts_credentials=false",
    "--ssl_config_file=",
    "--model_name=default",
    "--model_base_path=/models/m",
    "--model_config_file=",
    "--model_config_file_poll_wait_seconds=0",
    "--saved_model_tags=serve,gpu",
    "--prefer_tflite_model=false",
    "--num_tflite_pools=1",
    "--num_tflite_interpreters_per_pool=1",
    "--enable_signature_method_name_check=false",
    "--allow_version_labels_for_unavailable_models=false",
    "--remove_unused_fields_from_bundle_metagraph=true",
    "--platform_config_file=/platform.config",
    "--file_system_poll_wait_seconds=1",
    "--num_load_threads=0",
    "--num_unload_threads=0",
    "--max_num_load_retries=5",
    "--load_retry_interval_micros=60000000",
    "--flush_filesystem_caches=true",
    "--enable_batching=false",
    "--batching_parameters_file=",
    "--enable_per_model_batching_parameters=false",
    "--enable_model_warmup=true",
    "--num_request_iterations_for_warmup=0",
    "--monitoring_config_file=",
    "--enable_profiler=true",
    "--tensorflow_session_parallelism=0",
    "--tensorflow_intra_op_parallelism=0",
    "--tensorflow_inter_op_parallelism=0",
    "--tensorflow_session_config_file=/session.config",
    "--per_process_gpu_memory_fraction=0",
    "--mixed_precision=bfloat16",
    "--xla_cpu_compilation_enabled=false",
    "--xla_gpu_compilation_enabled=false",
    "--thread_pool_factory_config_file=/threads.config",
    "--skip_initialize_tpu=false",
    "--version=false",
]
"""Every flag of TensorFlow Serving 2.20, as its main.cc lists them, with a value of its kind."""


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


@pytest.mark.parametrize("argument", OF_THE_REAL_SERVER)
def test_every_flag_of_the_real_server_is_known_and_has_an_effect_or_is_named(argument):
    name = argument.removeprefix("--").partition("=")[0]
    line = read([argument])
    assert line.unknown == []
    assert line.without_effect == ([] if hasattr(line.flags, name) else [name])


@pytest.mark.parametrize(
    "switch", ["prefer_tflite_model", "xla_cpu_compilation_enabled", "xla_gpu_compilation_enabled"]
)
def test_a_switch_without_effect_needs_no_value_and_takes_no_other_than_true_and_false(switch):
    assert read([f"--{switch}"]).without_effect == [switch]
    with pytest.raises(BadValueError):
        read([f"--{switch}=auto"])


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
