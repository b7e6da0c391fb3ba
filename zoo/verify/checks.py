"""All checks of an export, in order."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import tensorflow as tf

from zoo.text_operations import register_text_operations
from zoo.verify import answers, files, graph, paths, vocabularies, warmup
from zoo.verify.layout import Example, read_golden, read_manifest
from zoo.verify.report import Check, Report, Rule, sentence_of
from zoo.verify.servable import Loaded, load_both_ways

__all__ = ["check_export"]


class _Group(NamedTuple):
    """Checks that are made together."""

    checks: list[Check]
    needed: bool = True
    """Whether what comes after makes sense only where they hold."""


def check_export(path: Path) -> Report:
    """Check an export in this process; see `zoo.verify.verify`."""
    checks: list[Check] = []
    try:
        for group in _groups(path):
            checks += group.checks
            if group.needed and not all(check.ok for check in group.checks):
                break
    except Exception as error:  # a broken export must not look like broken checks
        checks.append(Check("checks", False, f"They ended with {sentence_of(error)} Export again."))
    return Report(str(path), tf.__version__, tuple(checks))


def _groups(path: Path) -> Iterator[_Group]:
    """Checks in groups, in order."""
    yield _Group([files.check_files(path)])
    # What was changed matters more than that it was: the checks below say what it does.
    yield _Group(_apply(files.CONTENTS, path), needed=False)

    check, written = _attempt(
        "reading", "manifest and graph can be read", "Export again.", lambda: _read(path)
    )
    yield _Group([check])
    yield _Group(_apply((*graph.RULES, *paths.RULES), written))
    # What is wrong with a list for people harms no answer.
    reviewed = vocabularies.Reviewed(path, written.meta_graph)
    yield _Group(_apply(vocabularies.RULES, reviewed), needed=False)

    check, loaded = _attempt(
        "loading",
        "TensorFlow loads it, by tf.saved_model.load and into a session",
        "If a package is missing, install it; otherwise export again.",
        lambda: _load(path, written),
    )
    if loaded is not None:
        seconds = "in {:.1f} s and {:.1f} s".format(*loaded.seconds)
        check = replace(check, detail=f"{check.detail}, {seconds}")
    yield _Group([check])

    check, golden = _attempt(
        "golden questions",
        "they can be read, with their answers",
        "Export again: it writes them.",
        lambda: read_golden(path, written.signatures),
    )
    yield _Group([check])

    check, served = _attempt(
        "asking",
        "all golden questions can be asked",
        "Let the exported functions take every text, and come to an end.",
        lambda: _ask(written, golden, loaded),
    )
    yield _Group([check])
    yield _Group(_apply(answers.RULES, served))
    name = written.manifest["card"]["name"]
    yield _Group(_apply(warmup.RULES, warmup.WarmUp(path, name, written.signatures, served.session)))


def _apply(rules: Iterable[Rule], subject: Any) -> list[Check]:
    return [rule.check(subject) for rule in rules]


def _attempt(name: str, promise: str, remedy: str, make: Callable[[], Any]) -> tuple[Check, Any]:
    """The check that `make` can give something, and what it gave."""
    try:
        return Check(name, True, promise), make()
    except Exception as error:
        return Check(name, False, f"{sentence_of(error)} {remedy}"), None


def _read(path: Path) -> graph.Written:
    return graph.Written(read_manifest(path), graph.read_meta_graph(path))


def _load(path: Path, written: graph.Written) -> Loaded:
    if graph.needs(written.meta_graph):
        register_text_operations()
    return load_both_ways(path)


def _ask(written: graph.Written, golden: list[Example], loaded: Loaded) -> answers.Served:
    # The session first: it gives up a question whose answer never ends.
    in_session = answers.ask_alone(loaded.session, golden)
    alone = answers.ask_alone(loaded.function, golden)
    return answers.Served(written.signatures, golden, loaded.function, loaded.session, alone, in_session)
