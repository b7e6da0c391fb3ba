"""Sizes of axes, for reshaping."""

from keras import ops

__all__ = ["leading"]


def leading(x, kept: int):
    """The sizes of all axes but the last `kept`, for a reshape.

    Where one alone is not known when the graph is made, it is -1, and the graph need not work the shape out.
    """
    sizes = tuple(x.shape[: len(x.shape) - kept])
    if sizes.count(None) < 2 and all(size is None or size > 0 for size in sizes):
        return tuple(-1 if size is None else size for size in sizes)
    return tuple(ops.shape(x)[: len(sizes)])
