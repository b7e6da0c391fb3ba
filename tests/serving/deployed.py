"""The files of serving/ and the Dockerfile, read for the tests that check them."""

import json
import shlex
import sysconfig
from pathlib import Path

from zoo.serving import flags

ROOT = Path(__file__).parents[2]
SERVING = ROOT / "serving"


def stages():
    """The Dockerfile's stages: of each its instructions, each with what follows it, `FROM` first."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    found = []
    for line in lines:
        name, rest = line.split(maxsplit=1)
        if name == "FROM":
            found.append([])
        if found:
            found[-1].append((name, rest))
    return found


def only(instructions, name):
    """What follows the only instruction of that name."""
    (found,) = [rest for instruction, rest in instructions if instruction == name]
    return found


def copied(instructions):
    """Where things lie in the image, to where they lie here or in another stage."""
    return {
        target: sources
        for name, rest in instructions
        if name == "COPY"
        for *sources, target in [[word for word in shlex.split(rest) if not word.startswith("--from")]]
    }


def entry_point():
    """The command of the image, without the flags, and the flags."""
    whole = json.loads(only(stages()[-1], "ENTRYPOINT")) + json.loads(only(stages()[-1], "CMD"))
    return [word for word in whole if not word.startswith("--")], [
        word for word in whole if word.startswith("--")
    ]


def in_image(path):
    """The file here that lies at that path in the image."""
    assert path.startswith("/serving/")
    return SERVING / path.removeprefix("/serving/")


def read_flags(arguments):
    """The flags of a command line by name, all of which are TensorFlow Serving's, with values that fit.

    The server would pass over a misspelled one.
    """
    found = flags.read(arguments)
    assert found.unknown == []
    given = {argument.removeprefix("--").partition("=")[0]: argument for argument in arguments}
    own = {"host", "max_body_bytes", "max_request_rows", "max_text_bytes"}
    assert not given.keys() & own, "TensorFlow Serving has no such flag"
    return {name: argument.partition("=")[2] for name, argument in given.items()}


def require_files(given):
    """Files that flags name are copied into the image."""
    for name, value in given.items():
        if name.endswith("_file"):
            assert in_image(value).is_file(), value


def tool(name):
    """The program of a package of the test environment."""
    return Path(sysconfig.get_path("scripts")) / name
