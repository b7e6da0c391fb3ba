"""Which versions of which models are served: polls the base paths, swaps versions, counts who uses them.

A version passes through the states of TensorFlow Serving. A new version is loaded and warmed up before the
old one goes, so a request always finds one; a version that is broken is refused, logged, and looked at again
only when its folder changes, while the good one goes on serving.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from zoo.serving import messages, warmup
from zoo.serving.configs import ModelConfig
from zoo.serving.folders import BrokenVersionError, Fingerprint, find_versions, fingerprint
from zoo.serving.loader import Runner, Servable, load
from zoo.serving.settings import Settings

__all__ = ["Servables", "State", "VersionStatus"]

_log = logging.getLogger(__name__)


class State(IntEnum):
    """Where a version stands in its life; names and numbers of `ModelVersionStatus.State`."""

    START = 10
    LOADING = 20
    AVAILABLE = 30
    UNLOADING = 40
    END = 50


class VersionStatus(NamedTuple):
    """What is known of a version: its state and, where it failed, a status code with the reason."""

    version: int
    state: State
    error_code: str = "OK"
    error_message: str = ""


@dataclass
class _Loaded:
    """A servable with the number of those who hold it: the server itself and each request that uses it.

    Whoever lets it go last closes it.
    """

    servable: Runner
    holders: int = 1


class _Refusal(NamedTuple):
    """Why a version was refused, and with which content; None: its folder was being rewritten.

    Attributes:
        tries: how often that content has been tried.
        last_try: when, on the clock of `time.monotonic`.
    """

    content: Fingerprint | None
    reason: str
    tries: int
    last_try: float


@dataclass
class _Model:
    """A model, and what became of its versions by number. Without a config it is served no more."""

    config: ModelConfig | None
    statuses: dict[int, VersionStatus] = field(default_factory=dict)
    loaded: dict[int, _Loaded] = field(default_factory=dict)
    refused: dict[int, _Refusal] = field(default_factory=dict)
    base_path_missing: bool = False


class Servables:
    """The served models. `poll` brings them up to date with the disk; `acquire` lends a version to a request.

    Args:
        models: model name to what is served of it.
        settings: how versions are loaded.
        wrap: makes what answers of what was loaded.
    """

    def __init__(
        self,
        models: Mapping[str, ModelConfig],
        *,
        settings: Settings = Settings(),  # noqa: B008 - frozen
        wrap: Callable[[Servable], Runner] = lambda servable: servable,
    ) -> None:
        self._settings = settings
        self._wrap = wrap
        self._models: dict[str, _Model] = {}
        self._changed = threading.Condition()
        self._polling = threading.Lock()
        self._configure(models)

    def poll(self) -> None:
        """Load what is new, unload what is gone. Blocks while versions load; a bad one is no error, and what
        goes wrong with one model is logged and keeps no other from being looked at."""
        with self._polling:
            self._poll()

    def replace(self, models: Mapping[str, ModelConfig]) -> None:
        """Serve these models in place of the ones before; returns when what is new is loaded.

        Raises:
            RefusalError: FAILED_PRECONDITION, a label is to name a version that is not loaded, and nothing
                has changed; UNKNOWN, a new model has no version that can be served.
        """
        with self._polling:
            new = [name for name in models if not self._is_configured(name)]
            self._configure(models)
            self._poll()
        missing = {name: reason for name, reason in self.unavailable().items() if name in new}
        if missing:
            listed = " ".join(f"{{{{name: {name}}} due to error: {why}}}," for name, why in missing.items())
            raise messages.MODELS_NOT_AVAILABLE(count=len(missing), models=listed)

    @contextlib.contextmanager
    def acquire(
        self, name: str, version: int | None = None, label: str | None = None
    ) -> Iterator[tuple[int, Runner]]:
        """Lend a version, the highest available one by default, and keep it from being unloaded meanwhile.

        Args:
            version: the version's number.
            label: names the version instead.

        Raises:
            RefusalError: NOT_FOUND, or INVALID_ARGUMENT for the label; in TensorFlow Serving's words.
        """
        with self._changed:
            model = self._models.get(name)
            if label is not None:
                version = self._version_of(model, label)
            available = model.loaded if model else {}
            number = max(available, default=None) if version is None else version
            if model is None or number not in available:
                request = f"Latest({name})" if version is None else f"Specific({name}, {version})"
                raise messages.UNKNOWN_SERVABLE(request=request)
            loaded = available[number]
            loaded.holders += 1
        try:
            yield number, loaded.servable
        finally:
            self._release(model, number, loaded)

    def status(self, name: str, version: int | None = None) -> list[VersionStatus]:
        """The versions seen so far, or one of them, highest first.

        Raises:
            RefusalError: NOT_FOUND, in TensorFlow Serving's words.
        """
        with self._changed:
            known = dict(self._models[name].statuses) if name in self._models else {}
        if version is not None and version not in known:
            raise messages.UNKNOWN_VERSION_STATUS(version=version, name=name)
        if not known:
            raise messages.UNKNOWN_MODEL_STATUS(name=name)
        numbers = sorted(known, reverse=True) if version is None else [version]
        return [known[number] for number in numbers]

    def unavailable(self) -> dict[str, str]:
        """The models that have no version to answer with, each with the reason and what to do."""
        with self._changed:
            return {
                name: self._why_none(model)
                for name, model in self._models.items()
                if model.config and not model.loaded
            }

    def close(self, *, timeout: float = 60.0) -> None:
        """Unload everything once its requests are answered; those that take longer are cancelled.

        Args:
            timeout: seconds to wait for the requests in progress.
        """
        with self._polling, self._changed:
            held = [loaded for model in self._models.values() for loaded in model.loaded.values()]
            for model in self._models.values():
                for number in list(model.loaded):
                    self._retire(model, number)
            self._changed.wait_for(lambda: not any(loaded.holders for loaded in held), timeout)
        for loaded in held:
            if loaded.holders:
                loaded.servable.close()

    def _is_configured(self, name: str) -> bool:
        return name in self._models and self._models[name].config is not None

    def _configure(self, models: Mapping[str, ModelConfig]) -> None:
        """Take over what is to be served, after its labels were checked; nothing is loaded yet."""
        with self._changed:
            for name, config in models.items():
                self._check_labels(name, config)
            for name, model in self._models.items():
                model.config = models.get(name)
            for name in models.keys() - self._models.keys():
                self._models[name] = _Model(models[name])

    def _check_labels(self, name: str, config: ModelConfig) -> None:
        """A label must name a loaded version; a new one need not, if that is allowed."""
        model = self._models.get(name) or _Model(None)
        before = model.config.labels if model.config else {}
        for label, version in config.labels.items():
            stays = before.get(label) == version
            is_allowed = self._settings.allow_version_labels_for_unavailable_models and label not in before
            if not (stays or is_allowed or version in model.loaded):
                raise messages.LABEL_OF_UNAVAILABLE(version=version, name=name)

    @staticmethod
    def _version_of(model: _Model | None, label: str) -> int:
        labels = model.config.labels if model and model.config else {}
        if label not in labels:
            raise messages.UNKNOWN_LABEL(label=label)
        return labels[label]

    def _poll(self) -> None:
        for name, model in self._models.items():
            try:
                self._poll_model(name, model)
            except Exception:
                _log.exception("%s: looking for its versions failed; what is loaded stays", name)

    def _poll_model(self, name: str, model: _Model) -> None:
        config = model.config
        if not config:
            self._keep(name, model, [])
            return
        try:
            found = find_versions(config.base_path)
        except (OSError, ValueError) as error:
            # Python itself refuses a path that cannot be one with a ValueError.
            if not model.base_path_missing:
                _log.error("%s: cannot list its base path (%s); what is loaded stays", name, error)
            model.base_path_missing = True
            return
        model.base_path_missing = False
        candidates = config.policy.candidates(found)
        model.refused = {number: old for number, old in model.refused.items() if number in candidates}
        wanted: list[int] = []
        for number, path in candidates.items():
            if config.policy.count is not None and len(wanted) >= config.policy.count:
                break
            held = model.loaded.get(number)
            if (held and held.servable.path == path) or self._load(name, model, number, path):
                wanted.append(number)
        if wanted or not candidates:
            # With broken candidates alone, what is loaded goes on serving.
            self._keep(name, model, wanted)

    def _keep(self, name: str, model: _Model, wanted: list[int]) -> None:
        """Unload the versions that are not wanted."""
        for number in [number for number in model.loaded if number not in wanted]:
            _log.info("%s: unloading version %d", name, number)
            self._retire(model, number)

    def _load(self, name: str, model: _Model, number: int, path: Path) -> bool:
        """Try to make a version available; True when it is."""
        content = fingerprint(path)
        former = model.refused.get(number)
        is_same = bool(former and content is not None and former.content == content)
        if former and is_same and not self._is_due(former):
            return False
        self._set_state(model, number, State.LOADING)
        try:
            servable = self._open(path)
        except BrokenVersionError as error:
            if not former or former.reason != str(error):
                _log.error("%s: version %d refused: %s", name, number, error)
            tries = former.tries + 1 if former and is_same else 1
            model.refused[number] = _Refusal(content, str(error), tries, time.monotonic())
            self._set_state(model, number, State.END, error.code, str(error))
            return False
        model.refused.pop(number, None)
        with self._changed:
            replaced = model.loaded.get(number)
            model.loaded[number] = _Loaded(servable)
            self._set_state(model, number, State.AVAILABLE)
        if replaced:
            self._release(model, number, replaced)
        _log.info("%s: version %d is available (%s)", name, number, path)
        return True

    def _is_due(self, refusal: _Refusal) -> bool:
        """Whether a version is to be tried again although its folder is as it was."""
        waited = (time.monotonic() - refusal.last_try) * 1e6
        is_over = refusal.tries > self._settings.max_num_load_retries
        return not is_over and waited >= self._settings.load_retry_interval_micros

    def _open(self, path: Path) -> Runner:
        """A version that is loaded and warmed up."""
        servable = self._wrap(load(path))
        try:
            if self._settings.enable_model_warmup:
                warmup.replay(servable, times=max(1, self._settings.num_request_iterations_for_warmup))
        except BrokenVersionError:
            servable.close()
            raise
        return servable

    def _retire(self, model: _Model, number: int) -> None:
        """Take a version from the new requests; it closes when the last of the old ones is answered."""
        with self._changed:
            loaded = model.loaded.pop(number)
            self._set_state(model, number, State.UNLOADING)
        self._release(model, number, loaded)

    def _release(self, model: _Model, number: int, loaded: _Loaded) -> None:
        with self._changed:
            loaded.holders -= 1
            if loaded.holders:
                return
        loaded.servable.close()
        with self._changed:
            # The folder may have come back meanwhile, and been loaded again.
            if number not in model.loaded:
                self._set_state(model, number, State.END)

    def _set_state(
        self, model: _Model, number: int, state: State, error_code: str = "OK", error_message: str = ""
    ) -> None:
        with self._changed:
            model.statuses[number] = VersionStatus(number, state, error_code, error_message)
            self._changed.notify_all()

    @staticmethod
    def _why_none(model: _Model) -> str:
        failures = [status.error_message for status in model.statuses.values() if status.error_message]
        if failures or not model.config:
            return " ".join(failures)
        path = model.config.base_path
        return (
            f"{path} has no version folder; expected {path}/1 with a SavedModel in it. "
            "Export a model there, or correct the path."
        )
