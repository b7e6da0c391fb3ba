"""The layers of the zoo in plain numpy, one position at a time, from the equations of the papers."""

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_step(x, hidden, cell, kernel, recurrent_kernel, bias):
    """Hochreiter & Schmidhuber (1997) with Gers' forget gate; columns in the order i, f, g, o."""
    i, f, g, o = np.split(x @ kernel + hidden @ recurrent_kernel + bias, 4, axis=-1)
    cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(cell), cell


def lstm(inputs, kernel, recurrent_kernel, bias, backward=False):
    """One sequence without padding, (T, D) to outputs (T, U), aligned with it, and the last state."""
    units = recurrent_kernel.shape[0]
    hidden, cell = np.zeros(units), np.zeros(units)
    outputs = np.zeros((len(inputs), units))
    order = range(len(inputs))
    for t in reversed(order) if backward else order:
        hidden, cell = lstm_step(inputs[t], hidden, cell, kernel, recurrent_kernel, bias)
        outputs[t] = hidden
    return outputs, hidden, cell


def additive_alignment(query, values, query_kernel, key_kernel, score_vector):
    """Bahdanau et al. (2015), A.1.2: one query (D,) over values (S, V) without padding, (S,)."""
    energies = np.array([score_vector @ np.tanh(query @ query_kernel + h @ key_kernel) for h in values])
    exponentials = np.exp(energies - energies.max())
    return exponentials / exponentials.sum()


def maxout_readout(inputs, pairs_kernel, pairs_bias, kernel, bias):
    """Bahdanau et al. (2015), A.2.2; a pair is unit i of the first half with unit i of the second."""
    both = inputs @ pairs_kernel + pairs_bias
    first, second = np.split(both, 2, axis=-1)
    return np.maximum(first, second) @ kernel + bias


def sinusoidal_position(t, width, base=10_000):
    """Vaswani et al. (2017), section 3.5: what position t adds, (D,)."""
    added = np.zeros(width)
    for i in range(width // 2):
        added[2 * i] = np.sin(t / base ** (2 * i / width))
        added[2 * i + 1] = np.cos(t / base ** (2 * i / width))
    return added


def rotary_matrix(t, width, base=10_000):
    """Su et al. (2021), equation 15: the matrix that turns a query or key at position t, (D, D)."""
    matrix = np.zeros((width, width))
    for i in range(width // 2):
        angle = t * base ** (-2 * i / width)
        cosine, sine = np.cos(angle), np.sin(angle)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[cosine, -sine], [sine, cosine]]
    return matrix
