"""The layers of the zoo in plain numpy, one position at a time, from the equations of the papers."""

import math

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rnn_step(x, state, kernel, bias, recurrent_kernel):
    """Elman (1990)."""
    (hidden,) = state
    return (np.tanh(x @ kernel + bias + hidden @ recurrent_kernel),)


def gru_step(x, state, kernel, bias, recurrent_kernel, recurrent_bias):
    """Cho et al. (2014) with the reset gate applied last; columns in the order z, r, g."""
    (hidden,) = state
    z, r, g = np.split(x @ kernel + bias, 3, axis=-1)
    recurred_z, recurred_r, recurred_g = np.split(hidden @ recurrent_kernel + recurrent_bias, 3, axis=-1)
    z, r = sigmoid(z + recurred_z), sigmoid(r + recurred_r)
    return (z * hidden + (1 - z) * np.tanh(g + r * recurred_g),)


def lstm_step(x, state, kernel, bias, recurrent_kernel):
    """Hochreiter & Schmidhuber (1997) with Gers' forget gate; columns in the order i, f, g, o."""
    hidden, cell = state
    i, f, g, o = np.split(x @ kernel + bias + hidden @ recurrent_kernel, 4, axis=-1)
    cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(cell), cell


STEPS = {"rnn": rnn_step, "gru": gru_step, "lstm": lstm_step}


def zero_state(cell, units):
    return tuple(np.zeros(units) for _ in range(2 if cell == "lstm" else 1))


def recurrent(cell, inputs, weights, backward=False):
    """One sequence without padding, (T, I) to outputs (T, D), aligned with it, and the last state."""
    units = weights[2].shape[0]
    state, outputs = zero_state(cell, units), np.zeros((len(inputs), units))
    order = range(len(inputs))
    for t in reversed(order) if backward else order:
        state = STEPS[cell](inputs[t], state, *weights)
        outputs[t] = state[0]
    return outputs, state


def recurrent_stack(cell, inputs, layers, norms=(), residual=False):
    """One sequence through layers; a layer is a list of (weights, backward), a norm (gamma, beta).

    Outputs (T, D), and for each direction the final hidden states of all layers.
    """
    finals = []
    for number, directions in enumerate(layers):
        runs = [recurrent(cell, inputs, weights, backward) for weights, backward in directions]
        outputs = np.concatenate([outputs for outputs, _ in runs], axis=1)
        finals.append([state[0] for _, state in runs])
        if residual and number:
            outputs = outputs + inputs
        if norms:
            outputs = layer_norm(outputs, *norms[number], epsilon=1e-3)
        inputs = outputs
    return inputs, [np.concatenate(one) for one in zip(*finals, strict=True)]


def layer_norm(x, gamma, beta, epsilon):
    """Ba et al. (2016), each row of (T, D) by itself."""
    rows = [(row - row.mean()) / np.sqrt(row.var() + epsilon) for row in x]
    return np.array(rows) * gamma + beta


def softmax(energies):
    exponentials = np.exp(energies - np.max(energies))
    return exponentials / exponentials.sum()


def additive_energies(query, values, query_kernel, key_kernel, score_vector):
    """Bahdanau et al. (2015), A.1.2: one query (D,) over values (S, V) without padding, (S,)."""
    return np.array([score_vector @ np.tanh(query @ query_kernel + h @ key_kernel) for h in values])


def additive_alignment(query, values, query_kernel, key_kernel, score_vector):
    """The softmax of `additive_energies`."""
    return softmax(additive_energies(query, values, query_kernel, key_kernel, score_vector))


def dot_energies(query, values):
    """Luong et al. (2015), equation 8."""
    return np.array([sum(q * h for q, h in zip(query, value, strict=True)) for value in values])


def scaled_dot_energies(query, values):
    """Vaswani et al. (2017), equation 1."""
    return dot_energies(query, values) / np.sqrt(len(query))


def general_energies(query, values, kernel):
    """Luong et al. (2015), equation 8; `kernel` (V, D) is the transpose of its W."""
    return np.array([query @ (kernel.T @ value) for value in values])


def multi_head(queries, memory, mask, weights, heads, normalization="softmax", turn=None):
    """Vaswani et al. (2017), section 3.2.2: queries (Q, D) over a memory (S, M), one head at a time.

    Args:
        mask: (Q, S) bool.
        weights: kernel and bias of the query, kernel of the key, kernel and bias of value and result.
        turn: `turn(vector, position)` of queries and keys.

    Result (Q, D), and alignment (H, Q, S).
    """
    w_q, b_q, w_k, w_v, b_v, w_o, b_o = weights
    size = w_q.shape[1] // heads
    alignment = np.zeros((heads, *mask.shape))
    read = np.zeros((len(queries), w_q.shape[1]))
    for head in range(heads):
        columns = slice(head * size, (head + 1) * size)
        q, k = (queries @ w_q + b_q)[:, columns], (memory @ w_k)[:, columns]
        v = (memory @ w_v + b_v)[:, columns]
        if turn:
            q, k = (np.array([turn(row, t) for t, row in enumerate(rows)]) for rows in (q, k))
        for t, seen in enumerate(mask):
            if seen.any():
                energies = k[seen] @ q[t] / np.sqrt(size)
                plain = (
                    softmax(energies) if normalization == "softmax" else np.maximum(energies, 0) / seen.sum()
                )
                alignment[head, t, seen] = plain
            read[t, columns] = alignment[head, t] @ v
    return read @ w_o + b_o, alignment


def gelu(x):
    """Hendrycks & Gimpel (2016): x times the probability that a normal number is below it."""
    return x * np.vectorize(lambda number: (1 + math.erf(number / math.sqrt(2))) / 2)(x)


def feed_forward(x, weights, activation):
    """Vaswani et al. (2017), section 3.3; Shazeer (2020): of `glu`, the gates are the first half."""
    kernel, bias, result_kernel, result_bias = weights
    hidden = x @ kernel + bias
    if activation == "glu":
        gates, hidden = np.split(hidden, 2, axis=-1)
        hidden = gelu(gates) * hidden
    else:
        hidden = gelu(hidden) if activation == "gelu" else np.maximum(hidden, 0)
    return hidden @ result_kernel + result_bias


def residual(x, sublayer, gamma, beta, norm):
    """`x + f(norm(x))` (pre) or `norm(x + f(x))` (post)."""
    if norm == "pre":
        return x + sublayer(layer_norm(x, gamma, beta, 1e-6))
    return layer_norm(x + sublayer(x), gamma, beta, 1e-6)


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


def attention_pooling(values, kernel, bias, query):
    """Yang et al. (2016), equations 5 and 6: how much each of the values (S, D) counts, (S,)."""
    energies = np.array([np.tanh(h @ kernel + bias) @ query for h in values])
    exponentials = np.exp(energies - energies.max())
    return exponentials / exponentials.sum()


def window_approach(embedded, window, layers):
    """Collobert et al. (2011), section 3.3.1: embedded tokens (S, E) without padding to (S, D)."""
    radius, outputs = window // 2, []
    for t in range(len(embedded)):
        around = range(t - radius, t + radius + 1)
        seen = [embedded[i] if 0 <= i < len(embedded) else np.zeros(embedded.shape[1]) for i in around]
        hidden = np.concatenate(seen)
        for kernel, bias in layers:
            hidden = np.tanh(hidden @ kernel + bias)
        outputs.append(hidden)
    return np.array(outputs)
