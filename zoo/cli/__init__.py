"""The command line `zoo`: one short function for each verb. `zoo VERB --help` explains."""

from zoo.cli.program import app, main

__all__ = ["app", "main"]
