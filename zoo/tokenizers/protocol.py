"""What a tokenizer is."""

from pathlib import Path
from typing import Any, Protocol, runtime_checkable

__all__ = ["Tokenizer"]


@runtime_checkable
class Tokenizer(Protocol):
    """Texts to ids and back, in the graph, so that one object feeds `tf.data`, `fit` and exports.

    Ids below 4 are those of `zoo.tokenizers.specials`. Neither START nor END is added by a tokenizer: the
    pipeline and the predictor do that. A text is read as a `zoo.tokenizers.Normalization` says, and one in
    which nothing is unknown comes back as it was read. Invalid UTF-8 is read as U+FFFD; an empty text has no
    ids.
    """

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four special ones counted."""
        ...

    def encode(self, texts: Any) -> Any:
        """Texts (B,) strings to ids, ragged (B, None) int32."""
        ...

    def decode(self, ids: Any) -> Any:
        """Ids (N, T) int32 to texts (N,), valid UTF-8: up to the first END, special ids left out."""
        ...

    def tokens(self, ids: Any) -> Any:
        """Ids of any shape to what each token is called, of the same shape; PAD is the empty string."""
        ...

    def describe(self) -> str:
        """The vocabulary as text that people can review."""
        ...

    def save(self, folder: Path) -> None:
        """Write what `describe` gives into a folder."""
        ...

    @classmethod
    def load(cls, folder: Path) -> "Tokenizer":
        """Read what `save` wrote."""
        ...
