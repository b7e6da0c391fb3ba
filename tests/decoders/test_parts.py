import numpy as np
import pytest
import tensorflow as tf
from scripted import Scripted, random_logits

from zoo.decoders import Beam, decode, in_parts

LOGITS = random_logits(41, 3, 5, tables=4)


def search(source, seed):
    """A search, and what it was handed beside it."""
    found = decode(Scripted(LOGITS), source, Beam(2), max_length=5)
    return {"ids": found.token_ids, "scores": found.scores, "seed": tf.strings.as_string(seed)}


@pytest.mark.parametrize("most", [1, 2, 3])
def test_parts_say_what_the_whole_says(most):
    traced = tf.function(
        lambda source, seed: in_parts(search, {"source": source, "seed": seed}, most=most),
        input_signature=[tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None], tf.int32)],
    )
    for batch in (0, 1, 2, 7, 8, 9, 23):
        source = np.arange(batch, dtype="int32")[:, None] % 4
        expected, found = search(tf.constant(source), tf.range(batch)), traced(source, tf.range(batch))
        assert found.keys() == expected.keys()
        np.testing.assert_array_equal(found["ids"], expected["ids"])
        np.testing.assert_allclose(found["scores"], expected["scores"], atol=1e-6)
        np.testing.assert_array_equal(found["seed"], expected["seed"])


def test_a_small_batch_is_not_divided():
    sizes = []

    def count(source):
        sizes.append(len(source))
        return source

    for batch in (0, 1, 7, 8, 12, 40):
        in_parts(count, {"source": tf.zeros([batch, 1])}, most=3)
    assert sizes == [0, 0, 0, 1, 0, 0, 7, 0, 0, 4, 4, 0, 4, 4, 4, 13, 13, 14]
