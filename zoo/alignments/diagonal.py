"""The baseline that reads no word: both sentences run from beginning to end at a steady pace."""

__all__ = ["diagonal_links"]


def diagonal_links(source_length: int, target_length: int) -> set[tuple[int, int]]:
    """One link for each target word j of T, to the source word i of S that lies as far along.

        i = floor((j + 1/2) * S / T)

    Args:
        source_length: S, words of the source; without any there is no link.
        target_length: T, words of the target.
    """
    if source_length < 1:
        return set()
    return {((2 * j + 1) * source_length // (2 * target_length), j) for j in range(target_length)}
