"""Reading a tokenizer back, whatever its kind."""

from pathlib import Path

import zoo.tokenizers
from zoo.tokenizers.protocol import Tokenizer

__all__ = ["KINDS", "load_tokenizer"]

KINDS = {
    "characters.json": "Characters",
    "words.json": "Words",
    "subwords.json": "Subwords",
    "wordpieces.json": "WordPieces",
    "bytes.json": "Bytes",
}
"""The file of each tokenizer, and its name in `zoo.tokenizers`, which imports it when it is asked for."""


def load_tokenizer(folder: Path) -> Tokenizer:
    """Read the tokenizer that was saved into a folder.

    Raises:
        FileNotFoundError: no tokenizer was saved there.
        ValueError: more than one was, or its file is damaged.
    """
    found = [file for file in KINDS if (folder / file).is_file()]
    if not found:
        raise FileNotFoundError(f"No tokenizer in {folder}: expected one of the files {', '.join(KINDS)}.")
    if len(found) > 1:
        raise ValueError(f"{folder} holds {' and '.join(found)}, but one tokenizer is saved into a folder.")
    return getattr(zoo.tokenizers, KINDS[found[0]]).load(folder)
