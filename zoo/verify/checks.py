"""All checks of an export, in order."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import tensorflow as tf

from zoo.text_operations import register_text_operations
from zoo.verify import answers, files, graph, warmup
from zoo.verify.layout import MANIFEST, read_golden
from zoo.verify.report import Check, Report, Rule
from zoo.verify.servable import Ask, ask_loaded, ask_session

__all__ = ["check_export"]


def check_export(path: Path) -> Report:
    """Check an export in this process; see `zoo.verify.verify`."""
    checks: list[Check] = []
    for group in _groups(path):
        checks += group
        if not all(check.ok for check in group):
            break
    return Report(str(path), tf.__version__, tuple(checks))


def _groups(path: Path) -> Iterator[list[Check]]:
    """Checks in groups: each makes sense only where all groups before it hold."""
    yield _apply(files.RULES, path)

    check, written = _attempt(
        "reading", "manifest and graph can be read", "Export again.", lambda: _read(path)
    )
    yield [check]
    yield _apply(graph.RULES, written)

    check, ways = _attempt(
        "loading",
        "TensorFlow loads it, by tf.saved_model.load and into a session",
        "If a package is missing, install it; otherwise export again.",
        lambda: _load(path, written),
    )
    yield [check]

    check, served = _attempt(
        "asking",
        "all golden questions can be asked",
        "Let the exported functions take every text.",
        lambda: _ask(path, written, ways),
    )
    yield [check]
    yield _apply(answers.RULES, served)
    name = written.manifest["card"]["name"]
    yield _apply(warmup.RULES, warmup.WarmUp(path, name, written.signatures, served.session))


def _apply(rules: Iterable[Rule], subject: Any) -> list[Check]:
    return [rule.check(subject) for rule in rules]


def _attempt(name: str, promise: str, remedy: str, make: Callable[[], Any]) -> tuple[Check, Any]:
    """The check that `make` can give something, and what it gave."""
    try:
        return Check(name, True, promise), make()
    except Exception as error:
        return Check(name, False, f"{type(error).__name__}: {error} {remedy}"), None


def _read(path: Path) -> graph.Written:
    manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    return graph.Written(manifest, graph.read_meta_graph(path))


def _load(path: Path, written: graph.Written) -> tuple[Ask, Ask]:
    known = graph.known_operations()
    if any(known[name] == graph.TEXT_OPERATIONS for name in graph.operations(written.meta_graph)):
        register_text_operations()
    return ask_loaded(path), ask_session(path)


def _ask(path: Path, written: graph.Written, ways: tuple[Ask, Ask]) -> answers.Served:
    loaded, session = ways
    golden = read_golden(path, written.signatures)
    return answers.Served(written.signatures, golden, loaded, session, answers.ask_alone(loaded, golden))
