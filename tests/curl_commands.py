"""Commands for curl as documents show them, read and sent without curl: for the tests Python is enough."""

import json
import shlex
import urllib.request
from typing import Any, NamedTuple


class Command(NamedTuple):
    """What curl would send, and where to."""

    url: str
    body: str | None


def read(command: str | list[str]) -> Command:
    """A command as it is typed, or its words.

    Raises:
        ValueError: it is for another program, has an option that this does not know, or not one URL.
    """
    program, *words = shlex.split(command) if isinstance(command, str) else command
    if program != "curl":
        raise ValueError(f"Expected a command for curl, got one for {program}.")
    body = None
    urls = []
    rest = iter(words)
    for word in rest:
        if word == "-d":
            body = next(rest)
        elif word.startswith("http"):
            urls.append(word)
        elif word != "-s":
            raise ValueError(f"curl {word} is not known here; teach it to this function.")
    (url,) = urls
    return Command(url, body)


def send(url: str, body: str | None) -> Any:
    """The JSON that comes back; sent is the header that `curl -d` sends."""
    header = {"Content-Type": "application/x-www-form-urlencoded"}
    request = urllib.request.Request(url, body and body.encode(), header)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)
