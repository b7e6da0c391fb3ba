"""The encoder-decoder: any encoder under any decoder."""

from typing import Any

import keras

from zoo.layers.sizes import require_positive
from zoo.models.attentive import BahdanauDecoder, LuongDecoder
from zoo.models.composed import ComposedModel
from zoo.models.recurrent import RecurrentDecoder, RecurrentEncoder
from zoo.models.transformer import RATES, TransformerDecoder, TransformerEncoder

__all__ = ["RecurrentSeq2Seq", "Seq2Seq", "TransformerSeq2Seq"]


@keras.saving.register_keras_serializable("zoo")
class Seq2Seq(ComposedModel):
    """An encoder under a decoder, with the members that `zoo.decoders.decode` asks for.

    Args:
        encoder: token ids to `zoo.models.Encoded`, such as `RecurrentEncoder` or `TransformerEncoder`.
        decoder: such as `BahdanauDecoder` or `TransformerDecoder`.

    Call arguments:
        inputs: a dictionary of `source` (B, S) int and `target_ids` (B, T) int, where target ids begin with
            START: the decoder is taught with the right past (teacher forcing).

    Returns:
        (B, T, V) logits of the token after each target id.
    """

    PARTS: tuple[str, ...] = ("encoder", "decoder")

    def __init__(self, encoder, decoder, **kwargs) -> None:
        super().__init__(**kwargs)
        self.encoder = encoder
        self.decoder = decoder
        self.build()

    def build(self, input_shape=None) -> None:
        """Make all weights: their shapes follow from the parts alone."""
        if not self.encoder.built:
            self.encoder.build()
        if not self.decoder.built:
            self.decoder.build_for(self.encoder.width, self.encoder.summary_width)
        self.built = True

    @property
    def vocab_size(self) -> int:
        """Number of target ids, V in shapes."""
        return self.decoder.vocab_size

    def encode(self, source, training=False):
        """Sources (B, S) int to all that the decoder may know of them; S at least 1."""
        return self.decoder.memory(self.encoder(source, training=training))

    def init_state(self, memory, width: int, max_length: int):
        """The state of `width` hypotheses before the first token: leaves (B, K, ...)."""
        return self.decoder.init_state(memory, width, max_length)

    def step(self, token_ids, index, state, memory):
        """One token further.

        Args:
            token_ids: (B, K) int, the last token of each hypothesis.
            index: () int, how many tokens came before.
            state: leaves (B, K, ...).
            memory: of the same sources.

        Returns:
            Logits (B, K, V) of the next token, and the state after this one.
        """
        return self.decoder.step(token_ids, index, state, memory)

    def call(self, inputs, training=False):
        return self.decoder(inputs["target_ids"], self.encode(inputs["source"], training), training=training)

    @property
    def alignment(self):
        """`alignment(source, target_ids)`: how a decoder with attention spreads it, (B, T, S).

        Row t belongs to the token after `target_ids[:, t]`, which begin with START, and adds up to 1.

        Raises:
            AttributeError: the decoder has no attention.
        """
        align = self.decoder.alignment
        return lambda source, target_ids: align(target_ids, self.encode(source))

    @property
    def aligned_step(self):
        """`aligned_step(token_ids, index, state, memory)`: what `step` gives, and where it looked, (B, K, S).

        Raises:
            AttributeError: the decoder has no attention.
        """
        return self.decoder.aligned_step

    def source_mask(self, memory):
        """Where the sources of a memory have a token, (B, S) bool; of decoders with attention."""
        return self.decoder.source_mask(memory)


def _luong(score: str):
    return lambda *args, **kwargs: LuongDecoder(*args, score=score, **kwargs)


ATTENTIONS = {
    "none": RecurrentDecoder,
    "bahdanau": BahdanauDecoder,
    "luong_dot": _luong("dot"),
    "luong_scaled_dot": _luong("scaled_dot"),
    "luong_general": _luong("general"),
    "luong_concat": _luong("concat"),
}


@keras.saving.register_keras_serializable("zoo")
class RecurrentSeq2Seq(Seq2Seq):
    """Recurrent encoder and decoder, with attention or without.

    The defaults are RNNsearch by Bahdanau, Cho & Bengio (2015), "Neural machine translation by jointly
    learning to align and translate", with LSTMs in place of GRUs. Other architectures of the field are::

        Cho et al. (2014)          cell="gru", direction="forward", attention="none"
        Sutskever et al. (2014)    depth=4, direction="backward", attention="none"
        Luong et al. (2015)        depth=4, direction="forward", attention="luong_general"

    Args:
        source_vocab_size: number of source ids; id 0 is padding.
        vocab_size: number of target ids, V in shapes.
        embedding_dim: size of source and target embeddings.
        encoder_units: size of the encoder's states, in each direction.
        decoder_units: size of the decoder's states.
        cell: `rnn`, `gru` or `lstm`.
        depth: number of layers, in the encoder and in the decoder.
        direction: of the encoder, `forward`, `backward` or `bidirectional`.
        attention: `none`, `bahdanau`, or `luong_` with `dot`, `scaled_dot`, `general` or `concat`.
        dropout: rate of dropout on the embeddings, between layers of the encoder, and before the readout.

    Call arguments and result: see `Seq2Seq`.

    Raises:
        ValueError: a name is not known, a size is less than 1, the dropout is no rate, or states and values,
            which `luong_dot` and `luong_scaled_dot` compare as they are, have unlike sizes.
    """

    PARTS = ()

    def __init__(
        self,
        source_vocab_size: int,
        vocab_size: int,
        *,
        embedding_dim: int = 64,
        encoder_units: int = 64,
        decoder_units: int = 128,
        cell: str = "lstm",
        depth: int = 1,
        direction: str = "bidirectional",
        attention: str = "bahdanau",
        dropout: float = 0.0,
        **kwargs,
    ) -> None:
        if attention not in ATTENTIONS:
            raise ValueError(f"attention must be one of {', '.join(ATTENTIONS)}, got {attention!r}.")
        shared: dict[str, Any] = {
            "embedding_dim": embedding_dim,
            "cell": cell,
            "depth": depth,
            "dropout": dropout,
            "dtype": kwargs.get("dtype"),
        }
        encoder = RecurrentEncoder(
            source_vocab_size, encoder_units, direction=direction, name="encoder", **shared
        )
        decoder = ATTENTIONS[attention](vocab_size, decoder_units, name="decoder", **shared)
        super().__init__(encoder, decoder, **kwargs)
        self.attention = attention

    def get_config(self):
        encoder, decoder = self.encoder, self.decoder
        own = {
            "source_vocab_size": encoder.vocab_size,
            "vocab_size": decoder.vocab_size,
            "embedding_dim": encoder.embedding_dim,
            "encoder_units": encoder.units,
            "decoder_units": decoder.units,
            "cell": encoder.cell,
            "depth": encoder.depth,
            "direction": encoder.direction,
            "attention": self.attention,
            "dropout": encoder.dropout,
        }
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("zoo")
class TransformerSeq2Seq(Seq2Seq):
    """The Transformer of Vaswani et al. (2017), "Attention is all you need".

    Args:
        source_vocab_size: number of source ids; id 0 is padding.
        vocab_size: number of target ids, V in shapes.
        width: size of every vector, D in shapes.
        depth: number of blocks, in the encoder and in the decoder.
        heads: number of heads.
        units: size of the hidden layer of the feed-forward networks.
        positions, activation, norm, dropout, attention_dropout, activation_dropout: see `TransformerEncoder`.
        max_length: greatest length of sources and targets, for learned positions.
        shared_embedding: one matrix reads sources and targets and says targets, as in section 3.4 of the
            paper; it takes one vocabulary for both.

    Call arguments and result: see `Seq2Seq`.

    Raises:
        ValueError: a name is not known, a size is less than 1, the dropout is no rate, the heads do not
            divide the width, two vocabularies are to share an embedding, or, in a call, a sequence is longer
            than its learned positions.
    """

    PARTS = ()

    def __init__(
        self,
        source_vocab_size: int,
        vocab_size: int,
        *,
        width: int = 128,
        depth: int = 2,
        heads: int = 4,
        units: int = 256,
        positions: str = "sinusoidal",
        activation: str = "relu",
        norm: str = "post",
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation_dropout: float = 0.0,
        max_length: int = 512,
        shared_embedding: bool = False,
        **kwargs,
    ) -> None:
        _require_vocabularies(source_vocab_size, vocab_size, shared_embedding)
        shared: dict[str, Any] = {
            "width": width,
            "depth": depth,
            "heads": heads,
            "units": units,
            "positions": positions,
            "activation": activation,
            "norm": norm,
            "dropout": dropout,
            "attention_dropout": attention_dropout,
            "activation_dropout": activation_dropout,
            "max_length": max_length,
            "dtype": kwargs.get("dtype"),
        }
        encoder = TransformerEncoder(source_vocab_size, name="encoder", **shared)
        one = encoder.embedding if shared_embedding else None
        decoder = TransformerDecoder(vocab_size, name="decoder", embedding=one, **shared)
        super().__init__(encoder, decoder, **kwargs)
        self.shared_embedding = shared_embedding

    def encode(self, source, training=False):
        self._require_positions("source", source.shape[1])
        return super().encode(source, training)

    def init_state(self, memory, width: int, max_length: int):
        self._require_positions("A hypothesis", max_length)
        return super().init_state(memory, width, max_length)

    def call(self, inputs, training=False):
        self._require_positions("target_ids", inputs["target_ids"].shape[1])
        return super().call(inputs, training)

    def _require_positions(self, name: str, length: int | None) -> None:
        """What is known of a length when a graph is made; `LearnedPositions` says what happens to others."""
        known = self.encoder.max_length
        if self.encoder.positions == "learned" and length is not None and length > known:
            raise ValueError(
                f"{name} may have {length} tokens, but this model has learned positions for {known}: "
                "make it with a greater max_length, or give shorter sequences."
            )

    def get_config(self):
        own = ("width", "depth", "heads", "units", "positions", "activation", "norm", *RATES, "max_length")
        sizes = {"source_vocab_size": self.encoder.vocab_size, "vocab_size": self.decoder.vocab_size}
        shared = {name: getattr(self.encoder, name) for name in own}
        return {**super().get_config(), **sizes, **shared, "shared_embedding": self.shared_embedding}


def _require_vocabularies(source_vocab_size: int, vocab_size: int, shared: bool) -> None:
    require_positive(source_vocab_size=source_vocab_size)  # encoder and decoder name the other sizes
    if shared and source_vocab_size != vocab_size:
        raise ValueError(
            "One embedding for sources and targets needs one vocabulary for both, got "
            f"source_vocab_size={source_vocab_size} and vocab_size={vocab_size}."
        )
