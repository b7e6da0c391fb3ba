"""How much work a layer is, and how much of it can be done at once."""

from typing import NamedTuple

from zoo.layers.cells import CELLS

__all__ = ["OperationCount", "operation_counts"]


class OperationCount(NamedTuple):
    """Of one layer over one sequence."""

    sequential_steps: int
    """Matrix products that have to wait for each other, at the least."""
    multiply_adds: int
    """Multiplications with an addition, in all matrix products."""

    @property
    def at_once(self) -> float:
        """Multiply-adds that can run in parallel, the mean over the sequential steps."""
        return self.multiply_adds / self.sequential_steps


def operation_counts(length: int, width: int, *, units: int | None = None) -> dict[str, OperationCount]:
    """What a layer of each kind takes for a sequence of T positions that are all known, each of D numbers.

    This is table 1 of Vaswani et al. (2017) as numbers, for the layers of the zoo: recurrence takes O(n d^2)
    operations in O(n) steps, self-attention O(n^2 d) in O(1); its projections add O(n d^2)::

        rnn, gru, lstm      the product with all inputs at once, then one product a step
                            1 + T steps, 2 G T D^2          G = 1, 3, 4 products with x and with h
        self_attention      q, k and v at once; scores; reading the values; output
                            4 steps, 4 T D^2 + 2 T^2 D      however many heads
        feed_forward        two products, one after the other
                            2 steps, 2 T D U

    Masks, biases, activations and norms are not counted, and a causal mask spares no product. Where a text is
    written token by token, any layer takes T times the steps of one position.

    Args:
        length: number of positions, T.
        width: size of each vector, D; of a recurrent layer, both of inputs and of states.
        units: hidden layer of the feed-forward network, U; 4 D unless given, as in the paper.

    Returns:
        Counts by the name of the layer: those of `zoo.layers.cells.CELLS`, `self_attention`, `feed_forward`.

    Raises:
        ValueError: a size is less than 1.
    """
    hidden = 4 * width if units is None else units
    if min(length, width, hidden) < 1:
        raise ValueError(f"Sizes must be at least 1, got length {length}, width {width} and units {hidden}.")
    recurrent = {
        name: OperationCount(1 + length, 2 * cell.products * length * width**2)
        for name, cell in CELLS.items()
    }
    return {
        **recurrent,
        "self_attention": OperationCount(4, 4 * length * width**2 + 2 * length**2 * width),
        "feed_forward": OperationCount(2, 2 * length * width * hidden),
    }
