"""Recurrent decoders that look at the source, for `zoo.models.Seq2Seq`."""

from typing import Any

import keras
from keras import ops, tree

from zoo.layers import (
    AdditiveAttention,
    Attention,
    DotAttention,
    GeneralAttention,
    MaxoutReadout,
    Projection,
    ScaledDotAttention,
    climb,
)
from zoo.models.encoded import Encoded
from zoo.models.recurrent import DecoderState, RecurrentDecoder, RecurrentMemory

__all__ = ["BahdanauDecoder", "LuongDecoder"]


class _AttentiveDecoder(RecurrentDecoder):
    """A recurrent decoder that looks at what the encoder says of each position."""

    attention: Attention

    def memory(self, encoded: Encoded) -> RecurrentMemory:
        start = super().memory(encoded).start
        nothing = (ops.shape(encoded.values)[0], self.read_width(encoded.values.shape[-1]))
        read = ops.zeros(nothing, encoded.values.dtype)
        keys = self.attention.project_keys(encoded.values)
        return RecurrentMemory(encoded.values, keys, encoded.mask, DecoderState(start.cells, read))

    def read_width(self, width: int) -> int:
        """Size of what is read, for values of size `width`."""
        raise NotImplementedError

    def queries(self, states: DecoderState, start: DecoderState):
        """What the attention of each step of a run asked with, (B, T, D)."""
        raise NotImplementedError

    def query(self, before: DecoderState, after: DecoderState):
        """What the attention of one step asked with, (B, K, D)."""
        raise NotImplementedError

    def aligned_step(self, token_ids, index, state: DecoderState, memory: RecurrentMemory):
        """What `step` gives, and where it looked, (B, K, S): a row of what `alignment` says of the target."""
        embedded = self.embedding(token_ids)
        after = self.advance(self.cells[0].project(embedded), state, memory)
        alignment = self.attention.alignment(self.query(state, after), memory.keys, memory.mask)
        return self.readout(self.features(embedded, after)), after, alignment

    def source_mask(self, memory: RecurrentMemory):
        """(B, S) bool, True where the source has a token."""
        return memory.mask

    def alignment(self, target_ids, memory: RecurrentMemory):
        """How the steps of a teacher-forced run spread their attention over the source, (B, T, S)."""
        states = self.run(self.embedding(target_ids), memory)
        queries = self.queries(states, self.init_state(memory, 1, 1))
        return self.attention.alignment(queries, memory.keys, memory.mask)


@keras.saving.register_keras_serializable("zoo")
class BahdanauDecoder(_AttentiveDecoder):
    """The decoder of Bahdanau, Cho & Bengio (2015), appendix A.2.2, with any cell in place of the GRU.

    Step i looks at the memory with the state that it comes from, and reads what it found beside its token y::

        c_i = attention(s_{i-1}, memory)
        s_i = cell([y; c_i], s_{i-1})
        logits = maxout readout of [s_i; y; c_i]

    s_0 is made of the final state of the encoder's last direction, which in a bidirectional one is backward:
    what the forward one knows is in the memory. With several layers, s is the uppermost state, and c_i enters
    the lowest layer. The size of the attention's hidden layer is that of the state; the maxout layer has half
    of it.

    Args:
        vocab_size, units, embedding_dim, cell, depth, dropout: see `RecurrentDecoder`.
    """

    def __init__(self, vocab_size: int, units: int, **kwargs) -> None:
        super().__init__(vocab_size, units, **kwargs)
        policy = self.dtype_policy
        self.attention = AdditiveAttention(units, dtype=policy, name="attention")
        self.context_projection = Projection(
            self.cells[0].products * units, use_bias=False, dtype=policy, name="context_projection"
        )

    def make_readout(self) -> keras.layers.Layer:
        half = max(1, self.units // 2)
        return MaxoutReadout(self.vocab_size, units=half, dtype=self.dtype_policy, name="readout")

    def build_for(self, width: int, summary_width: Any) -> None:
        super().build_for(width, summary_width)
        self.attention.build((None, None, self.units), None, (None, None, width))
        self.context_projection.build((None, None, width))

    def starting_from(self, summary: Any) -> list[Any]:
        """The last direction alone."""
        return tree.flatten(summary)[-1:]

    def features_width(self, width: int) -> int:
        return self.units + self.embedding_dim + width

    def read_width(self, width: int) -> int:
        return width

    def advance(self, projected, state: DecoderState, memory: RecurrentMemory) -> DecoderState:
        context = self.attention(state.cells[-1].hidden, memory.keys, memory.values, memory.mask)
        return DecoderState(
            climb(self.cells, projected + self.context_projection(context), state.cells), context
        )

    def query(self, before: DecoderState, after: DecoderState):
        return before.cells[-1].hidden

    def features(self, embedded, state: DecoderState):
        return ops.concatenate([state.cells[-1].hidden, embedded, state.read], axis=-1)

    def queries(self, states: DecoderState, start: DecoderState):
        return ops.concatenate([start.cells[-1].hidden, states.cells[-1].hidden[:, :-1]], axis=1)


LUONG_SCORES = {
    "dot": lambda units, **kwargs: DotAttention(**kwargs),
    "scaled_dot": lambda units, **kwargs: ScaledDotAttention(**kwargs),
    "general": GeneralAttention,
    "concat": AdditiveAttention,
}


@keras.saving.register_keras_serializable("zoo")
class LuongDecoder(_AttentiveDecoder):
    """The decoder of Luong, Pham & Manning (2015), with global attention and input feeding (section 3.3).

    Step i looks at the memory with its own new state, and hands what it made of it to the next step::

        s_i = cell([y; a_{i-1}], s_{i-1})
        c_i = attention(s_i, memory)
        a_i = tanh(W [c_i; s_i])
        logits = W' a_i + b

    Args:
        vocab_size, units, embedding_dim, cell, depth, dropout: see `RecurrentDecoder`.
        score: `dot`, `scaled_dot`, `general` or `concat`; the first two need an encoder whose values have the
            size of the state.

    Raises:
        ValueError: the score is not known.
    """

    def __init__(self, vocab_size: int, units: int, *, score: str = "general", **kwargs) -> None:
        super().__init__(vocab_size, units, **kwargs)
        if score not in LUONG_SCORES:
            raise ValueError(f"score must be one of {', '.join(LUONG_SCORES)}, got {score!r}.")
        self.score = score
        policy = self.dtype_policy
        self.attention = LUONG_SCORES[score](units, dtype=policy, name="attention")
        self.feeding = Projection(
            self.cells[0].products * units, use_bias=False, dtype=policy, name="feeding"
        )
        self.combination = Projection(
            units, activation="tanh", use_bias=False, dtype=policy, name="combination"
        )

    def build_for(self, width: int, summary_width: Any) -> None:
        super().build_for(width, summary_width)
        self.attention.build((None, None, self.units), None, (None, None, width))
        self.feeding.build((None, None, self.units))
        self.combination.build((None, None, width + self.units))

    def read_width(self, width: int) -> int:
        return self.units

    def advance(self, projected, state: DecoderState, memory: RecurrentMemory) -> DecoderState:
        cells = climb(self.cells, projected + self.feeding(state.read), state.cells)
        context = self.attention(cells[-1].hidden, memory.keys, memory.values, memory.mask)
        return DecoderState(cells, self.combination(ops.concatenate([context, cells[-1].hidden], axis=-1)))

    def query(self, before: DecoderState, after: DecoderState):
        return after.cells[-1].hidden

    def features(self, embedded, state: DecoderState):
        return state.read

    def queries(self, states: DecoderState, start: DecoderState):
        return states.cells[-1].hidden

    def get_config(self):
        return {**super().get_config(), "score": self.score}
