"""Sizes of models, by name: a recipe takes one, and says beside it what is its own."""

from collections.abc import Mapping
from typing import Any

__all__ = ["RECURRENT", "TRANSFORMER"]

TRANSFORMER: Mapping[str, Mapping[str, Any]] = {
    "tiny": {"width": 128, "depth": 4, "heads": 4, "units": 256},
    "small": {"width": 256, "depth": 4, "heads": 4, "units": 1024},
    "base": {"width": 512, "depth": 6, "heads": 8, "units": 2048},
}
"""Of `zoo.models.TransformerSeq2Seq`; `tiny` is that of Wu et al. (2021), `base` of Vaswani et al. (2017)."""

RECURRENT: Mapping[str, Mapping[str, Any]] = {
    "tiny": {"embedding_dim": 128, "encoder_units": 128, "decoder_units": 256},
    "small": {"embedding_dim": 256, "encoder_units": 256, "decoder_units": 512},
    "base": {"embedding_dim": 620, "encoder_units": 1000, "decoder_units": 1000},
}
"""Of `zoo.models.RecurrentSeq2Seq`; `base` is that of Bahdanau et al. (2015)."""
