"""Files of public corpora: from a folder, from the cache, or from their address, and checked always."""

import gzip
import hashlib
import os
import urllib.request
import zlib
from http.client import HTTPException
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple

__all__ = ["CACHE", "FOLDER", "File", "cache_folder", "checked", "read", "stored"]

FOLDER = "ZOO_DATA"
"""Environment variable that names a folder with the files, `CORPUS/FILE` below it."""

CACHE = "XDG_CACHE_HOME"
"""Environment variable that names where a user's caches are; `~/.cache` if it is not set."""

TIMEOUT = 30
"""Seconds without an answer after which a download fails."""


class File(NamedTuple):
    """A file of a corpus; it may be stored as it is, or by gzip with `.gz` after its name."""

    name: str
    """Below the folder of its corpus, without `.gz`."""
    address: str
    """Where anybody can download it, as it is or by gzip."""
    sha256: str
    """Of what it holds when it is unpacked."""


def read(corpus: str, file: File) -> bytes:
    """What a file holds, unpacked.

    It is read from the folder that the environment variable `ZOO_DATA` names, if it is set; or else from the
    cache, into which it is downloaded first if it is not there. A download is written whole or not at all.

    Args:
        corpus: name of the corpus' folder.
        file: which file.

    Raises:
        FileNotFoundError: `ZOO_DATA` is set, and the file is not there.
        OSError: it could not be downloaded.
        ValueError: it does not hold what it should.
    """
    if os.environ.get(FOLDER):
        path = stored(Path(os.environ[FOLDER]) / corpus / file.name)
        if path is None:
            raise FileNotFoundError(
                f"{FOLDER} is {os.environ[FOLDER]}, but there is neither {corpus}/{file.name} nor that with "
                f".gz in it. Put there what {file.address} gives, or unset {FOLDER} to have it downloaded."
            )
        return _checked(path, file)
    place = cache_folder() / corpus / file.name
    path = stored(place)
    if path is not None:
        return _checked(path, file)
    content = _download(corpus, file)
    unpacked = checked(content, file.sha256, file.address, f"get it anew from {file.address}")
    _write(place.with_name(place.name + ".gz" if _is_gzip(content) else place.name), content)
    return unpacked


def cache_folder() -> Path:
    """Where downloads are kept."""
    return Path(os.environ.get(CACHE) or Path.home() / ".cache") / "seq2seq-zoo"


def stored(path: Path) -> Path | None:
    """Where a file is, as it is or by gzip; None: nowhere."""
    candidates = (path, path.with_name(f"{path.name}.gz"))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _is_gzip(content: bytes) -> bool:
    return content.startswith(b"\x1f\x8b")


def _checked(path: Path, file: File) -> bytes:
    return checked(path.read_bytes(), file.sha256, f"{path}", f"get it anew from {file.address}")


def checked(content: bytes, sha256: str, origin: str, remedy: str) -> bytes:
    """What a file holds, unpacked if it is packed by gzip.

    Args:
        content: of the file.
        sha256: of what it holds when it is unpacked.
        origin: where it is from, for the error.
        remedy: what to do if it holds something else, for the error.

    Raises:
        ValueError: it does not hold what it should.
    """
    try:
        unpacked = gzip.decompress(content) if _is_gzip(content) else content
        found = hashlib.sha256(unpacked).hexdigest()
    except (OSError, EOFError, zlib.error) as error:
        found = f"none, as it cannot be unpacked ({error})"
        unpacked = b""
    if found != sha256:
        raise ValueError(
            f"{origin} must hold what has the SHA-256 {sha256}, got {found}. It was cut short or has "
            f"changed: delete it, if it is yours, and {remedy}."
        )
    return unpacked


def _download(corpus: str, file: File) -> bytes:
    from rich.console import Console
    from rich.progress import wrap_file

    try:
        with urllib.request.urlopen(file.address, timeout=TIMEOUT) as response:
            total = int(response.headers.get("Content-Length") or 0)
            shown, name = Console(stderr=True), f"{corpus}/{file.name}"
            with wrap_file(response, total, description=name, console=shown, transient=True) as stream:
                return stream.read()
    except (OSError, HTTPException) as error:  # urllib's own errors are OSErrors
        raise OSError(
            f"Could not download {file.address}: {error}. Try again; or get the file in another way, put it "
            f"into FOLDER/{corpus}/ and set {FOLDER}=FOLDER."
        ) from error


def _write(path: Path, content: bytes) -> None:
    """Beside, then renamed: nobody ever reads half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as beside:
        try:
            beside.write(content)
            beside.close()
            os.replace(beside.name, path)
        except BaseException:
            os.unlink(beside.name)
            raise
