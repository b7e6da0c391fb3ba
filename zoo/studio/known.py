"""What the page is told of the models in a folder: TensorFlow Serving lists no names and has no examples."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from zoo.serving.folders import find_models, find_versions

__all__ = ["EXAMPLES", "KnownModel", "known_models"]

_log = logging.getLogger(__name__)

EXAMPLES = 6
"""So many texts to try are offered, at most."""

_LONGEST_EXAMPLE = 160
_EXTRA = "assets.extra"


class KnownModel(NamedTuple):
    """A model as its highest version describes it; of what is no export of the zoo, its name alone.

    Attributes:
        name: that it is served under.
        description: one sentence.
        languages: of its texts.
        examples: texts to try.
        labels: of a classifier, in the order of its probabilities.
    """

    name: str
    description: str = ""
    languages: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


def known_models(folder: Path | None) -> list[KnownModel]:
    """The models below a folder, by name; none where there is no such folder."""
    return [_known(name, path) for name, path in find_models(folder).items()] if folder else []


def _known(name: str, base_path: Path) -> KnownModel:
    try:
        return _described(name, max(find_versions(base_path).items())[1] / _EXTRA)
    except (AttributeError, KeyError, OSError, TypeError, ValueError) as error:
        # What is half written, foreign or gone by now must not take the page away.
        _log.warning("%s is passed over: %r", base_path, error)
        return KnownModel(name)


def _described(name: str, extra: Path) -> KnownModel:
    card = _read_json(extra / "zoo.json", {"card": {}})["card"]
    labels = extra / "labels.txt"
    return KnownModel(
        name,
        description=card.get("description", ""),
        languages=tuple(card.get("languages", ())),
        examples=tuple(_examples(extra)),
        labels=tuple(labels.read_text(encoding="utf-8").splitlines()) if labels.is_file() else (),
    )


def _examples(extra: Path) -> Iterator[str]:
    """The golden questions that a reader would ask: no odd bytes or signs alone; those with letters first."""
    asked = (entry["inputs"].get("text") for entry in _read_json(extra / "golden.json", []))
    texts = dict.fromkeys(text for text in asked if isinstance(text, str))
    readable = [text for text in texts if len(text) <= _LONGEST_EXAMPLE and any(map(str.isalnum, text))]
    yield from sorted(readable, key=lambda text: not any(map(str.isalpha, text)))[:EXAMPLES]


def _read_json(path: Path, otherwise: Any) -> Any:
    return json.loads(path.read_bytes()) if path.is_file() else otherwise
