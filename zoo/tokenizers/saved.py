"""Reading a tokenizer back, whatever its kind."""

from pathlib import Path

from zoo.tokenizers.characters import Characters
from zoo.tokenizers.protocol import Tokenizer

__all__ = ["load_tokenizer"]

KINDS = (Characters,)


def load_tokenizer(folder: Path) -> Tokenizer:
    """Read the tokenizer that was saved into a folder.

    Raises:
        FileNotFoundError: no tokenizer was saved there.
    """
    for kind in KINDS:
        if (folder / kind.FILE).is_file():
            return kind.load(folder)
    expected = ", ".join(kind.FILE for kind in KINDS)
    raise FileNotFoundError(f"No tokenizer in {folder}: expected one of the files {expected}.")
