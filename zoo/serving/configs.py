"""Which models a server is to serve: by name a base path, a policy for its versions, labels for some of them.

TensorFlow Serving's `ModelServerConfig` says it, in a file or in a `HandleReloadConfigRequest`:

    model_config_list { config { name: "dates" base_path: "/models/dates" model_platform: "tensorflow" } }
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from google.protobuf import text_format
from tensorflow_serving.config.model_server_config_pb2 import ModelConfig as ModelConfigProto
from tensorflow_serving.config.model_server_config_pb2 import ModelServerConfig

from zoo.serving import messages
from zoo.serving.folders import BrokenVersionError, check, find_versions
from zoo.serving.versions import labels

__all__ = ["ModelConfig", "Policy", "model_config", "of_folder", "of_model", "read_file", "read_list"]

_log = logging.getLogger(__name__)
_PLATFORM = "tensorflow"


@dataclass(frozen=True)
class Policy:
    """Which of a model's versions are served: the `count` highest good ones of `versions`; None means all.

    A broken version is passed over for the next lower one.
    """

    count: int | None = 1
    versions: frozenset[int] | None = None

    @classmethod
    def latest(cls, count: int = 1) -> "Policy":
        """The highest `count` versions."""
        return cls(count=count)

    @classmethod
    def all(cls) -> "Policy":
        """Every version."""
        return cls(count=None)

    @classmethod
    def specific(cls, *versions: int) -> "Policy":
        """The versions named, those that exist."""
        return cls(count=None, versions=frozenset(versions))

    def candidates(self, found: Mapping[int, Path]) -> dict[int, Path]:
        """The versions that may be served, highest first."""
        return {
            number: path for number, path in found.items() if self.versions is None or number in self.versions
        }


@dataclass(frozen=True)
class ModelConfig:
    """How one model is served.

    Attributes:
        base_path: the folder that holds the version folders.
        policy: the versions to serve.
        labels: label to version number; requests may name the label instead of the number.
    """

    base_path: Path
    policy: Policy = Policy()
    labels: Mapping[str, int] = field(default_factory=dict)


def of_model(name: str, base_path: str) -> dict[str, ModelConfig]:
    """The config of a single model, as the flags `--model_name` and `--model_base_path` give it.

    Raises:
        RefusalError: INVALID_ARGUMENT, the path is relative.
    """
    config = ModelServerConfig()
    config.model_config_list.config.add(name=name, base_path=base_path, model_platform=_PLATFORM)
    return read_list(config)


def model_config(models: Mapping[str, Path], *, at: Path | None = None) -> str:
    """TensorFlow Serving's `model_config_file` for the models, checked version by version, as text.

    TensorFlow Serving would load a half-written version and unload the good one for it. Where one is found,
    the highest good version is named, and where versions have labels, those are named too; elsewhere the
    latest is served, so that new ones are picked up.

    Args:
        models: model name to base path.
        at: where the server sees the models, such as `/models` in a container; None: where they are.

    Raises:
        ValueError: a model has no good version, or a label for a version that is not there or not good.
    """
    return text_format.MessageToString(_checked(models, at))


def of_folder(name: str, base_path: Path) -> ModelConfig:
    """How the embedded server serves a model's folder: it checks versions itself, at every poll.

    Raises:
        ValueError: see `model_config`, of models whose versions have labels.
    """
    if not labels(base_path):
        return ModelConfig(base_path)
    return read_list(_checked({name: base_path}))[name]


def read_file(path: Path) -> dict[str, ModelConfig]:
    """The models of a file that holds a `ModelServerConfig` as text; none where it is empty.

    Raises:
        RefusalError: INVALID_ARGUMENT, it is not such a file, or asks for what cannot be.
        OSError: it cannot be read.
    """
    try:
        config = text_format.Parse(path.read_bytes(), ModelServerConfig())
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise messages.BAD_CONFIG_FILE(path=path, problem=error) from error
    return read_list(config) if config.WhichOneof("config") else {}


def read_list(config: ModelServerConfig) -> dict[str, ModelConfig]:
    """The models of a config, by name.

    Raises:
        RefusalError: INVALID_ARGUMENT, in TensorFlow Serving's words, naming the model at fault.
    """
    if config.WhichOneof("config") != "model_config_list":
        raise messages.NOT_A_CONFIG_LIST()
    models: dict[str, ModelConfig] = {}
    for entry in config.model_config_list.config:
        _check(entry)
        if entry.name in models:
            raise messages.MODEL_TWICE(name=entry.name)
        policy = _policy(entry)
        models[entry.name] = ModelConfig(Path(entry.base_path), policy, dict(entry.version_labels))
    return models


def _checked(models: Mapping[str, Path], at: Path | None = None) -> ModelServerConfig:
    """What `model_config` writes."""
    config = ModelServerConfig()
    for name, base_path in models.items():
        entry = config.model_config_list.config.add(name=name, model_platform=_PLATFORM)
        entry.base_path = str(at / name if at else base_path)
        best, is_latest = _best_version(name, base_path)
        named = _labelled(name, base_path)
        if named or not is_latest:
            entry.model_version_policy.specific.versions.extend(sorted({best, *named.values()}))
        entry.version_labels.update(named)
    return config


def _best_version(name: str, base_path: Path) -> tuple[int, bool]:
    """The highest good version, and whether it is the highest of all."""
    reasons = []
    for number, path in find_versions(base_path).items():
        try:
            check(path)
        except BrokenVersionError as error:
            _log.error("%s: version %d refused: %s", name, number, error)
            reasons.append(str(error))
        else:
            return number, not reasons
    raise ValueError(f"model {name!r} has no version that can be served: {' '.join(reasons)}")


def _labelled(name: str, base_path: Path) -> dict[str, int]:
    """The labels of a model's versions, all of which must be good."""
    named, found = labels(base_path), find_versions(base_path)
    for label, number in named.items():
        if number not in found:
            raise ValueError(
                f"model {name!r} has no version {number}, which is labelled {label}. "
                f"Give the label to another: zoo label {base_path} {label} VERSION"
            )
        check(found[number])
    return named


def _check(entry: ModelConfigProto) -> None:
    if not entry.name:
        raise messages.MODEL_WITHOUT_NAME(path=entry.base_path)
    if not Path(entry.base_path).is_absolute():
        raise messages.RELATIVE_BASE_PATH(name=entry.name, path=entry.base_path)
    if "\0" in entry.base_path:
        raise messages.NUL_IN_BASE_PATH(name=entry.name, path=entry.base_path)
    if not entry.model_platform and not entry.model_type:
        raise messages.NO_PLATFORM(name=entry.name)
    if entry.model_platform not in ("", _PLATFORM):
        raise messages.UNKNOWN_PLATFORM(name=entry.name, platform=entry.model_platform)


def _policy(entry: ModelConfigProto) -> Policy:
    wanted = entry.model_version_policy
    chosen = wanted.WhichOneof("policy_choice") or "latest"
    return {
        "latest": Policy.latest(wanted.latest.num_versions or 1),
        "all": Policy.all(),
        "specific": Policy.specific(*wanted.specific.versions),
    }[chosen]
