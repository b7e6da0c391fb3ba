"""Recurrent encoders and decoders, for `zoo.models.Seq2Seq`."""

from typing import Any, NamedTuple

import keras
from keras import ops, tree

from zoo.layers import (
    AdditiveAttention,
    Attention,
    DotAttention,
    GeneralAttention,
    MaxoutReadout,
    Projection,
    RecurrentStack,
    ScaledDotAttention,
    climb,
    make_cell,
    padding_mask,
    scan,
)
from zoo.layers.sizes import require_positive, require_rate
from zoo.models.encoded import Encoded
from zoo.tokenizers.specials import PAD

__all__ = ["BahdanauDecoder", "LuongDecoder", "RecurrentDecoder", "RecurrentEncoder"]


class RecurrentMemory(NamedTuple):
    """All that a recurrent decoder may know of the sources."""

    values: Any
    """(B, S, D) what the encoder says of each position; () where there is no attention."""
    keys: Any
    """(B, S, U) the values, projected for the attention; () where there is none."""
    mask: Any
    """(B, S) bool, True where the source has a token."""
    start: Any
    """State before the first token: leaves (B, ...)."""


class DecoderState(NamedTuple):
    """What a recurrent decoder hands from step to step."""

    cells: Any
    """The state of each layer's cell, leaves (B, K, D)."""
    read: Any
    """(B, K, D) what was read in the memory last; () where there is no attention."""


@keras.saving.register_keras_serializable("zoo")
class _RecurrentPart(keras.layers.Layer):
    """What encoder and decoder share: sizes, and the embedding."""

    def __init__(
        self,
        vocab_size: int,
        units: int,
        *,
        embedding_dim: int,
        cell: str = "lstm",
        depth: int = 1,
        dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        require_positive(vocab_size=vocab_size, units=units, embedding_dim=embedding_dim, depth=depth)
        require_rate(dropout=dropout)
        self.vocab_size = vocab_size
        self.units = units
        self.embedding_dim = embedding_dim
        self.cell = cell
        self.depth = depth
        self.dropout = dropout
        policy = self.dtype_policy
        self.embedding = keras.layers.Embedding(vocab_size, embedding_dim, dtype=policy, name="embedding")
        self.embedding_dropout = keras.layers.Dropout(dropout, dtype=policy, name="embedding_dropout")

    def embed(self, ids, training=False):
        """Ids (..., T) to vectors (..., T, I)."""
        return self.embedding_dropout(self.embedding(ids), training=training)

    def get_config(self):
        own = ("vocab_size", "units", "embedding_dim", "cell", "depth", "dropout")
        return {**super().get_config(), **{name: getattr(self, name) for name in own}}


@keras.saving.register_keras_serializable("zoo")
class RecurrentEncoder(_RecurrentPart):
    """Token ids through recurrent layers.

    Args:
        vocab_size: number of source ids; id 0 is padding.
        units: size of each state.
        embedding_dim: size of the embeddings.
        cell, depth, direction: see `zoo.layers.RecurrentStack`.
        dropout: rate of dropout on the embeddings and between layers.

    Call arguments:
        source: (B, S) int, S at least 1.

    Returns:
        `Encoded`; its summary is the final states of all layers, (B, depth * units) of each direction:
        forward after the last token, backward after the first.

    Raises:
        ValueError: a size is less than 1, the dropout is no rate, or a name is not known.
    """

    def __init__(self, vocab_size: int, units: int, *, direction: str = "bidirectional", **kwargs) -> None:
        super().__init__(vocab_size, units, **kwargs)
        self.direction = direction
        own = {name: getattr(self, name) for name in ("cell", "depth", "direction", "dropout")}
        self.stack = RecurrentStack(units, **own, dtype=self.dtype_policy, name="stack")

    def build(self, source_shape=None) -> None:
        self.embedding.build((None, None))
        self.stack.build((None, None, self.embedding_dim))
        self.built = True

    @property
    def width(self) -> int:
        """Size of the values, D."""
        return self.stack.width

    @property
    def summary_width(self) -> tuple[int, ...]:
        """Size of the summary of each direction."""
        return (self.depth * self.units,) * (self.width // self.units)

    def call(self, source, training=False) -> Encoded:
        mask = padding_mask(source, PAD)
        values, summary = self.stack(self.embed(source, training), mask, training=training)
        return Encoded(values, mask, summary)

    def get_config(self):
        return {**super().get_config(), "direction": self.direction}


@keras.saving.register_keras_serializable("zoo")
class RecurrentDecoder(_RecurrentPart):
    """A recurrent decoder that knows the source by its initial state alone (Sutskever et al. 2014).

    All states begin at `tanh(W s)`, s being the encoder's summary, in both directions if it has two; so do
    the cells of an LSTM, which the papers with this start, Cho et al. (2014) and Bahdanau et al. (2015), have
    not. Each token is embedded and goes up through the layers; the logits are read off the uppermost. The
    product of the first layer with the tokens of a whole target is made at once.

    Args:
        vocab_size: number of target ids, V in shapes.
        units: size of each state.
        embedding_dim: size of the embeddings.
        cell: `rnn`, `gru` or `lstm`.
        depth: number of layers.
        dropout: rate of dropout on the embeddings and before the logits.

    Call arguments:
        target_ids: (B, T) int, beginning with START: the decoder is taught with the right past.
        memory: what `memory(encoded)` gave.

    Returns:
        (B, T, V) logits of the token after each target id.

    Raises:
        ValueError: a size is less than 1, the dropout is no rate, or the cell is not known.
    """

    def __init__(self, vocab_size: int, units: int, **kwargs) -> None:
        super().__init__(vocab_size, units, **kwargs)
        policy, cell = self.dtype_policy, self.cell
        self.cells = [make_cell(cell, units, dtype=policy, name=f"{cell}_{n}") for n in range(self.depth)]
        self.start_projection = Projection(
            self._leaf_count() * units, activation="tanh", dtype=policy, name="start_projection"
        )
        self.readout_dropout = keras.layers.Dropout(self.dropout, dtype=policy, name="readout_dropout")
        self.readout = self.make_readout()
        self.supports_jit = (
            False  # XLA cannot differentiate the loop over a length that the graph does not know
        )

    def make_readout(self) -> keras.layers.Layer:
        """The layer from `features` to logits."""
        return Projection(self.vocab_size, dtype=self.dtype_policy, name="readout")

    def build_for(self, width: int, summary_width: Any) -> None:
        """Make all weights, for an encoder with values and a summary of these sizes."""
        self.embedding.build((None, None))
        self.start_projection.build((None, sum(self.starting_from(summary_width))))
        for number, cell in enumerate(self.cells):
            cell.build_for(self.units if number else self.embedding_dim)
        self.readout.build((None, None, self.features_width(width)))
        self.built = True

    def features_width(self, width: int) -> int:
        """Size of what the logits are read off, for values of that size."""
        return self.units

    def starting_from(self, summary: Any) -> list[Any]:
        """Which directions of an encoder's summary, or of their sizes, the decoder starts from: all."""
        return tree.flatten(summary)

    def memory(self, encoded: Encoded) -> RecurrentMemory:
        """What the decoder will know of the sources, made once for all steps and hypotheses."""
        summary = ops.concatenate(self.starting_from(encoded.summary), axis=-1)
        leaves = ops.split(self.start_projection(summary), self._leaf_count(), axis=-1)
        state = self.cells[0].State
        size = len(state._fields)
        cells = tuple(state(*leaves[n * size : (n + 1) * size]) for n in range(self.depth))
        return RecurrentMemory((), (), encoded.mask, DecoderState(cells, ()))

    def init_state(self, memory: RecurrentMemory, width: int, max_length: int) -> DecoderState:
        """The state of `width` hypotheses before the first token: leaves (B, K, ...)."""
        return tree.map_structure(lambda leaf: ops.repeat(leaf[:, None], width, axis=1), memory.start)

    def step(self, token_ids, index, state: DecoderState, memory: RecurrentMemory):
        """One token further, see `zoo.decoders.Seq2SeqModel`; a recurrent decoder keeps count itself."""
        embedded = self.embedding(token_ids)
        state = self.advance(self.cells[0].project(embedded), state, memory)
        return self.readout(self.features(embedded, state)), state

    def call(self, target_ids, memory: RecurrentMemory, training=False):
        embedded = self.embed(target_ids, training)
        features = self.features(embedded, self.run(embedded, memory))
        return self.readout(self.readout_dropout(features, training=training))

    def run(self, embedded, memory: RecurrentMemory) -> DecoderState:
        """The states after each of the embedded tokens (B, T, D), leaves (B, T, ...)."""
        projected = ops.transpose(self.cells[0].project(embedded), (1, 0, 2))[:, :, None, :]
        start = self.init_state(memory, 1, 1)
        states = scan(lambda state, current: self.advance(current, state, memory), start, projected)
        return tree.map_structure(lambda leaf: ops.transpose(leaf[:, :, 0], (1, 0, 2)), states)

    def advance(self, projected, state: DecoderState, memory: RecurrentMemory) -> DecoderState:
        """One step: the first layer's product with the token (B, K, G * units), and the state before it."""
        return DecoderState(climb(self.cells, projected, state.cells), ())

    def features(self, embedded, state: DecoderState):
        """What the logits are read off, (B, T, D)."""
        return state.cells[-1].hidden

    def _leaf_count(self) -> int:
        return self.depth * len(self.cells[0].State._fields)


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

    def features(self, embedded, state: DecoderState):
        return state.read

    def queries(self, states: DecoderState, start: DecoderState):
        return states.cells[-1].hidden

    def get_config(self):
        return {**super().get_config(), "score": self.score}
