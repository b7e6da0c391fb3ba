"""Where attention may look: every mask of the zoo is made here, and True always means `may look`."""

from keras import ops

__all__ = ["adjacency_mask", "causal_mask", "frame_mask", "padding_mask"]


def padding_mask(ids, pad_id: int = 0):
    """Which positions hold a token.

    Args:
        ids: (..., S) int token ids.
        pad_id: the id that fills a row up.

    Returns:
        (..., S) bool, True where the id is not `pad_id`.
    """
    return ops.not_equal(ids, pad_id)


def causal_mask(length):
    """Which positions each position may look at so that it sees no future: itself, and all before it.

    Args:
        length: T, number of positions; an int or a scalar.

    Returns:
        (T, T) bool, True at [t, s] where s is not after t.
    """
    positions = ops.arange(length)
    return positions[:, None] >= positions[None, :]


def adjacency_mask(adjacency, node_mask):
    """Which nodes each node may look at: itself, and those it has an edge to.

    Args:
        adjacency: (B, N, N) bool or numbers, not zero at [i, j] where there is an edge from node i to node j.
        node_mask: (B, N) bool, True where there is a node.

    Returns:
        (B, N, N) bool, True at [i, j] where node i may look at node j. What is no node sees nothing, and is
        not seen.
    """
    itself = ops.eye(ops.shape(node_mask)[-1], dtype="bool")
    both = ops.logical_and(node_mask[:, :, None], node_mask[:, None, :])
    return ops.logical_and(ops.logical_or(ops.cast(adjacency, "bool"), itself), both)


def frame_mask(sample_mask, *, window: int, hop: int):
    """Which frames of a signal count: those whose samples are all there.

    So padding, whatever it holds, is in no frame that counts, and a signal padded on the right has the frames
    that it has alone: `1 + (n - window) // hop` of n samples, none if it is shorter than a window.

    Args:
        sample_mask: (B, N) bool, True where there is a sample.
        window: number of samples in a frame.
        hop: number of samples from the start of a frame to that of the next.

    Returns:
        (B, T) bool, T = ceil(N / hop): a frame begins at every hop, and the last ones reach over the end.
    """
    present = ops.pad(ops.cast(sample_mask, "int32"), ((0, 0), (1, window - 1)))
    counts = ops.cumsum(present, axis=1)
    return ops.equal(counts[:, window::hop] - counts[:, :-window:hop], window)
