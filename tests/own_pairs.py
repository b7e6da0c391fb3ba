"""Pairs of one's own, and the command line to be tried on them."""

from typer.testing import CliRunner

from zoo import cli

LINES = [f"{a}{b} {c}\t{c} {b}{a}" for a in "abcd" for b in "efgh" for c in "ijkl"]
"""Letters and their exchange, as in a tab-separated file."""


def zoo(*arguments):
    return CliRunner().invoke(cli.app, [str(argument) for argument in arguments])
