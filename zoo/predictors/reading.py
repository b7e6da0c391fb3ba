"""What predictors have in common whose answer is read off the source, rather than searched for."""

from typing import Any

import tensorflow as tf

from zoo.tokenizers import Tokenizer
from zoo.tokenizers.sequences import Sources, read_sources

__all__ = ["TEXT", "ReadingPredictor"]

TEXT = {"text": tf.TensorSpec([None], tf.string, name="text")}
"""The inputs of every signature: a batch of texts."""


class ReadingPredictor(tf.Module):
    """A tokenizer in front of a model.

    Args:
        model: takes `{"source": (B, S) int}`.
        source: tokenizer of the texts, of any level.
        max_source_length: greatest number of source tokens, the end mark counted; what is beyond is not read.
    """

    def __init__(self, model: Any, source: Tokenizer, *, max_source_length: int = 256) -> None:
        super().__init__()
        self.model = model
        self.source = source
        self.max_source_length = max_source_length

    def read(self, text: Any) -> tuple[Sources, tf.Tensor]:
        """Texts (B,) as ids, and what the model says of them, in float32."""
        sources = read_sources(self.source, text, self.max_source_length)
        return sources, tf.cast(self.model({"source": sources.ids}, training=False), tf.float32)

    def assets(self) -> dict[str, str]:
        """Files for people who want to review an export: name to content."""
        return {"source_vocabulary.json": self.source.describe()}
