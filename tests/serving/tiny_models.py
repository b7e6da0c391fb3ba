"""SavedModels so small that a test can write and load many of them."""

import tensorflow as tf

from benchmarks.offset_models import half_plus, save

TEXT = tf.TensorSpec([None], tf.string, name="text")
TARGET = tf.TensorSpec([None], tf.string, name="target")
X = tf.TensorSpec([None], tf.float32, name="x")
STEPS = tf.TensorSpec([None], tf.int32, name="steps")


def half_plus_two(folder, offset=2.0):
    return half_plus(folder, offset)


def texts(folder):
    """Text to text in the ways that the REST format tells apart, and a slow signature."""

    def upper(text):
        return {"text": tf.strings.upper(text)}

    def pair(text):
        return {"text": tf.identity(text), "length": tf.strings.length(text)}

    def raw(text):
        return {"raw_bytes": tf.identity(text), "plain": tf.identity(text)}

    def scalar(text):
        return {"total": tf.reduce_sum(tf.strings.length(text))}

    def number(text):
        return {"number": tf.strings.to_number(text)}

    def slow(steps):
        last = tf.reduce_max(steps)
        zero = tf.constant(0)
        return {
            "done": tf.while_loop(lambda i: i < last, lambda i: (i + 1,), (zero,))[0] + tf.zeros_like(steps)
        }

    def square(x):
        return {"y": tf.linalg.matmul(x[tf.newaxis], x[:2, tf.newaxis])}

    return save(
        folder,
        tf.Module(),
        serving_default=(upper, [TEXT]),
        pair=(pair, [TEXT]),
        raw=(raw, [TEXT]),
        scalar=(scalar, [TEXT]),
        number=(number, [TEXT]),
        slow=(slow, [STEPS]),
        square=(square, [X]),
    )


def seq2seq(folder):
    """The five signatures of a zoo export: a "translator" that shouts, two hypotheses a source."""

    def first(text):
        return {"text": tf.strings.upper(text)}

    def score_of(text):
        return -tf.cast(tf.strings.length(text), tf.float32)

    def greedy(text):
        return {"text": tf.strings.upper(text), "score": score_of(text), "length": tf.strings.length(text)}

    def beam(text):
        best = tf.strings.upper(text)
        score = tf.stack([score_of(text), tf.fill(tf.shape(text), -1e9)], axis=1)
        return {
            "text": tf.stack([best, tf.zeros_like(best)], axis=1),
            "score": score,
            "ranked_score": score / 2.0,
            "length": tf.stack([tf.strings.length(best), tf.zeros(tf.shape(text), tf.int32)], axis=1),
        }

    def characters(text):
        return tf.strings.unicode_split(text, "UTF-8").to_tensor("")

    def score(text, target):
        tokens = characters(target)
        known = tf.cast(tf.not_equal(tokens, ""), tf.float32)
        return {"score": score_of(text), "tokens": tokens, "token_scores": -0.5 * known}

    def align(text, target):
        source = characters(text)
        answer = characters(tf.where(tf.equal(target, ""), tf.strings.upper(text), target))
        shape = tf.concat([tf.shape(answer), tf.shape(source)[1:]], axis=0)
        return {"source_tokens": source, "target_tokens": answer, "alignment": tf.ones(shape)}

    return save(
        folder,
        tf.Module(),
        serving_default=(first, [TEXT]),
        greedy=(greedy, [TEXT]),
        beam=(beam, [TEXT]),
        score=(score, [TEXT, TARGET]),
        align=(align, [TEXT, TARGET]),
    )
