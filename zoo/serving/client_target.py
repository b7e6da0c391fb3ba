"""Whom a client asks, and for how long: what is checked when it is made; standard library only."""

from urllib.parse import SplitResult, urlsplit

__all__ = ["check_asked", "check_target", "is_unicode", "read_url"]

LONGEST_TIMEOUT = 31_536_000
"""Seconds in a year; sockets and gRPC's deadlines take no number without bounds."""

VERSIONS = 2**63
"""Versions on the wire are below this."""


def check_asked(model: str, version: int | None, label: str | None, timeout: float) -> None:
    """Raise ValueError where a client could ask nobody, or the two protocols would ask somebody else."""
    if version is not None and label is not None:
        raise ValueError(f"Ask for a version or for a label, got version {version} and label {label!r}.")
    if not _is_name(model) or not (label is None or _is_name(label)):
        raise ValueError(
            f"Expected names in Unicode, not empty, got model {model!a} and label {label!a}."
            " None stands for no label."
        )
    # type(), since True and False are instances of int
    if version is not None and not (type(version) is int and 0 <= version < VERSIONS):
        raise ValueError(f"Expected a version such as 3, or None for the latest, got {version!r}.")
    if not (isinstance(timeout, int | float) and 0 < timeout <= LONGEST_TIMEOUT):
        raise ValueError(
            f"Expected a timeout of seconds, more than 0 and {LONGEST_TIMEOUT} at most, got {timeout!r}."
        )


def check_target(target: str) -> None:
    """Raise ValueError where a target is none that gRPC could look up."""
    if not isinstance(target, str) or not target.strip() or target.startswith(("http://", "https://")):
        raise ValueError(f"expected a host and a port such as 127.0.0.1:8500, got {target!r}")


def read_url(url: str) -> SplitResult:
    """The parts of the URL of a server.

    Raises:
        ValueError: it is none, or has more than a scheme, a host, a port and a path.
    """
    try:
        address = urlsplit(url)
        whole = address.scheme in ("http", "https") and address.hostname and address.port != 0
    except (AttributeError, TypeError, ValueError):  # such as a port that is no number
        whole = False
    if not whole or address.query or address.fragment or any(char <= " " for char in url):
        raise ValueError(f"expected a URL such as http://127.0.0.1:8501, got {url!r}")
    return address


def is_unicode(text: str) -> bool:
    """Whether a string holds no lone surrogates."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_name(name: str) -> bool:
    return isinstance(name, str) and name != "" and is_unicode(name)
