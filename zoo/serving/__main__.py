"""`python -m zoo.serving`: the embedded server under TensorFlow Serving's command line.

    python -m zoo.serving --rest_api_port=8501 --model_name=dates --model_base_path=/models/dates

`zoo serve FOLDER` is the shorter way; it also chooses between this server and TensorFlow Serving itself.
"""

import logging
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from zoo.serving import configs, messages
from zoo.serving.configs import ModelConfig
from zoo.serving.flags import BadValueError, read, usage
from zoo.serving.messages import RefusalError
from zoo.serving.server import Server
from zoo.serving.settings import Flags

_log = logging.getLogger("zoo.serving")
_PROGRAM = "python -m zoo.serving"
_FAILED = 255


def main(arguments: Sequence[str]) -> int:
    """Serve until SIGINT or SIGTERM; returns the exit status."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    if "--help" in arguments:
        print(usage(_PROGRAM), end="")
        return 0
    try:
        flags, without_effect, unknown = read(arguments)
    except BadValueError as error:
        print(error, file=sys.stderr)
        print(usage(_PROGRAM), end="")
        return _FAILED
    except RefusalError as error:
        return _failed(error)
    if flags.version:
        print(f"TensorFlow ModelServer: seq2seq-zoo {version('seq2seq-zoo')}, embedded")
        print(f"TensorFlow Library: {version('tensorflow')}")
        return 0
    if unknown:
        print(f"unknown argument: {unknown[0]}\n{usage(_PROGRAM)}", end="", flush=True)
    for name in without_effect:
        _log.warning("--%s has no effect here", name)
    return _serve(flags)


def _serve(flags: Flags) -> int:
    told = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: told.set())
    try:
        models = _models(flags)
        ports = {"grpc_port": flags.port or None, "rest_port": flags.rest_api_port or None}
        with Server(models, host=flags.host, **ports, settings=flags) as server:
            if flags.port:
                print(f"Running gRPC ModelServer at {server.grpc_target} ...", flush=True)
            if flags.rest_api_port:
                print(f"Exporting HTTP/REST API at: {server.rest_url} ...", flush=True)
            _reread_until(told, server, flags)
    except (RefusalError, ValueError, OSError) as error:
        return _failed(error)
    return 0


def _reread_until(told: threading.Event, server: Server, flags: Flags) -> None:
    """Wait; meanwhile take over what the config file says, as often as the flags want it."""
    seconds = flags.model_config_file_poll_wait_seconds
    pause = seconds if flags.model_config_file and seconds > 0 else None
    while not told.wait(pause):
        try:
            server.servables.replace(configs.read_file(Path(flags.model_config_file)))
        except (RefusalError, OSError) as error:
            _log.error("the config file is not taken over, or not all of it: %s", error)


def _failed(error: Exception) -> int:
    print(f"Failed to start server. Error: {error}", flush=True)
    return _FAILED


def _models(flags: Flags) -> Mapping[str, ModelConfig]:
    if flags.model_config_file:
        return configs.read_file(Path(flags.model_config_file))
    if not flags.model_base_path:
        raise messages.NO_MODELS()
    return configs.of_model(flags.model_name, flags.model_base_path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
