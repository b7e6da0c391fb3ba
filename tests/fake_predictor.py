"""A predictor without a model behind it: it shouts. Small, deterministic, and with every signature."""

import numpy as np
import tensorflow as tf

from zoo.export import Card
from zoo.predictor import Signature
from zoo.tokenizers import Normalization

CARD = Card(
    name="shout",
    description="Writes texts in capitals.",
    task="shouting",
    recipe="fake",
    languages=("en",),
    licence="CC0",
    metrics={"exact_match": 1.0},
    notes=("Made for tests.",),
)

QUESTIONS = ("hello", "Straße 7", "a somewhat longer question, with commas")

TEXT = {"text": tf.TensorSpec([None], tf.string)}
BOTH = {**TEXT, "target": tf.TensorSpec([None], tf.string)}


class FakePredictor(tf.Module):
    """Signatures as a real predictor has them; further ones, or others under the same names, can be given."""

    def __init__(self, **signatures: Signature) -> None:
        super().__init__()
        self.weights = tf.Variable(np.linspace(-2.0, -0.1, 16), dtype=tf.float32, name="weights")
        self.optimizer_state = tf.Variable(tf.zeros([1000]), name="not_read")
        self.other_signatures = signatures

    def signatures(self) -> dict[str, Signature]:
        signatures = {
            "serving_default": Signature(lambda text: {"text": self.shout(text)}, TEXT),
            "greedy": Signature(self.greedy, TEXT),
            "beam": Signature(self.beam, TEXT),
            "score": Signature(self.score, BOTH),
            "align": Signature(self.align, BOTH),
        }
        return signatures | self.other_signatures

    def assets(self) -> dict[str, str]:
        return {"vocabulary.txt": "ä\nb\n"}

    def shout(self, text: tf.Tensor) -> tf.Tensor:
        valid = tf.strings.unicode_transcode(text, "UTF-8", "UTF-8", errors="replace")
        bare = tf.strings.regex_replace(Normalization("NFC").apply(valid), r"^[\s\pZ]+|[\s\pZ]+$", "")
        return tf.strings.upper(bare, encoding="utf-8")

    def tokens(self, text: tf.Tensor) -> tf.RaggedTensor:
        return tf.strings.unicode_split(self.shout(text), "UTF-8")

    def token_scores(self, tokens: tf.RaggedTensor) -> tf.RaggedTensor:
        buckets = tf.strings.to_hash_bucket_fast(tokens.values, 16)
        return tokens.with_values(tf.gather(self.weights, buckets))

    def greedy(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        tokens = self.tokens(text)
        return {
            "text": self.shout(text),
            "score": tf.reduce_sum(self.token_scores(tokens), axis=1),
            "length": tf.cast(tokens.row_lengths(), tf.int32),
        }

    def beam(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        greedy = self.greedy(text)
        answers = {name: tf.stack([value, tf.zeros_like(value)], axis=1) for name, value in greedy.items()}
        return {**answers, "ranked_score": answers["score"]}

    def score(self, text: tf.Tensor, target: tf.Tensor) -> dict[str, tf.Tensor]:
        tokens = self.tokens(target)
        scores = self.token_scores(tokens)
        total = tf.reduce_sum(scores, axis=1) - tf.cast(tf.strings.length(self.shout(text)), tf.float32)
        return {"score": total, "tokens": tokens.to_tensor(), "token_scores": scores.to_tensor()}

    def align(self, text: tf.Tensor, target: tf.Tensor) -> dict[str, tf.Tensor]:
        source = self.tokens(text).to_tensor()
        target = self.tokens(tf.where(tf.strings.length(target) == 0, text, target)).to_tensor()
        same = (source[:, None, :] == target[:, :, None]) & (source[:, None, :] != "")
        return {
            "source_tokens": source,
            "target_tokens": target,
            "alignment": tf.cast(same, tf.float32),
        }
