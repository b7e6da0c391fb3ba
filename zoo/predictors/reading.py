"""What predictors have in common whose answer is read off the source, rather than searched for."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from zoo.tokenizers import END, PAD, Tokenizer
from zoo.tokenizers.sequences import Sources, read_sources

__all__ = ["TEXT", "ReadingPredictor"]

TEXT = {"text": tf.TensorSpec([None], tf.string, name="text")}
"""The inputs of every signature: a batch of texts."""


class ReadingPredictor(tf.Module):
    """A tokenizer in front of a model.

    Args:
        model: takes `{"source": (B, S) int}`.
        source: tokenizer of the texts, of any level.
        form: shape of what the model gives, its axes of any length as None.
        max_source_length: greatest number of source tokens, the end mark counted; what is beyond is not read.
    """

    def __init__(
        self, model: Any, source: Tokenizer, form: Sequence[int | None], *, max_source_length: int
    ) -> None:
        super().__init__()
        self.model = model
        self.source = source
        self.form = tuple(form)
        self.max_source_length = max_source_length

    def read(self, text: Any) -> tuple[Sources, tf.Tensor]:
        """Texts (B,) as ids, and what the model says of them, in float32.

        Raises:
            ValueError: the model gives something of another form.
        """
        sources = read_sources(self.source, text, self.max_source_length)
        outputs = self.model({"source": sources.ids}, training=False)
        if not outputs.shape.is_compatible_with(self.form):
            raise ValueError(
                f"{type(self).__name__} takes a model whose outputs have the shape {self.form}, "
                f"got {tuple(outputs.shape)} from {type(self.model).__name__}. "
                "See zoo.predictors for one that fits the model."
            )
        return sources, tf.cast(outputs, tf.float32)

    def read_tokens(self, text: Any) -> tuple[tf.Tensor, tf.Tensor]:
        """Texts (B,) to ids (B, S) without the END that the model reads, and what it says of each, (B, S, C).

        S is that of the longest of the batch, and at least 1; ids beyond the tokens of a text are PAD.
        """
        sources, outputs = self.read(text)
        ids = tf.where(sources.ids == END, PAD, sources.ids)
        longest = tf.reduce_max(tf.reduce_sum(tf.cast(ids != PAD, tf.int32), axis=1))
        length = tf.maximum(longest, 1)  # the largest of no lengths is the smallest number there is
        return ids[:, :length], outputs[:, :length]

    def assets(self) -> dict[str, str]:
        """Files for people who want to review an export: name to content."""
        return {"source_vocabulary.json": self.source.describe()}
