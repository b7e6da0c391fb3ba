"""What was checked, and with what outcome."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

__all__ = ["Check", "Report", "Rule", "sentence_of"]

SHOWN = 5
"""How many complaints of one check are spelled out; the rest are counted."""


@dataclass(frozen=True)
class Check:
    """The outcome of one check.

    Attributes:
        name: what was checked, one or two words.
        ok: whether the export keeps the promise.
        detail: the promise that was kept; or else what was found, what was expected and what to do.
    """

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True)
class Report:
    """The outcome of all checks that could be made; a check that others stand on ends the list when it fails.

    Attributes:
        path: folder of the export.
        tensorflow: version that the checks ran under.
        checks: in the order in which they were made, never empty.
    """

    path: str
    tensorflow: str
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether the export may be served."""
        return all(check.ok for check in self.checks)

    @property
    def failures(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if not check.ok)

    def to_json(self) -> str:
        """One line of JSON, for `from_json`."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Report":
        """Read what `to_json` wrote."""
        content = json.loads(text)
        checks = tuple(Check(**check) for check in content["checks"])
        return cls(content["path"], content["tensorflow"], checks)

    def __str__(self) -> str:
        lines = [f"{'ok  ' if check.ok else 'FAIL'} {check.name}: {check.detail}" for check in self.checks]
        verdict = "may be served" if self.ok else "must not be served"
        return "\n".join([*lines, f"{self.path} {verdict} (checked under TensorFlow {self.tensorflow})"])


def sentence_of(error: Exception) -> str:
    """What an error says, with a full stop, for a remedy to follow."""
    return f"{type(error).__name__}: {str(error).rstrip().removesuffix('.')}."


class Rule(NamedTuple):
    """One promise of an export, and how to find what breaks it.

    Attributes:
        name: of the check.
        promise: said when nothing was found.
        remedy: said when something was found.
        find: gives a sentence for each breach; whatever it raises is a breach too.
    """

    name: str
    promise: str
    remedy: str
    find: Callable[[Any], Iterable[str]]

    def check(self, subject: Any) -> Check:
        """Apply the rule."""
        try:
            breaches = list(self.find(subject))
        except Exception as error:
            breaches = [sentence_of(error)]
        if not breaches:
            return Check(self.name, True, self.promise)
        more = [f"And {len(breaches) - SHOWN} more."] if len(breaches) > SHOWN else []
        return Check(self.name, False, " ".join([*breaches[:SHOWN], *more, self.remedy]))
