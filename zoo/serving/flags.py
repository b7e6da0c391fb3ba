"""Reads TensorFlow Serving's command line as its own parser does: `--name=value`, and `--name` for a bool.

What it does not know is handed back and harms nothing; a value that does not fit ends the reading.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, fields
from typing import Any, NamedTuple

from zoo.serving import messages
from zoo.serving.settings import Flags

__all__ = ["BadValueError", "CommandLine", "read", "usage"]

_WITHOUT_EFFECT: Mapping[str, str] = {
    "enable_per_model_batching_parameters": "bool",
    "enable_profiler": "bool",
    "enable_serialization_as_tensor_content": "bool",
    "enable_signature_method_name_check": "bool",
    "flush_filesystem_caches": "bool",
    "grpc_channel_arguments": "string",
    "grpc_socket_path": "string",
    "mixed_precision": "string",
    "num_tflite_interpreters_per_pool": "int32",
    "num_unload_threads": "int32",
    "per_process_gpu_memory_fraction": "float",
    "num_tflite_pools": "int32",
    "platform_config_file": "string",
    "prefer_tflite_model": "bool",
    "remove_unused_fields_from_bundle_metagraph": "bool",
    "saved_model_tags": "string",
    "skip_initialize_tpu": "bool",
    "tensorflow_inter_op_parallelism": "int64",
    "tensorflow_intra_op_parallelism": "int64",
    "tensorflow_session_config_file": "string",
    "tensorflow_session_parallelism": "int64",
    "thread_pool_factory_config_file": "string",
    "xla_cpu_compilation_enabled": "bool",
    "xla_gpu_compilation_enabled": "bool",
}
"""Flags of TensorFlow Serving that are read here and do nothing, which the log says of those that are given.
Most are for its session, threads, memory and files, and change no answer there either; `serving/README.md`
names those that show."""

_REFUSED: Mapping[str, str] = {"ssl_config_file": "string", "use_alts_credentials": "bool"}
"""Flags that must not be passed over: who asks for encryption must not be served without."""


class BadValueError(ValueError):
    """A flag has a value of the wrong kind."""


class CommandLine(NamedTuple):
    """What was read.

    Attributes:
        flags: the flags that are known, with defaults for those not given; of repeated ones the last counts.
        without_effect: the names of flags that were given and that this server has no use for.
        unknown: the arguments that are no flags of TensorFlow Serving, as they came.
    """

    flags: Flags
    without_effect: list[str]
    unknown: list[str]


def read(arguments: Sequence[str]) -> CommandLine:
    """Read a command line.

    Raises:
        BadValueError: a value does not fit its flag.
        RefusalError: UNIMPLEMENTED, a flag asks for encryption.
    """
    kinds = {flag.name: flag.metadata["kind"] for flag in fields(Flags)}
    given: dict[str, Any] = {}
    without_effect, unknown = [], []
    for argument in arguments:
        name, equals, text = argument.removeprefix("--").partition("=")
        kind = kinds.get(name) or _WITHOUT_EFFECT.get(name) or _REFUSED.get(name)
        if not argument.startswith("--") or kind is None or not (equals or kind == "bool"):
            unknown.append(argument)
            continue
        value = _value(name, kind, text if equals else "true")
        if name in kinds:
            given[name] = value
        elif name in _REFUSED and value:
            raise messages.REFUSED_FLAG(flag=name)
        else:
            without_effect.append(name)
    return CommandLine(Flags(**given), without_effect, unknown)


def usage(program: str) -> str:
    """All flags with their defaults, a line each."""
    return "".join([f"usage: {program}\nFlags:\n", *(_line(flag) for flag in fields(Flags))])


def _line(flag: Field) -> str:
    kind = flag.metadata["kind"]
    default = {"bool": str(flag.default).lower(), "string": f'"{flag.default}"'}.get(kind, flag.default)
    return f"\t{f'--{flag.name}={default}':<56}\t{kind}\t{flag.metadata['meaning']}\n"


def _value(name: str, kind: str, text: str) -> Any:
    pattern, read_value = _KINDS[kind]
    try:
        if re.fullmatch(pattern, text):
            return read_value(text)
    except OverflowError:
        pass
    raise BadValueError(f"Couldn't interpret value {text} for flag {name}.")


def _integer(bits: int) -> Callable[[str], int]:
    """Reads integers of so many bits; others raise OverflowError."""

    def read_integer(text: str) -> int:
        int(text).to_bytes(bits // 8, "little", signed=True)
        return int(text)

    return read_integer


_KINDS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "bool": ("true|false|1|0", lambda text: text in ("true", "1")),
    "int32": (r"[+-]?[0-9]{1,20}", _integer(32)),
    "int64": (r"[+-]?[0-9]{1,20}", _integer(64)),
    "float": (r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", float),
    "string": (r"(?s).*", str),
}
"""How a value of each kind looks, and how it is read."""
