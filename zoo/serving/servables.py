"""Which versions of which models are served: polls the base paths, swaps versions, counts who uses them.

A version passes through the states of TensorFlow Serving. A new version is loaded and warmed up before the
old one goes, so a request always finds one; a version that is broken is refused, logged, and looked at again
only when its folder changes, while the good one goes on serving.
"""

import contextlib
import logging
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from zoo.serving import messages, warmup
from zoo.serving.folders import BrokenVersionError, Fingerprint, find_versions, fingerprint
from zoo.serving.loader import Servable, load

__all__ = ["Policy", "Servables", "State", "VersionStatus"]

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


@dataclass
class _Loaded:
    """A servable with the number of those who hold it: the server itself and each request that uses it.

    Whoever lets it go last closes it.
    """

    servable: Servable
    holders: int = 1


class _Refusal(NamedTuple):
    """Why a version was refused, and with which content; None: its folder was being rewritten."""

    content: Fingerprint | None
    reason: str


@dataclass
class _Model:
    """A model, and what became of its versions by number."""

    base_path: Path
    policy: Policy
    statuses: dict[int, VersionStatus] = field(default_factory=dict)
    loaded: dict[int, _Loaded] = field(default_factory=dict)
    refused: dict[int, _Refusal] = field(default_factory=dict)
    base_path_missing: bool = False


class Servables:
    """The served models. `poll` brings them up to date with the disk; `acquire` lends a version to a request.

    Args:
        models: model name to base path, the folder that holds the version folders.
        policies: model name to policy; the latest version is served where none is given.
    """

    def __init__(self, models: Mapping[str, Path], *, policies: Mapping[str, Policy] | None = None) -> None:
        policies = policies or {}
        self._models = {
            name: _Model(Path(path), policies.get(name, Policy.latest())) for name, path in models.items()
        }
        self._changed = threading.Condition()
        self._polling = threading.Lock()

    def poll(self) -> None:
        """Load what is new, unload what is gone. Blocks while versions load; a bad one is no error."""
        with self._polling:
            for name, model in self._models.items():
                self._poll_model(name, model)

    @contextlib.contextmanager
    def acquire(self, name: str, version: int | None = None) -> Iterator[tuple[int, Servable]]:
        """Lend a version, the highest available one by default, and keep it from being unloaded meanwhile.

        Raises:
            RefusalError: NOT_FOUND, in TensorFlow Serving's words.
        """
        with self._changed:
            model = self._models.get(name)
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
            return {name: self._why_none(model) for name, model in self._models.items() if not model.loaded}

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

    def _poll_model(self, name: str, model: _Model) -> None:
        try:
            found = find_versions(model.base_path)
        except OSError as error:
            if not model.base_path_missing:
                _log.error("%s: cannot list its base path (%s); what is loaded stays", name, error)
            model.base_path_missing = True
            return
        model.base_path_missing = False
        candidates = model.policy.candidates(found)
        model.refused = {number: old for number, old in model.refused.items() if number in candidates}
        wanted: list[int] = []
        for number, path in candidates.items():
            if model.policy.count is not None and len(wanted) >= model.policy.count:
                break
            if number in model.loaded or self._load(name, model, number, path):
                wanted.append(number)
        if wanted or not candidates:
            # With broken candidates alone, what is loaded goes on serving.
            for number in [number for number in model.loaded if number not in wanted]:
                _log.info("%s: unloading version %d", name, number)
                self._retire(model, number)

    def _load(self, name: str, model: _Model, number: int, path: Path) -> bool:
        """Try to make a version available; True when it is."""
        content = fingerprint(path)
        former = model.refused.get(number)
        if former and content is not None and former.content == content:
            return False
        self._set_state(model, number, State.LOADING)
        try:
            servable = load(path)
            try:
                warmup.replay(servable)
            except BrokenVersionError:
                servable.close()
                raise
        except BrokenVersionError as error:
            if not former or former.reason != str(error):
                _log.error("%s: version %d refused: %s", name, number, error)
            model.refused[number] = _Refusal(content, str(error))
            self._set_state(model, number, State.END, "FAILED_PRECONDITION", str(error))
            return False
        model.refused.pop(number, None)
        with self._changed:
            model.loaded[number] = _Loaded(servable)
            self._set_state(model, number, State.AVAILABLE)
        _log.info("%s: version %d is available (%s)", name, number, path)
        return True

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
        if failures:
            return " ".join(failures)
        return (
            f"{model.base_path} has no version folder; expected {model.base_path}/1 with a SavedModel in it. "
            "Export a model there, or correct the path."
        )
