"""Where attention may look: every mask of the zoo is made here, and True always means `may look`."""

from keras import ops

__all__ = ["padding_mask"]


def padding_mask(ids, pad_id: int = 0):
    """Which positions hold a token.

    Args:
        ids: (..., S) int token ids.
        pad_id: the id that fills a row up.

    Returns:
        (..., S) bool, True where the id is not `pad_id`.
    """
    return ops.not_equal(ids, pad_id)
