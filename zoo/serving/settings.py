"""Everything about a server that its command line sets: flags of TensorFlow Serving, with its defaults."""

import os
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Flags", "Settings"]

_THREADS = 4 * (os.cpu_count() or 1)


def _flag(kind: str, default: Any, meaning: str) -> Any:
    return field(default=default, metadata={"kind": kind, "meaning": meaning})


@dataclass(frozen=True)
class Settings:
    """How a server serves, wherever it listens and whichever models it has. Each field is a flag."""

    file_system_poll_wait_seconds: float = _flag(
        "int32", 1, "Seconds between looks at the base paths for new and removed versions; 0: only one look."
    )
    max_num_load_retries: int = _flag(
        "int32", 5, "How often a version that failed to load is tried again while its folder stays as it is."
    )
    load_retry_interval_micros: int = _flag("int64", 60_000_000, "Microseconds between two such tries.")
    allow_version_labels_for_unavailable_models: bool = _flag(
        "bool", False, "Accept labels of versions that are not loaded (yet), as a start-up config needs it."
    )
    enable_model_warmup: bool = _flag("bool", True, "Replay the warm-up requests that a version has.")
    num_request_iterations_for_warmup: int = _flag(
        "int32", 0, "How often each warm-up request is replayed; 0: once."
    )
    enable_batching: bool = _flag("bool", False, "Run the rows of concurrent requests together.")
    batching_parameters_file: str = _flag("string", "", "File with a BatchingParameters text proto.")
    monitoring_config_file: str = _flag(
        "string", "", "File with a MonitoringConfig text proto; it can open a page for Prometheus."
    )
    rest_api_timeout_in_ms: int = _flag("int32", 30_000, "Milliseconds that a REST prediction may take.")
    rest_api_enable_cors_support: bool = _flag("bool", False, "Let web pages of any origin ask.")
    rest_api_num_threads: int = _flag("int32", _THREADS, "REST requests worked on at a time.")
    grpc_max_threads: int = _flag("int32", _THREADS, "gRPC calls worked on at a time.")
    enable_grpc_healthcheck_service: bool = _flag("bool", False, "Answer grpc.health.v1.Health too.")
    max_body_bytes: int = _flag(
        "int64",
        16 * 1024 * 1024,
        "The largest REST body, inflated, and the largest gRPC message. TensorFlow Serving has no such flag.",
    )
    max_request_rows: int = _flag(
        "int32", 1000, "The most rows of a request. TensorFlow Serving has no such flag."
    )
    max_text_bytes: int = _flag(
        "int64", 1024 * 1024, "The longest text of a request. TensorFlow Serving has no such flag."
    )


@dataclass(frozen=True)
class Flags(Settings):
    """The whole command line: where to listen and which models to serve as well."""

    port: int = _flag("int32", 8500, "Port of gRPC; 0: none.")
    rest_api_port: int = _flag("int32", 0, "Port of REST; 0: none.")
    host: str = _flag(
        "string",
        "127.0.0.1",
        "Address to listen on, 0.0.0.0 for all. TensorFlow Serving listens on all and has no such flag.",
    )
    model_config_file: str = _flag(
        "string",
        "",
        "File with a ModelServerConfig text proto; --model_name and --model_base_path then rest.",
    )
    model_config_file_poll_wait_seconds: float = _flag(
        "int32", 0, "Seconds between readings of the config file; 0: it is read once."
    )
    model_name: str = _flag("string", "default", "Name of the only model.")
    model_base_path: str = _flag("string", "", "Absolute path of its folder, which holds version folders.")
    num_load_threads: int = _flag("int32", 0, "Accepted; versions are loaded one after another here.")
    version: bool = _flag("bool", False, "Tell the version and end.")
