"""Files of corpora that Python packages bring along: read from the package, which is never imported."""

import os
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

from zoo.data.download import FOLDER, checked, stored

__all__ = ["PackagedFile", "read"]


class PackagedFile(NamedTuple):
    """A file that a package installs."""

    package: str
    """As the package index names it."""
    version: str
    """The one whose file has the checksum."""
    path: str
    """Below the folder into which packages are installed."""
    sha256: str
    """Of what it holds."""
    install: str
    """The command that installs the package."""


def read(corpus: str, file: PackagedFile) -> bytes:
    """What a file holds.

    It is read from the folder that the environment variable `ZOO_DATA` names, below the name of the corpus
    and without the package's folders, if it is there, packed with gzip or not; or else from the package.

    Args:
        corpus: name of the corpus' folder below `ZOO_DATA`.
        file: which file.

    Raises:
        FileNotFoundError: it is in neither; the message says how to install the package.
        ValueError: it does not hold what it should.
    """
    found = _in_folder(corpus, file) or _in_package(file)
    if found is None:
        name = Path(file.path).name
        raise FileNotFoundError(
            f"The corpus {corpus} comes with the package {file.package}, which is not installed. Install it: "
            f"{file.install}; or set {FOLDER} to a folder with {corpus}/{name} in it."
        )
    return checked(
        found.read_bytes(), file.sha256, f"{found}", f"install {file.package} {file.version}: {file.install}"
    )


def _in_folder(corpus: str, file: PackagedFile) -> Path | None:
    folder = os.environ.get(FOLDER)
    return stored(Path(folder) / corpus / Path(file.path).name) if folder else None


def _in_package(file: PackagedFile) -> Path | None:
    try:
        return stored(Path(str(distribution(file.package).locate_file(file.path))))
    except PackageNotFoundError:
        return None
