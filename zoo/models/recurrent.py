"""Recurrent encoders and decoders, for `zoo.models.Seq2Seq`."""

from typing import Any, NamedTuple

import keras
from keras import ops, tree

from zoo.layers import Projection, RecurrentStack, climb, make_cell, padding_mask, scan
from zoo.layers.sizes import require_positive, require_rate
from zoo.models.encoded import Encoded
from zoo.tokenizers.specials import PAD

__all__ = ["DecoderState", "RecurrentDecoder", "RecurrentEncoder", "RecurrentMemory"]


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
        return self.stack.summary_width

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
