"""What an audit of masks found."""

from dataclasses import dataclass
from io import StringIO

from rich.console import Console
from rich.markup import escape
from rich.table import Table

__all__ = ["MaskingCheck", "MaskingLeak", "MaskingReport"]

WIDTH = 130
"""Columns of the table as text."""


@dataclass(frozen=True)
class MaskingLeak:
    """The first place where something passes that should not.

    Attributes:
        layer: its path, such as `decoder/additive_attention`: names of layers, each inside the one before it.
            `loss` where the loss alone leaks.
        kind: name of its class.
        difference: the greatest, between numbers that had to be equal; of gradients that had to be zero.
        detail: what was done to the inputs, and what is known of the place.
    """

    layer: str
    kind: str
    difference: float
    detail: str

    def __str__(self) -> str:
        return f"leaks at {self.layer} ({self.kind})"


@dataclass(frozen=True)
class MaskingCheck:
    """The outcome of one check: passed, a leak, or not made.

    Attributes:
        name: what a good model does, such as `padding ignored`.
        leak: None where there is none.
        not_checked: why the check, or a part of it, was not made; empty when all of it was.
        difference: the greatest that was seen in the outputs and let pass, that is rounding; None when
            nothing was compared.
    """

    name: str
    leak: MaskingLeak | None = None
    not_checked: str = ""
    difference: float | None = None

    @property
    def passed(self) -> bool:
        """Whether something was compared, and found equal."""
        return self.leak is None and self.difference is not None

    @property
    def outcome(self) -> str:
        """`passed`, `not checked`, or `leaks at LAYER PATH (CLASS)`."""
        if self.leak is not None:
            return str(self.leak)
        return "passed" if self.passed else "not checked"


@dataclass(frozen=True)
class MaskingReport:
    """The outcome of all checks; `print` shows it as a table.

    Attributes:
        model: its name.
        checks: in the order in which they were made.
    """

    model: str
    checks: tuple[MaskingCheck, ...]

    @property
    def ok(self) -> bool:
        """Whether no check found a leak."""
        return not self.leaks

    @property
    def leaks(self) -> dict[str, MaskingLeak]:
        """Every leak, by the name of the check that found it."""
        return {check.name: check.leak for check in self.checks if check.leak is not None}

    def __getitem__(self, name: str) -> MaskingCheck:
        """A check by its name."""
        return {check.name: check for check in self.checks}[name]

    def table(self) -> Table:
        """A row for each check."""
        table = Table("check", "outcome", "max difference", "detail", title=f"Masks of {escape(self.model)}")
        for check in self.checks:
            colour = "red" if check.leak else "green" if check.passed else "yellow"
            difference = check.leak.difference if check.leak else check.difference
            table.add_row(
                check.name,
                f"[{colour}]{escape(check.outcome)}[/]",
                "" if difference is None else f"{difference:.2g}",
                escape(check.leak.detail if check.leak else check.not_checked),
            )
        return table

    def __rich__(self) -> Table:
        return self.table()

    def __str__(self) -> str:
        text = StringIO()
        Console(file=text, width=WIDTH, color_system=None).print(self.table())
        return text.getvalue().rstrip("\n")
