"""Texts to a number for every token."""

from typing import Any, NamedTuple

import tensorflow as tf

from zoo.predictor import Signature
from zoo.predictors.reading import TEXT, ReadingPredictor
from zoo.tokenizers import PAD, Tokenizer

__all__ = ["TokenRegressingPredictor", "TokenValues"]


class TokenValues(NamedTuple):
    """A number for every token. Rows are filled up to the longest of the batch, S, which is at least 1."""

    tokens: tf.Tensor
    """(B, S) strings: the tokens, then empty strings."""
    values: tf.Tensor
    """(B, S) float32: the number of each token; 0 beyond the tokens."""


class TokenRegressingPredictor(ReadingPredictor):
    """A trained regressor of tokens behind a tokenizer.

    An empty or blank text has no tokens and so no numbers. The END that the model reads after each text has
    none either. A text with more tokens than the bound has numbers up to there.

    Args:
        model: `{"source": (B, S) int}` to numbers (B, S, 1): `zoo.models.TokenRegressor`.
        source: tokenizer of the texts, of any level: what its tokens are, the numbers are of.
        max_source_length: greatest number of source tokens, the end mark counted.
    """

    def __init__(self, model: Any, source: Tokenizer, *, max_source_length: int = 256) -> None:
        super().__init__(model, source, (None, None, 1), max_source_length=max_source_length)

    def tag(self, text: Any) -> TokenValues:
        """Texts (B,) to a number for every token."""
        ids, numbers = self.read_tokens(text)
        return TokenValues(self.source.tokens(ids), tf.where(ids == PAD, 0.0, numbers[:, :, 0]))

    def signatures(self) -> dict[str, Signature]:
        """`tag`: tokens and values. `serving_default`: values, so many as the text has tokens, then zeros."""
        return {
            "serving_default": Signature(lambda text: {"values": self.tag(text).values}, TEXT),
            "tag": Signature(lambda text: self.tag(text)._asdict(), TEXT),
        }
