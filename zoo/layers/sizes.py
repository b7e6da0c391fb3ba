"""What constructors ask of sizes, so that a wrong one is named where it is given, not many calls later."""

from numbers import Integral

__all__ = ["require_even", "require_positive", "require_rate"]


def require_positive(**sizes: int) -> None:
    """Sizes and counts, by their names, are whole numbers of at least 1.

    Raises:
        ValueError: one is not.
    """
    for name, size in sizes.items():
        if not isinstance(size, Integral) or size < 1:
            raise ValueError(f"{name} must be a whole number, 1 or more, got {size!r}. Give such a number.")


def require_even(**sizes: int) -> None:
    """Sizes of what is taken in pairs, by their names, are even.

    Raises:
        ValueError: one is not.
    """
    for name, size in sizes.items():
        if size % 2:
            raise ValueError(
                f"{name} must be even, since pairs of sine and cosine need an even width, got {size}. "
                f"Give {size - 1} or {size + 1}."
            )


def require_rate(**rates: float) -> None:
    """Rates of dropout, by their names, are shares that leave something: from 0 to below 1.

    Raises:
        ValueError: one is not.
    """
    for name, rate in rates.items():
        if not 0 <= rate < 1:
            raise ValueError(
                f"{name} must be a rate from 0 to below 1, got {rate!r}. Give the share to drop, such as 0.1."
            )
