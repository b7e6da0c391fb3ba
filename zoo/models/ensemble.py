"""Several models that answer as one."""

import keras
from keras import ops

from zoo.models.composed import ComposedModel

__all__ = ["COMBINATIONS", "Ensemble"]


def _log_of_mean(log_probs):
    """Log probabilities (M, ..., V) of members to those of the mean of their probabilities, (..., V)."""
    highest = ops.max(log_probs, axis=0, initial=-float("inf"))
    highest = ops.stop_gradient(ops.where(ops.isfinite(highest), highest, ops.zeros_like(highest)))
    return ops.log(ops.mean(ops.exp(log_probs - highest), axis=0)) + highest


COMBINATIONS = {
    "mean_probability": _log_of_mean,
    "mean_log_probability": lambda log_probs: ops.mean(log_probs, axis=0),
}
"""How the members' opinions become one, by name."""


@keras.saving.register_keras_serializable("zoo")
class Ensemble(ComposedModel):
    """Models of one vocabulary that decide on each token together, behind the protocol of each of them.

    Of the probabilities p_m of M members, it gives as logits::

        log (1/M sum_m p_m)        `mean_probability`, a mixture: what one member believes in stays possible
        1/M sum_m log p_m          `mean_log_probability`, a product: what one member rules out is out;
                                   up to a number that softmax takes away

    Memory and state are tuples of the members' own, and weights are the members'. A model that is there twice
    counts twice. Members may be of different architectures.

    Args:
        models: generating Keras models that take the same sources, at least one.
        combination: one of `COMBINATIONS`.

    Call arguments:
        inputs: what each member takes, such as a dictionary of `source` and `target_ids` (B, T) int.

    Returns:
        (B, T, V) logits of the token after each target id.

    Raises:
        ValueError: there is no model, their vocabularies differ in size, or the combination is not known.
    """

    PARTS = ("models",)

    def __init__(self, models, *, combination: str = "mean_probability", **kwargs) -> None:
        super().__init__(**kwargs)
        self.models = list(models)
        sizes = [model.vocab_size for model in self.models]
        if len(set(sizes)) != 1:
            raise ValueError(
                "An ensemble needs models, at least one, whose vocabularies have one size, got sizes "
                f"{sizes}. Train its members with one tokenizer."
            )
        if combination not in COMBINATIONS:
            raise ValueError(f"combination must be one of {', '.join(COMBINATIONS)}, got {combination!r}.")
        self.combination = combination
        self.built = True

    def build(self, input_shape=None) -> None:
        """Nothing: the members have made their weights."""

    @property
    def vocab_size(self) -> int:
        """Number of target ids, V in shapes."""
        return self.models[0].vocab_size

    def encode(self, source):
        """What each member keeps of the sources, see there."""
        return tuple(model.encode(source) for model in self.models)

    def init_state(self, memory, width: int, max_length: int):
        """Each member's state of `width` hypotheses before the first token: leaves (B, K, ...)."""
        pairs = zip(self.models, memory, strict=True)
        return tuple(model.init_state(own, width, max_length) for model, own in pairs)

    def step(self, token_ids, index, state, memory):
        """One token further, see `zoo.decoders.Seq2SeqModel`."""
        steps = [
            model.step(token_ids, index, own_state, own_memory)
            for model, own_state, own_memory in zip(self.models, state, memory, strict=True)
        ]
        logits, states = zip(*steps, strict=True)
        return self._combine(logits), states

    def call(self, inputs, training=False):
        return self._combine([model(inputs, training=training) for model in self.models])

    @property
    def alignment(self):
        """`alignment(source, target_ids)`, the mean of those of the members, (B, T, S), if all have one.

        Raises:
            AttributeError: a member has none.
        """
        aligns = [model.alignment for model in self.models]

        def align(source, target_ids):
            found = [ops.cast(align(source, target_ids), self.compute_dtype) for align in aligns]
            return ops.mean(ops.stack(found), axis=0)

        return align

    @property
    def aligned_step(self):
        """`aligned_step(token_ids, index, state, memory)`: what `step` gives, and their mean attention.

        Raises:
            AttributeError: a member has none.
        """
        steps = [model.aligned_step for model in self.models]

        def step(token_ids, index, state, memory):
            found = [
                step(token_ids, index, own_state, own_memory)
                for step, own_state, own_memory in zip(steps, state, memory, strict=True)
            ]
            logits, states, alignments = zip(*found, strict=True)
            spread = ops.stack([ops.cast(each, self.compute_dtype) for each in alignments])
            return self._combine(logits), states, ops.mean(spread, axis=0)

        return step

    def source_mask(self, memory):
        """Where the sources of a memory have a token, (B, S) bool; of members with attention."""
        return self.models[0].source_mask(memory[0])

    def get_config(self):
        return {**super().get_config(), "combination": self.combination}

    def _combine(self, logits):
        """Logits (..., V) of the members to those of all, by way of float32."""
        log_probs = [ops.log_softmax(ops.cast(each, "float32"), axis=-1) for each in logits]
        return ops.cast(COMBINATIONS[self.combination](ops.stack(log_probs)), self.compute_dtype)
