"""Why dot products are divided by the root of their width."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from keras import ops

from zoo.layers import Attention, DotAttention, ScaledDotAttention, masked_softmax

__all__ = ["DotProductVariance", "ScoreStatistics", "dot_product_variance"]


class ScoreStatistics(NamedTuple):
    """Of scores at each of W widths, each (W,) float64."""

    variance: np.ndarray
    """As it was measured."""
    theory: np.ndarray
    """As it should be."""
    largest_weight: np.ndarray
    """The largest weight of a softmax over the scores, from 1 / S, no choice, to 1, no doubt; a mean."""
    gradient_norm: np.ndarray
    """Frobenius norm of that softmax's Jacobian: how far scores can still move weights; a mean."""


class DotProductVariance(NamedTuple):
    """Dot products of random queries and keys, as they are and scaled."""

    widths: tuple[int, ...]
    """Sizes of queries and keys, W of them."""
    unscaled: ScoreStatistics
    """Of `q . k`."""
    scaled: ScoreStatistics
    """Of `q . k / sqrt(d)`."""


def dot_product_variance(
    widths: Sequence[int], *, keys: int = 10, samples: int = 256, seed: int = 0
) -> DotProductVariance:
    """Measure what the width d of queries and keys does to their dot products, and to a softmax over these.

    If all their numbers are independent, of mean 0 and variance 1, `q . k` is a sum of d products of variance
    1: its variance is d, and that of `q . k / sqrt(d)` is 1 (Vaswani et al. 2017, section 3.2.1, footnote 4).
    A softmax over large scores gives nearly all to one key, and its Jacobian `diag(a) - a a^T` is nearly 0.

    Args:
        widths: sizes of queries and keys, d.
        keys: number of keys to a query, S.
        samples: number of queries, each with keys of its own.
        seed: of the random numbers.

    Raises:
        ValueError: a width, the keys or the samples are fewer than 1.
    """
    if not widths or min(*widths, keys, samples) < 1:
        raise ValueError(
            f"Widths, keys and samples must be at least 1, and there must be a width, got widths {widths}, "
            f"{keys} keys and {samples} samples."
        )
    random = np.random.default_rng(seed)
    unscaled, scaled = [], []
    for width in widths:
        query = random.standard_normal((samples, 1, width), "float32")
        memory = random.standard_normal((samples, keys, width), "float32")
        unscaled.append((*_measure(DotAttention(), query, memory), float(width)))
        scaled.append((*_measure(ScaledDotAttention(), query, memory), 1.0))
    return DotProductVariance(tuple(widths), _statistics(unscaled), _statistics(scaled))


def _measure(attention: Attention, query: np.ndarray, keys: np.ndarray) -> tuple[float, float, float]:
    """Variance of the scores, largest weight and norm of the Jacobian, without making the Jacobian."""
    scores = attention.scores(ops.convert_to_tensor(query), ops.convert_to_tensor(keys))
    weights = ops.convert_to_numpy(masked_softmax(scores, ops.ones_like(scores, "bool"))).astype("float64")
    squares = (weights**2).sum(-1)
    # |diag(a) - a a^T|^2 = sum a_i^2 - 2 sum a_i^3 + (sum a_i^2)^2
    norms = np.sqrt((squares - 2 * (weights**3).sum(-1) + squares**2).clip(0))
    variance = ops.convert_to_numpy(scores).astype("float64").var()
    return float(variance), float(weights.max(-1).mean()), float(norms.mean())


def _statistics(rows: list[tuple[float, float, float, float]]) -> ScoreStatistics:
    variance, largest_weight, gradient_norm, theory = np.array(rows, "float64").T
    return ScoreStatistics(variance, theory, largest_weight, gradient_norm)
