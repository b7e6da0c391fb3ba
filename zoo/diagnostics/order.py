"""What an encoder knows of the order of its source."""

from collections.abc import Sequence
from typing import NamedTuple

import keras
import numpy as np
from keras import ops

__all__ = ["OrderDifference", "order_blindness"]


class OrderDifference(NamedTuple):
    """Largest differences between a text and the same tokens in another order: about 0 if none is seen."""

    tokens: float
    """Of what is said of the same token, wherever it stands."""
    summary: float
    """Of what is said of the whole."""


def order_blindness(encoder: keras.layers.Layer, ids, permutation: Sequence[int]) -> OrderDifference:
    """Read sources twice, the second time in another order, and compare.

    Self-attention takes a weighted mean over a set. With a permutation P of the positions, and without
    anything that says where a token stands::

        f(P x) = P f(x)         each token reads the same, wherever it stands
        mean f(P x) = mean f(x)

    So 狗咬人, dog bites man, and 人咬狗, man bites dog, become one. Positions or recurrence tell them apart.

    Args:
        encoder: token ids to `zoo.models.Encoded`; with a summary that does not depend on the order itself,
            such as the mean of `zoo.models.TransformerEncoder`, the second difference is of interest too.
        ids: (B, S) int. Padding is read too, but only tokens are compared.
        permutation: S ints: position s of the second reading holds the token of position `permutation[s]`.

    Raises:
        ValueError: it is not a permutation of the S positions.
    """
    ids, order = np.asarray(ids), np.asarray(permutation)
    if sorted(order.tolist()) != list(range(ids.shape[1])):
        raise ValueError(
            f"A permutation holds each of the {ids.shape[1]} positions once, got {order.tolist()}."
        )
    first, second = encoder(ops.convert_to_tensor(ids)), encoder(ops.convert_to_tensor(ids[:, order]))
    present = ops.convert_to_numpy(second.mask)
    tokens = ops.convert_to_numpy(first.values)[:, order] - ops.convert_to_numpy(second.values)
    summary = ops.convert_to_numpy(first.summary) - ops.convert_to_numpy(second.summary)
    return OrderDifference(*(float(np.abs(found).max(initial=0)) for found in (tokens[present], summary)))
