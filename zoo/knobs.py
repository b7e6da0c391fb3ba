"""What one request may say of its search: the inputs of `generate` and `sample` beside the text.

Each is a tensor (B,), so a server may put requests together that ask for different searches, and each has a
neutral value. What makes no sense is brought to the nearest that does: an error would harm the others
of a batch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import tensorflow as tf

from zoo.decoders import Beam, LogitTransform, Temperature, TopK, TopP

__all__ = [
    "GENERATE",
    "GENERATE_EXAMPLES",
    "SAMPLE",
    "SAMPLE_EXAMPLES",
    "beam_of",
    "bounds_of",
    "sampling_of",
]

EXPORTED = -1000.0
"""The length penalty that stands for the exported one."""

STEEPEST = 10.0
"""Greatest length penalty, to either side; beyond, norms of long hypotheses are no finite numbers."""

GENERATE: Mapping[str, Any] = {
    "width": 0,
    "length_penalty": EXPORTED,
    "min_length": 0,
    "max_length": 0,
    "prefix": "",
}
"""Neutral values of `generate`."""

GENERATE_EXAMPLES: Sequence[Mapping[str, Any]] = (
    GENERATE,
    {"width": 2, "length_penalty": 1.0, "min_length": 2, "max_length": 4, "prefix": "a"},
)
"""Settings that every export is asked with."""

SAMPLE: Mapping[str, Any] = {"seed": 0, "temperature": 1.0, "top_k": 0, "top_p": 1.0}
"""Neutral values of `sample`."""

SAMPLE_EXAMPLES: Sequence[Mapping[str, Any]] = (
    SAMPLE,
    {"seed": 7, "temperature": 0.7, "top_k": 5, "top_p": 0.9},
)
"""Settings that every export is asked with."""


def beam_of(
    exported: Beam, widest: int, width: tf.Tensor, length_penalty: tf.Tensor, given: tf.Tensor
) -> Beam:
    """The beam search that each source asks for.

    Args:
        exported: the search of the export.
        widest: K of the answer; no width is greater.
        width: (B,) int32; 0 or less stands for the exported one.
        length_penalty: (B,) float32; -1000, and what is no number, stand for the exported one. Others are
            brought to between -10 and 10.
        given: (B,) int32, how many tokens are given.
    """
    wanted = tf.where(width > 0, tf.minimum(width, widest), exported.width)
    is_own = (length_penalty != EXPORTED) & ~tf.math.is_nan(length_penalty)
    penalty = tf.where(is_own, tf.clip_by_value(length_penalty, -STEEPEST, STEEPEST), exported.length_penalty)
    return replace(exported, width=widest, length_penalty=penalty, widths=wanted, given=given)


def bounds_of(min_length: tf.Tensor, max_length: tf.Tensor, exported: int) -> tuple[tf.Tensor, tf.Tensor]:
    """The least and the greatest length that each source asks for, (B,) int32 each.

    Args:
        min_length: (B,) int32, brought to between 0 and the greatest length.
        max_length: (B,) int32; 0 or less stands for the exported one, as does more than that.
        exported: the greatest length of the export.
    """
    longest = tf.where(max_length > 0, tf.minimum(max_length, exported), exported)
    return tf.clip_by_value(min_length, 0, longest), longest


def sampling_of(temperature: tf.Tensor, top_k: tf.Tensor, top_p: tf.Tensor) -> list[LogitTransform]:
    """What each source wants to draw from.

    Args:
        temperature: (B,) float32; what is not finite counts as 1, less than 0.001 as that.
        top_k: (B,) int32; 0 or less allows all tokens.
        top_p: (B,) float32; what is no number counts as 1; 0 or less leaves the likeliest token.
    """
    temperature = tf.where(tf.math.is_finite(temperature), temperature, 1.0)
    top_p = tf.where(tf.math.is_nan(top_p), 1.0, top_p)
    return [Temperature(temperature), TopK(top_k), TopP(top_p)]
