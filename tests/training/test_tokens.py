import numpy as np
import pytest

from zoo.training.tokens import TokenAccuracy, Tokens


def logits_of(ids, size=5):
    return np.eye(size, dtype="float32")[np.asarray(ids)]


def test_tokens_are_counted_over_batches():
    tokens = Tokens()
    tokens.update_state(np.zeros((2, 3)), None, np.array([[1, 1, 0], [0.5, 0, 0]], "float32"))
    then = tokens.result()
    tokens.update_state(np.zeros((1, 4)), None)
    assert int(tokens.result()) == 7
    assert int(then) == 3, "a figure of then does not change"
    tokens.reset_state()
    assert int(tokens.result()) == 0


def test_a_token_weighs_the_same_in_long_and_short_batches():
    """One of 4 tokens is right in a batch of length 4, the only one in a batch of length 1: 2 of 5."""
    accuracy = TokenAccuracy()
    accuracy.update_state(np.array([[1, 2, 3, 4]]), logits_of([[1, 0, 0, 0]]), np.ones((1, 4)))
    accuracy.update_state(np.array([[2]]), logits_of([[2]]), np.ones((1, 1)))
    assert float(accuracy.result()) == pytest.approx(2 / 5)


def test_padding_does_not_count():
    accuracy = TokenAccuracy()
    assert float(accuracy.result()) == 0.0, "of nothing"
    accuracy.update_state(np.array([[1, 0, 0]]), logits_of([[1, 0, 0]]), np.array([[0.5, 0, 0]]))
    accuracy.update_state(np.array([[1, 2, 0]]), logits_of([[3, 3, 0]]), np.array([[0.5, 0.5, 0]]))
    assert float(accuracy.result()) == pytest.approx(1 / 3)
    accuracy.reset_state()
    accuracy.update_state(np.array([[1, 2]]), logits_of([[1, 3]]))
    assert float(accuracy.result()) == 0.5
