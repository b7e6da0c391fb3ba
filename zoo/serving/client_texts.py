"""Texts on their way to a server; standard library only.

A text is a `str`, or `bytes` for what need not be UTF-8. Where an operating system hands over bytes that are
not UTF-8, in arguments or names of files, Python keeps them in a `str` as lone surrogates
(`surrogateescape`): they go out as the bytes they were, over REST and gRPC alike, and a model of the zoo
reads U+FFFD for each. Any other lone surrogate stands for nothing, and is refused.
"""

from collections.abc import Sequence
from typing import Any

from zoo.serving.answers import ServingError
from zoo.serving.client_target import is_unicode

__all__ = ["is_list", "named", "readable", "to_bytes"]


def to_bytes(text: str | bytes) -> bytes:
    """The bytes of a text.

    Raises:
        ServingError: INVALID_ARGUMENT, it holds a surrogate that stands for no byte.
    """
    if isinstance(text, bytes):
        return text
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise ServingError(
            "INVALID_ARGUMENT",
            f"{text[:100]!a} is no Unicode text: character {error.start} is half of a surrogate pair.",
        ) from error


def readable(text: str | bytes) -> str:
    """A text as a model reads it, and as it can be shown: what is not UTF-8 is U+FFFD.

    Raises:
        ServingError: INVALID_ARGUMENT, it holds a surrogate that stands for no byte.
    """
    return to_bytes(text).decode("utf-8", "replace")


def named(name: str) -> str:
    """A name, which is Unicode throughout.

    Raises:
        ServingError: INVALID_ARGUMENT, it is not.
    """
    if not is_unicode(name):
        raise ServingError("INVALID_ARGUMENT", f"the name {name!a} is no Unicode text.")
    return name


def is_list(value: Any) -> bool:
    """Whether a value holds rows or entries, and is not itself one."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
