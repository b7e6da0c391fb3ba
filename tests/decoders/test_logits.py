import numpy as np
import tensorflow as tf
from scripted import END, Scripted, hypotheses, random_logits, score_of

from zoo.decoders import Beam, OnlyEnd, decode


def test_only_end_for_some_of_the_sources():
    logits = random_logits(2, 2, 3, tables=2)
    model, sources = Scripted(logits), np.array([[0], [1]])
    steered = decode(model, sources, Beam(3), max_length=3, transforms=[OnlyEnd(tf.constant([True, False]))])
    plain = decode(model, sources, Beam(3), max_length=3)

    (only,) = hypotheses(steered, 0)
    assert only.ids == (END,)
    np.testing.assert_allclose(only.score, score_of(logits[0], (END,)), atol=1e-5)
    assert hypotheses(steered, 1) == hypotheses(plain, 1)
