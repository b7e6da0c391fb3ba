"""The encoder-decoder with recurrent layers and attention, RNNsearch."""

from typing import Any, NamedTuple

import keras
from keras import ops

from zoo.layers import LSTM, AttentiveLSTM, AttentiveState, MaxoutReadout, padding_mask
from zoo.tokenizers.specials import PAD

__all__ = ["RecurrentMemory", "RecurrentSeq2Seq"]


class RecurrentMemory(NamedTuple):
    """All that the decoder may know of the sources."""

    values: Any
    """(B, S, 2E) what both directions of the encoder say of each position."""
    keys: Any
    """(B, S, A) the values, projected for the attention."""
    mask: Any
    """(B, S) bool, True where the source has a token."""
    start: AttentiveState
    """State before the first token: leaves (B, ...)."""


@keras.saving.register_keras_serializable("zoo")
class RecurrentSeq2Seq(keras.Model):
    """Bidirectional LSTM encoder, additive attention, LSTM decoder, maxout readout.

    The architecture is RNNsearch by Bahdanau, Cho & Bengio (2015), "Neural machine translation by jointly
    learning to align and translate", with LSTMs in place of GRUs. The decoder begins at
    `tanh(W h)`, h being the backward encoder's state at the first source token (appendix A.2.2).

    Args:
        source_vocab_size: number of source ids; id 0 is padding.
        vocab_size: number of target ids, V in shapes.
        embedding_dim: size of source and target embeddings.
        encoder_units: size of the encoder's state in each direction, E in shapes.
        decoder_units: size of the decoder's state, U in shapes.
        attention_units: size of the hidden layer of the attention, A in shapes.
        readout_units: size of the maxout layer.
        dropout: rate of dropout on the embeddings and before the readout.

    Call arguments:
        inputs: a dictionary of `source` (B, S) int and `target_ids` (B, T) int, where target ids begin with
            START: the decoder is taught with the right past (teacher forcing).

    Returns:
        (B, T, V) logits of the token after each target id.
    """

    def __init__(
        self,
        source_vocab_size: int,
        vocab_size: int,
        *,
        embedding_dim: int = 64,
        encoder_units: int = 64,
        decoder_units: int = 128,
        attention_units: int = 64,
        readout_units: int = 64,
        dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.source_vocab_size = source_vocab_size
        self.vocab_size = vocab_size
        self.embedding_dim = embedding_dim
        self.encoder_units = encoder_units
        self.decoder_units = decoder_units
        self.attention_units = attention_units
        self.readout_units = readout_units
        self.dropout = dropout

        policy = self.dtype_policy

        def embedding(size: int, name: str) -> keras.layers.Embedding:
            return keras.layers.Embedding(size, embedding_dim, dtype=policy, name=name)

        self.source_embedding = embedding(source_vocab_size, "source_embedding")
        self.target_embedding = embedding(vocab_size, "target_embedding")
        self.embedding_dropout = keras.layers.Dropout(dropout, dtype=policy, name="embedding_dropout")
        self.forward_encoder = LSTM(encoder_units, dtype=policy, name="forward_encoder")
        self.backward_encoder = LSTM(
            encoder_units, direction="backward", dtype=policy, name="backward_encoder"
        )
        self.start_projection = keras.layers.Dense(
            2 * decoder_units, activation="tanh", dtype=policy, name="start_projection"
        )
        self.decoder = AttentiveLSTM(decoder_units, attention_units, dtype=policy, name="decoder")
        self.readout_dropout = keras.layers.Dropout(dropout, dtype=policy, name="readout_dropout")
        self.readout = MaxoutReadout(vocab_size, units=readout_units, dtype=policy, name="readout")
        self.build()

    def build(self, input_shape=None) -> None:
        """Make all weights: their shapes follow from the constructor's arguments alone."""
        embedded = (None, None, self.embedding_dim)
        values = (None, None, 2 * self.encoder_units)
        self.source_embedding.build((None, None))
        self.target_embedding.build((None, None))
        self.forward_encoder.build(embedded)
        self.backward_encoder.build(embedded)
        self.start_projection.build((None, self.encoder_units))
        self.decoder.build(embedded, None, (None, None, self.attention_units), values)
        self.readout.build((None, None, self.decoder_units + self.embedding_dim + values[-1]))
        self.built = True

    def encode(self, source, training=False) -> RecurrentMemory:
        """Sources (B, S) int to all that the decoder may know of them; S at least 1."""
        mask = padding_mask(source, PAD)
        embedded = self.embedding_dropout(self.source_embedding(source), training=training)
        forward, _ = self.forward_encoder(embedded, mask)
        backward, final = self.backward_encoder(embedded, mask)
        values = ops.concatenate([forward, backward], axis=-1)
        hidden, cell = ops.split(self.start_projection(final.hidden), 2, axis=-1)
        context = ops.zeros_like(values[:, 0])
        keys = self.decoder.attention.project_keys(values)
        return RecurrentMemory(values, keys, mask, AttentiveState(hidden, cell, context))

    def init_state(self, memory: RecurrentMemory, width: int, max_length: int) -> AttentiveState:
        """The state of `width` hypotheses before the first token: leaves (B, K, ...)."""
        return AttentiveState(*(ops.repeat(leaf[:, None], width, axis=1) for leaf in memory.start))

    def step(self, token_ids, index, state: AttentiveState, memory: RecurrentMemory):
        """One token further.

        Args:
            token_ids: (B, K) int, the last token of each hypothesis.
            index: () int, how many tokens came before; a recurrent model keeps count itself.
            state: leaves (B, K, ...).
            memory: of the same sources.

        Returns:
            Logits (B, K, V) of the next token, and the state after this one.
        """
        embedded = self.target_embedding(token_ids)
        projected = self.decoder.cell.project(embedded)
        state = self.decoder.step(projected, state, memory.keys, memory.values, memory.mask)
        return self._logits(embedded, state), state

    def call(self, inputs, training=False):
        memory = self.encode(inputs["source"], training)
        embedded = self.embedding_dropout(self.target_embedding(inputs["target_ids"]), training=training)
        return self._logits(embedded, self._run(embedded, memory), training)

    def alignment(self, source, target_ids):
        """How the decoder's steps spread their attention over the source, teacher forced.

        Args:
            source: (B, S) int.
            target_ids: (B, T) int, beginning with START.

        Returns:
            (B, T, S): row t belongs to the token after `target_ids[:, t]`, and adds up to 1.
        """
        memory = self.encode(source)
        states = self._run(self.target_embedding(target_ids), memory)
        start = self.init_state(memory, 1, 1)
        return self.decoder.alignment(states, start, memory.keys, memory.mask)

    def _run(self, embedded, memory: RecurrentMemory) -> AttentiveState:
        start = self.init_state(memory, 1, 1)
        return self.decoder(embedded, start, memory.keys, memory.values, memory.mask)

    def _logits(self, embedded, state: AttentiveState, training=False):
        read = ops.concatenate([state.hidden, embedded, state.context], axis=-1)
        return self.readout(self.readout_dropout(read, training=training))

    def get_config(self):
        own = (
            "source_vocab_size",
            "vocab_size",
            "embedding_dim",
            "encoder_units",
            "decoder_units",
            "attention_units",
            "readout_units",
            "dropout",
        )
        return {**super().get_config(), **{name: getattr(self, name) for name in own}}
