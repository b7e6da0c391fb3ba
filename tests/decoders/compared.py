"""What a search found beside what it should have found."""

import numpy as np


def assert_same_but_for_rounding(found, expected, atol=1e-5):
    """The same hypotheses with the same scores, best first; rounding may swap neighbours."""
    of_ids = {hypothesis.ids: hypothesis for hypothesis in expected}
    assert len(found) == len(expected)
    assert {hypothesis.ids for hypothesis in found} == of_ids.keys()
    own = [of_ids[hypothesis.ids] for hypothesis in found]
    for field, others in (("ranked", expected), ("ranked", own), ("score", own)):
        np.testing.assert_allclose(
            [getattr(hypothesis, field) for hypothesis in found],
            [getattr(hypothesis, field) for hypothesis in others],
            atol=atol,
            rtol=1e-6,
        )
