"""The four ids that every vocabulary of the zoo begins with."""

__all__ = ["END", "PAD", "SPECIALS", "START", "UNKNOWN"]

PAD = 0
"""Fills a row up to the length of its batch; carries no weight and is never generated."""

START = 1
"""What a decoder reads before its first token; never generated."""

END = 2
"""Closes a sequence; the last token that a decoder generates."""

UNKNOWN = 3
"""Stands for whatever the vocabulary lacks."""

SPECIALS = ("", "<s>", "</s>", "<unk>")
"""How the four are written where tokens are shown to people."""
