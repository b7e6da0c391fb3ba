"""A model without a network: what may follow each prefix is written in a table. And the truth about it."""

import itertools
import math
from typing import NamedTuple

import numpy as np
import tensorflow as tf

PAD, START, END = 0, 1, 2
FIRST = 3
"""The first id that is a letter; the letters are all ids from here on."""


class Scripted:
    """Obeys `zoo.decoders.Seq2SeqModel`. The first id of a source says which table speaks.

    A prefix is a node of the tree of all prefixes: the root is 0, and letter number i after node n is node
    n * letters + i + 1. Beyond the table's last node, its last row speaks.

    Args:
        logits: (N, nodes, V), a table for each source.
    """

    def __init__(self, logits):
        self.table = tf.convert_to_tensor(logits)
        self.vocab_size = self.table.shape[2]
        self.steps = 0

    def encode(self, source):
        return {"source": tf.cast(source[:, 0], tf.int32)}

    def init_state(self, memory, width, max_length):
        return tf.zeros([tf.shape(memory["source"])[0], width], tf.int32)

    def step(self, token_ids, index, state, memory):
        self.steps += 1  # counts steps where the loop runs eagerly
        node = self._after(state, token_ids)
        row = tf.minimum(node, self.table.shape[1] - 1)
        table = tf.broadcast_to(memory["source"][:, None], tf.shape(node))
        return tf.gather_nd(self.table, tf.stack([table, row], -1)), node

    def __call__(self, inputs):
        memory, state, logits = self.encode(inputs["source"]), 0, []
        state = self.init_state(memory, 1, 1)
        for t in range(inputs["target_ids"].shape[1]):
            step, state = self.step(inputs["target_ids"][:, t : t + 1], t, state, memory)
            logits.append(step)
        return tf.concat(logits, 1)

    def _after(self, node, token_ids):
        letters = self.vocab_size - FIRST
        return tf.where(token_ids >= FIRST, node * letters + token_ids - FIRST + 1, node)


def nodes(letters, max_length):
    """Number of prefixes of less than `max_length` letters."""
    return sum(letters**n for n in range(max(1, max_length)))


def random_logits(seed, letters, max_length, tables=1):
    random = np.random.default_rng(seed)
    shape = (tables, nodes(letters, max_length), FIRST + letters)
    return random.normal(scale=1.5, size=shape).astype("float32")


def logits_of(probabilities):
    """A table in which the same tokens may follow every prefix: {token: probability} to (1, 1, V)."""
    row = np.full(max(probabilities) + 1, -np.inf, "float32")
    for token, probability in probabilities.items():
        row[token] = math.log(probability) if probability else -np.inf
    return row[None, None]


def by_prefix(letters, max_length, default, rows):
    """A table of which some rows are typed by hand: {prefix: {token: probability}} to (1, nodes, V)."""
    table = np.repeat(logits_of({FIRST + letters - 1: 0, **default}), nodes(letters, max_length), axis=1)
    for prefix, row in rows.items():
        node = 0
        for token in prefix:
            node = node * letters + token - FIRST + 1
        table[0, node] = logits_of({FIRST + letters - 1: 0, **row})[0, 0]
    return table


class Hypothesis(NamedTuple):
    ids: tuple
    """Its tokens, END counted."""
    score: float
    ranked: float


def log_probabilities(logits):
    """(nodes, V) float64."""
    logits = np.asarray(logits, "float64")
    highest = logits.max(-1, keepdims=True)
    return logits - highest - np.log(np.exp(logits - highest).sum(-1, keepdims=True))


def norm(count, penalty, kind):
    count = max(count, 1)
    return {"wu": (5 + count) / 6, "power": count}[kind] ** penalty


def score_of(logits, ids):
    """Sum of log probabilities of ids, from one table (nodes, V)."""
    return total_of(log_probabilities(logits), ids)


def total_of(table, ids):
    """The same, from log probabilities."""
    letters, node, total = table.shape[1] - FIRST, 0, 0.0
    for token in ids:
        total += table[min(node, len(table) - 1), token]
        node = node * letters + token - FIRST + 1
    return total


def every_sequence(logits, max_length, penalty=0.0, kind="wu", bonus=lambda ids: 0.0):
    """All that may be answered, best first: with END, or cut at `max_length` letters.

    The ranked score is that over the norm, and a bonus of the ids.
    """
    table, letters, found = log_probabilities(logits), range(FIRST, logits.shape[1]), []
    for count in range(max_length + 1):
        for letters_of_it in itertools.product(letters, repeat=count):
            ids = letters_of_it if count == max_length else (*letters_of_it, END)
            score = total_of(table, ids)
            if score > -math.inf:
                ranked = score / norm(len(ids), penalty, kind) + bonus(ids)
                found.append(Hypothesis(ids, score, ranked))
    return sorted(found, key=lambda hypothesis: -hypothesis.ranked)


def list_beam(logits, width, max_length, penalty=0.0, kind="wu", bonus=lambda ids: 0.0, early=False):
    """Beam search with Python lists, without any rule to stop, or as soon as `width` have finished.

    Returns:
        The hypotheses, best first, and the smallest gap between a candidate that was taken and one that was
        not, or between neighbours in the ranking: where it is tiny, rounding decides.
    """
    table = log_probabilities(logits)
    tokens = (END, *range(FIRST, table.shape[1]))
    live, finished, gap = [()], [], math.inf
    for step in range(max_length):
        candidates = []
        for ids in live:
            candidates += [(total_of(table, (*ids, token)), (*ids, token)) for token in tokens]
        candidates = sorted((c for c in candidates if c[0] > -math.inf), key=lambda c: -c[0])
        for better, worse in itertools.pairwise(candidates[: width + 1]):
            gap = min(gap, better[0] - worse[0])
        finished += [ids for _, ids in candidates[:width] if ids[-1] == END]
        live = [ids for _, ids in candidates[:width] if ids[-1] != END]
        if early and len(finished) >= width and step < max_length - 1:
            live = []
            break
    scores = [(total_of(table, ids), ids) for ids in finished + live]
    ranked = [
        Hypothesis(ids, score, score / norm(len(ids), penalty, kind) + bonus(ids)) for score, ids in scores
    ]
    ranked.sort(key=lambda hypothesis: -hypothesis.ranked)
    for better, worse in itertools.pairwise(ranked[: width + 1]):
        gap = min(gap, better.ranked - worse.ranked)
    return ranked[:width], gap


def hypotheses(decoded, source=0):
    """What was decoded for a source, without the places that hold nothing."""
    found = []
    for ids, score, ranked, length in zip(*(leaf.numpy()[source] for leaf in decoded), strict=True):
        if ranked > -1e9:
            ended = length < len(ids) and ids[length] == END
            found.append(Hypothesis(tuple(ids[: length + ended].tolist()), float(score), float(ranked)))
    return found
