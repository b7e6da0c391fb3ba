"""Transformer encoders and decoders, for `zoo.models.Seq2Seq`."""

from typing import Any, NamedTuple

import keras
from keras import ops

from zoo.layers import (
    CausalBlock,
    DecoderBlock,
    EncoderBlock,
    KeysValues,
    LayerNorm,
    LearnedPositions,
    Place,
    RotaryPositions,
    SinusoidalPositions,
    TiedEmbedding,
    causal_mask,
    empty_cache,
    padding_mask,
)
from zoo.layers.sizes import require_positive, require_rate
from zoo.models.encoded import Encoded
from zoo.models.prompt import Prompt, going_on
from zoo.tokenizers.specials import PAD

__all__ = ["POSITIONS", "RATES", "CausalTransformer", "TransformerDecoder", "TransformerEncoder"]

POSITIONS = ("sinusoidal", "learned", "rotary", "none")
"""How a Transformer is told where a token stands."""

RATES = ("dropout", "attention_dropout", "activation_dropout")
"""The arguments that say where numbers are dropped."""

SIZES = ("vocab_size", "width", "depth", "heads", "units", "max_length")
"""The arguments that count something."""


class TransformerMemory(NamedTuple):
    """All that a Transformer's decoder may know of the sources."""

    layers: Any
    """`KeysValues` of each block's cross-attention, leaves (B, H, S, D / H)."""
    mask: Any
    """(B, 1, S) bool, True where the source has a token."""


class PromptMemory(NamedTuple):
    """All that a Transformer with a decoder alone may know of the prompts."""

    layers: Any
    """`KeysValues` of each block's self-attention, of all tokens but the last, leaves (B, H, P, D / H)."""
    mask: Any
    """(B, P) bool, True where the prompt has one of these tokens."""
    length: Any
    """(B,) int: the position of the last token."""
    last: Any
    """(B,) int: the last token; START of an empty prompt."""


@keras.saving.register_keras_serializable("zoo")
class _Transformer(keras.layers.Layer):
    """What encoder and decoder share: embedding, positions, blocks.

    Args:
        vocab_size: number of ids, V in shapes; id 0 is padding.
        width: size of every vector, D in shapes.
        depth: number of blocks.
        heads: number of heads, H in shapes.
        units: size of the hidden layer of the feed-forward networks.
        positions: one of `POSITIONS`.
        activation, norm, attention_dropout, activation_dropout: see `zoo.layers.EncoderBlock`.
        dropout: see there, and on embeddings.
        max_length: greatest length, for learned positions.
        embedding: of another part, if this one is to read and say tokens with the same matrix.

    Raises:
        ValueError: a size is less than 1, the dropout is no rate, a name is not known, or sines and cosines,
            in pairs, do not fit the width.
    """

    Block: type = EncoderBlock

    def __init__(
        self,
        vocab_size: int,
        width: int,
        *,
        depth: int,
        heads: int,
        units: int,
        positions: str = "sinusoidal",
        activation: str = "relu",
        norm: str = "post",
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation_dropout: float = 0.0,
        max_length: int = 512,
        embedding: TiedEmbedding | None = None,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.vocab_size = vocab_size
        self.width = width
        self.depth = depth
        self.heads = heads
        self.units = units
        self.positions = positions
        self.activation = activation
        self.norm = norm
        self.dropout = dropout
        self.attention_dropout = attention_dropout
        self.activation_dropout = activation_dropout
        self.max_length = max_length
        self._require_sense()
        policy = self.dtype_policy
        self.shares_embedding = embedding is not None
        self.embedding = embedding or TiedEmbedding(vocab_size, width=width, dtype=policy, name="embedding")
        self.embedding_dropout = keras.layers.Dropout(dropout, dtype=policy, name="embedding_dropout")
        self.added_positions = self._make_added_positions()
        self.rotary = RotaryPositions(dtype=policy, name="rotary") if positions == "rotary" else None
        self.blocks = [self._make_block(number) for number in range(depth)]
        self.last_norm = self._make_last_norm()

    def _require_sense(self) -> None:
        require_positive(**{name: getattr(self, name) for name in SIZES})
        require_rate(**{name: getattr(self, name) for name in RATES})
        if self.positions not in POSITIONS:
            raise ValueError(f"positions must be one of {', '.join(POSITIONS)}, got {self.positions!r}.")

    def _make_added_positions(self) -> keras.layers.Layer:
        make = {
            "sinusoidal": SinusoidalPositions,
            "learned": lambda **kwargs: LearnedPositions(self.max_length, **kwargs),
        }.get(self.positions, keras.layers.Identity)
        return make(dtype=self.dtype_policy, name="positions")

    def _make_last_norm(self) -> keras.layers.Layer:
        """With pre-norm, nothing else would normalise what the uppermost block gives."""
        if self.norm == "post":
            return keras.layers.Identity(dtype=self.dtype_policy, name="last_norm")
        return LayerNorm(epsilon=1e-6, dtype=self.dtype_policy, name="last_norm")

    def _make_block(self, number: int):
        own = {name: getattr(self, name) for name in ("heads", "units", "activation", "norm", *RATES)}
        return self.Block(self.width, **own, dtype=self.dtype_policy, name=f"block_{number}")

    def build_for(self, memory_width: int, summary_width: int = 0) -> None:
        """Make all weights, for a memory of that width."""
        if not self.embedding.built:
            self.embedding.build()
        self.added_positions.build((None, None, self.width))
        if self.rotary is not None:
            self.rotary.build((None, None, self.width // self.heads))
        for block in self.blocks:
            block.build_for(memory_width)
        self.last_norm.build((None, None, self.width))
        self.built = True

    def embed(self, ids, positions, training=False):
        """Ids (..., T) at positions that broadcast to them, to vectors (..., T, D)."""
        embedded = self.embedding(ids)
        if self.positions in ("sinusoidal", "learned"):
            embedded = self.added_positions(embedded, positions)
        return self.embedding_dropout(embedded, training=training)

    def turn(self, positions):
        """What self-attention does to queries and keys of these positions; None if nothing."""
        if self.rotary is None:
            return None
        return lambda vectors: self.rotary(vectors, positions)

    def caches(self, batch, width: int, max_length: int):
        """Empty ones of `width` hypotheses, `KeysValues` of each block, leaves (B, K, H, L, D / H)."""
        shape = (batch, width, self.heads, max_length, self.width // self.heads)
        return tuple(
            KeysValues(empty_cache(shape, self.compute_dtype), empty_cache(shape, self.compute_dtype))
            for _ in self.blocks
        )

    def climb(self, token_ids, index, state, memory, positions=None):
        """One token of each of K hypotheses up through the blocks, each of which keeps its keys and values.

        All of it works on rows, (B * K, D): most of a step is products with matrices.

        Args:
            token_ids: (B, K) int.
            index: () int, the place in the caches.
            state: what `caches` gave, or the step before.
            memory: has `layers`, for each block, and a `mask`.
            positions: (B, K) int, where these tokens stand; at `index` unless given.

        Returns:
            Logits (B, K, V), and the state.
        """
        x, place, turn = self.enter(token_ids, index, state, positions)
        storeys = zip(self.blocks, state, memory.layers, strict=True)
        x, caches = _climb(storeys, x, place, memory.mask, turn)
        return self.say(x, token_ids.shape[1]), tuple(caches)

    def enter(self, token_ids, index, state, positions=None):
        """What the lowest block's step takes: rows (B * K, D), their place, and how that turns them."""
        ids, length = ops.reshape(token_ids, (-1,)), state[0].keys.shape[3]
        positions = index if positions is None else ops.reshape(positions, (-1,))
        turn = self.turn(positions if positions is index else positions[:, None, None])
        place = Place.of(index, ops.shape(ids)[0] * self.heads, length)
        return self.embed(ids, positions), place, turn

    def say(self, rows, width: int):
        """What the uppermost block's step gives, (B * K, D), to logits (B, K, V)."""
        return ops.reshape(self.embedding.logits(self.last_norm(rows)), (-1, width, self.vocab_size))

    def get_config(self):
        if self.shares_embedding:
            raise ValueError(
                f"{self.name} shares the embedding of another part, which its own configuration cannot say. "
                "Save a whole model that does: TransformerSeq2Seq(..., shared_embedding=True)."
            )
        own = ("vocab_size", "width", "depth", "heads", "units", "positions", "activation", "norm")
        more = (*RATES, "max_length")
        return {**super().get_config(), **{name: getattr(self, name) for name in (*own, *more)}}


@keras.saving.register_keras_serializable("zoo")
class TransformerEncoder(_Transformer):
    """The encoder of Vaswani et al. (2017), "Attention is all you need".

    Args:
        vocab_size: number of source ids; id 0 is padding.
        width: size of every vector, D in shapes.
        depth: number of blocks.
        heads: number of heads.
        units: size of the hidden layer of the feed-forward networks.
        positions: `sinusoidal`, `learned`, `rotary` or `none`.
        activation: `relu`, `gelu` or `glu`.
        norm: `post`, as in the paper, or `pre`.
        dropout: rate of dropout on embeddings and on what each sub-layer adds, section 5.4.
        attention_dropout: on attention weights.
        activation_dropout: on the hidden layers of the feed-forward networks.
        max_length: greatest length, for learned positions.

    Call arguments:
        source: (B, S) int, S at least 1.

    Returns:
        `Encoded`; its summary is the mean of the values, (B, D).
    """

    Block = EncoderBlock

    def build(self, source_shape=None) -> None:
        self.build_for(self.width)

    @property
    def summary_width(self) -> int:
        """Size of the summary."""
        return self.width

    def call(self, source, training=False) -> Encoded:
        mask = padding_mask(source, PAD)
        positions = ops.arange(ops.shape(source)[1])
        x = self.embed(source, positions, training)
        for block in self.blocks:
            x = block(x, mask[:, None, :], turn=self.turn(positions), training=training)
        values = self.last_norm(x)
        present = ops.cast(mask[..., None], values.dtype)
        count = ops.maximum(ops.sum(present, axis=1), 1.0)
        return Encoded(values, mask, ops.sum(values * present, axis=1) / count)


@keras.saving.register_keras_serializable("zoo")
class TransformerDecoder(_Transformer):
    """The decoder of Vaswani et al. (2017), "Attention is all you need"; its embedding also gives the logits.

    Args:
        vocab_size, width, depth, heads, units, positions, activation, norm, dropout, attention_dropout,
            activation_dropout, max_length: see `TransformerEncoder`.
        embedding: the encoder's, if both are to have one matrix; else this one makes its own.

    Call arguments:
        target_ids: (B, T) int, beginning with START: the decoder is taught with the right past.
        memory: what `memory(encoded)` gave.

    Returns:
        (B, T, V) logits of the token after each target id.
    """

    Block = DecoderBlock

    def memory(self, encoded: Encoded) -> TransformerMemory:
        """What the decoder will know of the sources: each block's keys and values, made once."""
        layers = tuple(block.project_memory(encoded.values) for block in self.blocks)
        return TransformerMemory(layers, encoded.mask[:, None, :])

    def init_state(self, memory: TransformerMemory, width: int, max_length: int):
        """Empty caches of `width` hypotheses, `KeysValues` of each block, leaves (B, K, H, L, D / H)."""
        return self.caches(ops.shape(memory.mask)[0], width, max_length)

    def step(self, token_ids, index, state, memory: TransformerMemory):
        """One token further, see `zoo.decoders.Seq2SeqModel`."""
        return self.climb(token_ids, index, state, memory)

    def aligned_step(self, token_ids, index, state, memory: TransformerMemory):
        """What `step` gives, and where it looked, (B, K, S): a row of what `alignment` says of the target."""
        x, place, turn = self.enter(token_ids, index, state)
        *below, (uppermost, cache, layer) = zip(self.blocks, state, memory.layers, strict=True)
        x, caches = _climb(below, x, place, memory.mask, turn)
        x, cache, spread = uppermost.aligned_step(x, place, cache, layer, memory.mask, turn=turn)
        return self.say(x, token_ids.shape[1]), (*caches, cache), ops.mean(spread, axis=1)

    def source_mask(self, memory: TransformerMemory):
        """(B, S) bool, True where the source has a token."""
        return memory.mask[:, 0]

    def call(self, target_ids, memory: TransformerMemory, training=False):
        x, mask, turn = self._begin(target_ids, training)
        for block, layer in zip(self.blocks, memory.layers, strict=True):
            x = block(x, mask, layer, memory.mask, turn=turn, training=training)
        return self.embedding.logits(self.last_norm(x))

    def alignment(self, target_ids, memory: TransformerMemory):
        """How the uppermost block's cross-attention spreads, the mean over its heads: (B, T, S)."""
        x, mask, turn = self._begin(target_ids, False)
        for block, layer in zip(self.blocks[:-1], memory.layers[:-1], strict=True):
            x = block(x, mask, layer, memory.mask, turn=turn)
        return self.blocks[-1].alignment(x, mask, memory.layers[-1], memory.mask, turn=turn)

    def _begin(self, target_ids, training):
        length = ops.shape(target_ids)[1]
        positions = ops.arange(length)
        return self.embed(target_ids, positions, training), causal_mask(length), self.turn(positions)


@keras.saving.register_keras_serializable("zoo")
class CausalTransformer(_Transformer):
    """A Transformer with a decoder alone, which goes on from a prompt; its embedding also gives the logits.

    START stands at position 0, the tokens of a prompt of n follow, and the token at index t of the target
    stands at n + t, so that prompt and target are one text, wherever it is parted.

    Args:
        vocab_size, width, depth, heads, units, positions, activation, norm, dropout, attention_dropout,
            activation_dropout, max_length: see `TransformerEncoder`.

    Call arguments:
        target_ids: (B, T) int, beginning with START, which stands for the last token of the prompt.
        prompt: what `zoo.models.read_prompt` gave.

    Returns:
        (B, T, V) logits of the token after each target id.
    """

    Block = CausalBlock

    def memory(self, prompt: Prompt) -> PromptMemory:
        """What the steps will know of the prompts: each block's keys and values, made once."""
        _, layers = self._read(prompt.context, prompt.mask, prompt.positions)
        return PromptMemory(layers, prompt.mask, prompt.length, prompt.last)

    def init_state(self, memory: PromptMemory, width: int, max_length: int):
        """Empty caches of `width` hypotheses, `KeysValues` of each block, leaves (B, K, H, L, D / H)."""
        return self.caches(ops.shape(memory.mask)[0], width, max_length)

    def step(self, token_ids, index, state, memory: PromptMemory):
        """One token further, see `zoo.decoders.Seq2SeqModel`; the positions are each prompt's own."""
        ids = going_on(memory.last, token_ids, index)
        positions = ops.broadcast_to(memory.length[:, None] + index, ops.shape(ids))
        return self.climb(ids, index, state, memory, positions)

    def call(self, target_ids, prompt: Prompt, training=False):
        ids, mask = prompt.followed_by(target_ids)
        after = prompt.length[:, None] + ops.arange(ops.shape(target_ids)[1])
        positions = ops.concatenate([prompt.positions, after], axis=1)
        x, _ = self._read(ids, mask, positions, training)
        return self.embedding.logits(self.last_norm(x[:, ops.shape(prompt.context)[1] :]))

    def _read(self, ids, mask, positions, training=False):
        """Ids, which of them are there, and where, each (B, T), to vectors (B, T, D), keys and values."""
        x, layers = self.embed(ids, positions, training), []
        turn = self.turn(positions[:, None])
        may_look = ops.logical_and(causal_mask(ops.shape(ids)[1]), mask[:, None, :])
        for block in self.blocks:
            x, layer = block(x, may_look, turn=turn, training=training)
            layers.append(layer)
        return x, tuple(layers)


def _climb(storeys, x, place: Place, mask, turn):
    """Rows (B * K, D) up through blocks, each with its cache and memory: what comes out, and the caches."""
    caches = []
    for block, cache, layer in storeys:
        x, cache = block.step(x, place, cache, layer, mask, turn=turn)
        caches.append(cache)
    return x, caches
