"""Language models: they have no source, and go on from a prompt.

Where a sequence-to-sequence model reads a source, these read a prompt: its tokens, END, then PAD, as a
predictor makes them; END and PAD are no part of it. START stands before it, as it does in training, so an
empty prompt is START alone, and a text begins after it.

The decoding loop and teacher forcing begin with START. There it stands for the last token of the prompt:
index 0 gives the first token after it. Memory keeps what comes before, made once for all steps.

To train on plain text, give pairs whose sources are empty::

    pairs = Pairs(sources=[""] * len(texts), targets=texts)
    data = batches(pairs, tokenizer, tokenizer, batch_size=32, max_source_length=1, max_length=64)
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(data.dataset())

Pairs of a prompt and its continuation teach the continuation alone: the prompt has no part in the loss.

`Predictor(model, tokenizer, tokenizer)` answers a text with what follows it, without the text itself. White
space around a text is dropped, and a blank one has one answer, the empty text, as with every model: for texts
from the beginning, call `decode` with sources of END alone.
"""

from typing import Any, NamedTuple

import keras
from keras import ops, tree

from zoo.layers import Projection, Recurrent, climb
from zoo.layers.sizes import require_positive, require_rate
from zoo.models.composed import ComposedModel
from zoo.models.prompt import going_on, read_prompt
from zoo.models.transformer import RATES, CausalTransformer

__all__ = ["RecurrentLM", "TransformerLM"]


class RecurrentPromptMemory(NamedTuple):
    """All that a recurrent language model may know of the prompts."""

    start: Any
    """The state of each layer's cell after all tokens but the last, leaves (B, D)."""
    last: Any
    """(B,) int: the last token; START of an empty prompt."""


@keras.saving.register_keras_serializable("zoo")
class RecurrentLM(ComposedModel):
    """The recurrent language model of Mikolov et al. (2010), in layers, as by Zaremba et al. (2014)::

        s_t = cell(E x_t, s_{t-1})
        p(x_{t+1} | x_0 ... x_t) = softmax(W s_t + b)

    with x_0 = START and s zero before it. With several layers, the state of each is the input of the next,
    and s is that of the uppermost. Dropout is applied to the embeddings, between layers and before W.

    Args:
        vocab_size: number of ids, V in shapes; those of `zoo.tokenizers.specials` come first.
        embedding_dim: size of the embeddings.
        units: size of each state, D in shapes.
        cell: `rnn`, `gru` or `lstm`.
        depth: number of layers.
        dropout: rate of dropout.

    Call arguments:
        inputs: a dictionary of `source` (B, P) int, the prompt, and `target_ids` (B, T) int, which begin with
            START; see `zoo.models.language_model`.

    Returns:
        (B, T, V) logits of the token after each target id.

    Raises:
        ValueError: the cell is not known, a size is less than 1, or the dropout is no rate.
    """

    def __init__(
        self,
        vocab_size: int,
        *,
        embedding_dim: int = 64,
        units: int = 128,
        cell: str = "lstm",
        depth: int = 1,
        dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        require_positive(vocab_size=vocab_size, embedding_dim=embedding_dim, units=units, depth=depth)
        require_rate(dropout=dropout)
        self.vocab_size = vocab_size
        self.embedding_dim = embedding_dim
        self.units = units
        self.cell = cell
        self.depth = depth
        self.dropout = dropout
        policy = self.dtype_policy
        self.embedding = keras.layers.Embedding(vocab_size, embedding_dim, dtype=policy, name="embedding")
        self.stack = [Recurrent(units, cell=cell, dtype=policy, name=f"{cell}_{n}") for n in range(depth)]
        self.between = keras.layers.Dropout(dropout, dtype=policy, name="between")
        self.readout = Projection(vocab_size, dtype=policy, name="readout")
        self.build()

    def build(self, input_shape=None) -> None:
        """Make all weights: their shapes follow from the arguments alone."""
        self.embedding.build((None, None))
        for number, layer in enumerate(self.stack):
            layer.build((None, None, self.units if number else self.embedding_dim))
        self.readout.build((None, None, self.units))
        self.built = True

    def encode(self, source) -> RecurrentPromptMemory:
        """Prompts (B, P) int to the states after them; P at least 1."""
        prompt = read_prompt(source)
        states = self._read(prompt.context, prompt.mask)
        return RecurrentPromptMemory(tree.map_structure(lambda leaf: leaf[:, -1], states), prompt.last)

    def init_state(self, memory: RecurrentPromptMemory, width: int, max_length: int):
        """The states of `width` hypotheses after the prompt: leaves (B, K, D)."""
        return tree.map_structure(lambda leaf: ops.repeat(leaf[:, None], width, axis=1), memory.start)

    def step(self, token_ids, index, state, memory: RecurrentPromptMemory):
        """One token further, see `zoo.decoders.Seq2SeqModel`."""
        cells = [layer.cell for layer in self.stack]
        embedded = self.embedding(going_on(memory.last, token_ids, index))
        state = climb(cells, cells[0].project(embedded), state)
        return self.readout(state[-1].hidden), state

    def call(self, inputs, training=False):
        prompt = read_prompt(inputs["source"])
        ids, mask = prompt.followed_by(inputs["target_ids"])
        states = self._read(ids, mask, training)
        hidden = states[-1].hidden[:, ops.shape(prompt.context)[1] :]
        return self.readout(self.between(hidden, training=training))

    def _read(self, ids, mask, training=False):
        """Ids (B, T) and what of them is there to the states of each layer, leaves (B, T, D)."""
        x, states = self.embedding(ids), []
        for layer in self.stack:
            states.append(layer.states(self.between(x, training=training), mask))
            x = states[-1].hidden
        return tuple(states)

    def get_config(self):
        own = ("vocab_size", "embedding_dim", "units", "cell", "depth", "dropout")
        return {**super().get_config(), **{name: getattr(self, name) for name in own}}


@keras.saving.register_keras_serializable("zoo")
class TransformerLM(ComposedModel):
    """A Transformer with a decoder alone, Liu et al. (2018), Radford et al. (2018).

    The defaults are the blocks of GPT-2, Radford et al. (2019), with positions that end nowhere. Others are::

        GPT, Radford et al. (2018)         positions="learned", norm="post"
        GPT-2                              positions="learned"

    Args:
        vocab_size: number of ids, V in shapes; those of `zoo.tokenizers.specials` come first.
        width: size of every vector, D in shapes.
        depth: number of blocks.
        heads: number of heads, H in shapes; divides the width.
        units: size of the hidden layer of the feed-forward networks.
        positions, activation, norm, dropout, attention_dropout, activation_dropout: see
            `zoo.models.TransformerEncoder`.
        max_length: greatest length of prompt and continuation together, for learned positions; for what comes
            beyond, see `zoo.layers.LearnedPositions`.

    Call arguments:
        inputs: a dictionary of `source` (B, P) int, the prompt, and `target_ids` (B, T) int, which begin with
            START; see `zoo.models.language_model`.

    Returns:
        (B, T, V) logits of the token after each target id.

    Raises:
        ValueError: a name is not known, a size is less than 1, the dropout is no rate, or the heads do not
            divide the width.
    """

    def __init__(
        self,
        vocab_size: int,
        *,
        width: int = 128,
        depth: int = 2,
        heads: int = 4,
        units: int = 256,
        positions: str = "sinusoidal",
        activation: str = "gelu",
        norm: str = "pre",
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation_dropout: float = 0.0,
        max_length: int = 512,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        self.decoder = CausalTransformer(
            vocab_size,
            width,
            depth=depth,
            heads=heads,
            units=units,
            positions=positions,
            activation=activation,
            norm=norm,
            dropout=dropout,
            attention_dropout=attention_dropout,
            activation_dropout=activation_dropout,
            max_length=max_length,
            dtype=self.dtype_policy,
            name="decoder",
        )
        self.build()

    def build(self, input_shape=None) -> None:
        """Make all weights: their shapes follow from the arguments alone."""
        self.decoder.build_for(self.decoder.width)
        self.built = True

    @property
    def vocab_size(self) -> int:
        """Number of ids, V in shapes."""
        return self.decoder.vocab_size

    def encode(self, source):
        """Prompts (B, P) int to each block's keys and values of them; P at least 1."""
        return self.decoder.memory(read_prompt(source))

    def init_state(self, memory, width: int, max_length: int):
        """The state of `width` hypotheses after the prompt: leaves (B, K, ...)."""
        return self.decoder.init_state(memory, width, max_length)

    def step(self, token_ids, index, state, memory):
        """One token further, see `zoo.decoders.Seq2SeqModel`."""
        return self.decoder.step(token_ids, index, state, memory)

    def call(self, inputs, training=False):
        return self.decoder(inputs["target_ids"], read_prompt(inputs["source"]), training=training)

    def get_config(self):
        own = ("vocab_size", "width", "depth", "heads", "units", "positions", "activation", "norm")
        more = (*RATES, "max_length")
        return {**super().get_config(), **{name: getattr(self.decoder, name) for name in (*own, *more)}}
