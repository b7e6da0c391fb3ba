"""A Transformer with random weights, as a folder that CTranslate2 loads."""

from typing import Any

import numpy as np
from ctranslate2.specs import TransformerSpec

from benchmarks.work import Transformer

__all__ = ["FIRST_WORD", "write"]

SPECIALS = ("<blank>", "<s>", "</s>")
FIRST_WORD = len(SPECIALS)
"""Id i from here on is the word `w{i}`."""

LONGEST = 512


class _Filler:
    """Puts random numbers into the places of a specification."""

    def __init__(self, sizes: Transformer) -> None:
        self.sizes = sizes
        self.random = np.random.default_rng(0)

    def numbers(self, *shape: int, deviation: float = 1.0) -> np.ndarray:
        return (deviation * self.random.standard_normal(shape)).astype("float32")

    def product(self, place: Any, inputs: int, outputs: int) -> None:
        place.weight = self.numbers(outputs, inputs, deviation=inputs**-0.5)
        place.bias = np.zeros(outputs, "float32")

    def norm(self, place: Any) -> None:
        place.gamma = np.ones(self.sizes.width, "float32")
        place.beta = np.zeros(self.sizes.width, "float32")

    def attention(self, place: Any, *products: int) -> None:
        """Its first products give so many widths each, the last one comes back to one."""
        self.norm(place.layer_norm)
        for linear, widths in zip(place.linear, (*products, 1), strict=True):
            self.product(linear, self.sizes.width, widths * self.sizes.width)

    def block(self, place: Any) -> None:
        self.attention(place.self_attention, 3)
        self.norm(place.ffn.layer_norm)
        self.product(place.ffn.linear_0, self.sizes.width, self.sizes.units)
        self.product(place.ffn.linear_1, self.sizes.units, self.sizes.width)

    def stack(self, place: Any, embedding: Any) -> None:
        embedding.weight = self.numbers(self.sizes.vocab_size, self.sizes.width, deviation=0.02)
        place.scale_embeddings = True
        place.position_encodings.encodings = self.numbers(LONGEST, self.sizes.width)
        for block in place.layer:
            self.block(block)


def write(sizes: Transformer, folder: str) -> None:
    """Write a model of these sizes, post-norm, into a folder that is there."""
    spec = TransformerSpec.from_config((sizes.depth, sizes.depth), sizes.heads, pre_norm=False)
    fill = _Filler(sizes)
    fill.stack(spec.encoder, spec.encoder.embeddings[0])
    fill.stack(spec.decoder, spec.decoder.embeddings)
    for block in spec.decoder.layer:
        fill.attention(block.attention, 1, 2)
    fill.product(spec.decoder.projection, sizes.width, sizes.vocab_size)
    words = [*SPECIALS, *(f"w{i}" for i in range(FIRST_WORD, sizes.vocab_size))]
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.validate()
    spec.optimize(quantization=None)
    spec.save(folder)
