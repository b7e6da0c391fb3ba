"""What rounding may not change."""

import numpy as np


def assert_same_argmax(found, exact):
    """Wherever the greatest number of the last axis stands out so far that rounding cannot turn it round."""
    second, best = np.moveaxis(np.sort(exact)[..., -2:], -1, 0)
    separated = best - second > 2 * np.abs(found - exact).max()
    assert separated.any()
    np.testing.assert_array_equal(found.argmax(-1)[separated], exact.argmax(-1)[separated])
