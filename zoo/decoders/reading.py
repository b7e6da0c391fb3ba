"""How the loop asks a model: for what may follow, and, where a strategy wants it, for where it has looked."""

from typing import Any, NamedTuple

import tensorflow as tf

from zoo.decoders.next_tokens import NextTokens
from zoo.decoders.protocol import Seq2SeqModel, Strategy

__all__ = ["NEVER_LOOKED_AT", "CoverageReading", "CoveredState", "Reading", "log_coverage", "reading_of"]

NEVER_LOOKED_AT = 1e-6
"""The least attention that a source position counts as having had, so that its logarithm is finite."""


class Reading:
    """What the loop knows of a model, plain.

    Args:
        model: see `Seq2SeqModel`.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def init_state(self, memory: Any, width: int, max_length: int) -> Any:
        """State before the first token, leaves (B, K, ...)."""
        return self.model.init_state(memory, width, max_length)

    def following(self, token_ids: Any, index: Any, state: Any, memory: Any) -> tuple[NextTokens, Any]:
        """Last tokens (B, K) and their position () to what may come next, and the next state."""
        logits, state = self.model.step(token_ids, index, state, memory)
        return NextTokens.of(logits), state


class CoveredState(NamedTuple):
    """A model's state, and how much its hypotheses have looked at each source position."""

    own: Any
    """Leaves (B, K, ...)."""
    coverage: tf.Tensor
    """(B, K, S) float32: the sum of the attention of all steps so far."""


class CoverageReading(Reading):
    """With `NextTokens.coverage`; as part of the state, the coverage of a hypothesis is handed to its heirs.

    Args:
        model: see `AligningModel`.

    Raises:
        ValueError: the model does not say where it looks.
    """

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        if not hasattr(model, "aligned_step"):  # not `isinstance`, which does not ask properties
            raise ValueError(
                "A coverage penalty needs a model that says at each step where it looks (`aligned_step`, see "
                f"zoo.decoders.AligningModel), and this {type(model).__name__} has no attention. Leave "
                "coverage_penalty at 0, or take a decoder with attention."
            )

    def init_state(self, memory: Any, width: int, max_length: int) -> CoveredState:
        own = super().init_state(memory, width, max_length)
        nothing = tf.zeros_like(self.model.source_mask(memory), tf.float32)
        return CoveredState(own, tf.repeat(nothing[:, None], width, axis=1))

    def following(
        self, token_ids: Any, index: Any, state: CoveredState, memory: Any
    ) -> tuple[NextTokens, CoveredState]:
        logits, own, alignment = self.model.aligned_step(token_ids, index, state.own, memory)
        coverage = state.coverage + tf.cast(alignment, tf.float32)
        told = log_coverage(coverage, self.model.source_mask(memory))
        return NextTokens.of(logits, coverage=told), CoveredState(own, coverage)


def log_coverage(coverage: tf.Tensor, source_mask: tf.Tensor) -> tf.Tensor:
    """The sum in the coverage penalty of Wu et al. (2016), equation 14::

        sum over source positions i of log(min(sum over target positions j of p_ij, 1))

    Only positions where the source has a token count, and one that had less attention than 1e-6 counts as
    having had that.

    Args:
        coverage: (B, K, S) float32, the attention p_ij that each position has had of all steps.
        source_mask: (B, S) bool, True where the source has a token.

    Returns:
        (B, K) float32, at most 0.
    """
    logs = tf.math.log(tf.clip_by_value(coverage, NEVER_LOOKED_AT, 1.0))
    return tf.reduce_sum(tf.where(source_mask[:, None], logs, 0.0), axis=2)


def reading_of(model: Seq2SeqModel, strategy: Strategy) -> Reading:
    """How a strategy wants a model to be asked.

    Raises:
        ValueError: it asks for where the model looks, and the model does not say it.
    """
    return CoverageReading(model) if strategy.needs_coverage else Reading(model)
