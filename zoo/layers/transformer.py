"""Transformer blocks: attention and a feed-forward network, each with a residual connection and a norm."""

import keras
from keras import ops

from zoo.layers.cache import Place
from zoo.layers.multi_head import KeysValues, MultiHeadAttention
from zoo.layers.normalization import LayerNorm
from zoo.layers.projection import Projection
from zoo.layers.sizes import require_positive, require_rate

__all__ = ["ACTIVATIONS", "NORMS", "CausalBlock", "DecoderBlock", "EncoderBlock", "FeedForward"]

ACTIVATIONS = ("relu", "gelu", "glu")
NORMS = ("pre", "post")


@keras.saving.register_keras_serializable("zoo")
class FeedForward(keras.layers.Layer):
    """The network of each position, by Vaswani et al. (2017), section 3.3::

        relu    y = max(0, x W + b) W' + b'
        gelu    y = gelu(x W + b) W' + b'                         Hendrycks & Gimpel (2016)
        glu     y = (gelu(x V + c) * (x W + b)) W' + b'           GEGLU, Shazeer (2020)

    Args:
        width: size of its input and result, D in shapes.
        units: size of its hidden layer.
        activation: one of `ACTIVATIONS`.
        dropout: rate of dropout on the hidden layer.

    Call arguments:
        inputs: (..., D) float.

    Returns:
        (..., D).

    Raises:
        ValueError: a size is less than 1, the dropout is no rate, or the activation is not known.
    """

    def __init__(
        self, width: int, *, units: int, activation: str = "relu", dropout: float = 0.0, **kwargs
    ) -> None:
        super().__init__(**kwargs)
        require_positive(width=width, units=units)
        require_rate(dropout=dropout)
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation must be one of {', '.join(ACTIVATIONS)}, got {activation!r}.")
        self.supports_masking = True
        self.width = width
        self.units = units
        self.activation = activation
        self.dropout = dropout
        policy = self.dtype_policy
        products = 2 if activation == "glu" else 1
        self.hidden = Projection(products * units, dtype=policy, name="hidden")
        self.hidden_dropout = keras.layers.Dropout(dropout, dtype=policy, name="hidden_dropout")
        self.result = Projection(width, dtype=policy, name="result")

    def build(self, inputs_shape=None) -> None:
        self.hidden.build((None, self.width))
        self.result.build((None, self.units))
        self.built = True

    def call(self, inputs, training=False):
        hidden = self._activate(self.hidden(inputs))
        return self.result(self.hidden_dropout(hidden, training=training))

    def _activate(self, hidden):
        if self.activation == "relu":
            return ops.relu(hidden)
        if self.activation == "gelu":
            return ops.gelu(hidden, approximate=False)
        gate, linear = ops.split(hidden, 2, axis=-1)
        return ops.gelu(gate, approximate=False) * linear

    def get_config(self):
        own = ("width", "units", "activation", "dropout")
        return {**super().get_config(), **{name: getattr(self, name) for name in own}}


@keras.saving.register_keras_serializable("zoo")
class _Block(keras.layers.Layer):
    """What both blocks share: sub-layers, each with a residual connection, a norm and dropout."""

    sublayers: tuple[str, ...] = ()

    def __init__(
        self,
        width: int,
        *,
        heads: int,
        units: int,
        activation: str = "relu",
        norm: str = "post",
        normalization: str = "softmax",
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation_dropout: float = 0.0,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        require_rate(dropout=dropout)
        if norm not in NORMS:
            raise ValueError(f"norm must be one of {', '.join(NORMS)}, got {norm!r}.")
        self.width = width
        self.heads = heads
        self.units = units
        self.activation = activation
        self.norm = norm
        self.normalization = normalization
        self.dropout = dropout
        self.attention_dropout = attention_dropout
        self.activation_dropout = activation_dropout
        self.attentions = {name: self._make_attention(name) for name in self.sublayers}
        policy = self.dtype_policy
        self.feed_forward = self._make_feed_forward()
        self.norms = {
            name: LayerNorm(epsilon=1e-6, dtype=policy, name=f"{name}_norm")
            for name in (*self.sublayers, "feed_forward")
        }
        self.residual_dropout = keras.layers.Dropout(dropout, dtype=policy, name="residual_dropout")

    def _make_feed_forward(self) -> FeedForward:
        return FeedForward(
            self.width,
            units=self.units,
            activation=self.activation,
            dropout=self.activation_dropout,
            dtype=self.dtype_policy,
            name="feed_forward",
        )

    def _make_attention(self, name: str) -> MultiHeadAttention:
        return MultiHeadAttention(
            self.width,
            heads=self.heads,
            normalization=self.normalization,
            dropout=self.attention_dropout,
            dtype=self.dtype_policy,
            name=name,
        )

    def build_for(self, memory_width: int) -> None:
        """Make all weights, for a memory of that width."""
        for name, attention in self.attentions.items():
            attention.build_for(self.width if name == "self_attention" else memory_width)
        self.feed_forward.build()
        for norm in self.norms.values():
            norm.build((None, self.width))
        self.built = True

    def residual(self, name: str, inputs, sublayer, training):
        """Inputs (..., D) to `x + f(norm(x))` (pre) or `norm(x + f(x))` (post)."""
        norm = self.norms[name]
        made = sublayer(norm(inputs) if self.norm == "pre" else inputs)
        total = inputs + self.residual_dropout(made, training=training)
        return total if self.norm == "pre" else norm(total)

    def compute_mask(self, inputs, previous_mask):
        """None: masks are given, not handed on."""
        return None

    def get_config(self):
        own = ("width", "heads", "units", "activation", "norm", "normalization")
        rates = ("dropout", "attention_dropout", "activation_dropout")
        return {**super().get_config(), **{name: getattr(self, name) for name in (*own, *rates)}}


@keras.saving.register_keras_serializable("zoo")
class EncoderBlock(_Block):
    """A block of the Transformer's encoder, Vaswani et al. (2017), section 3.1: self-attention, feed-forward.

    Args:
        width: size of each vector, D in shapes.
        heads: number of heads, H in shapes.
        units: size of the feed-forward network's hidden layer.
        activation: of that, one of `ACTIVATIONS`.
        norm: `post`, as in the paper, or `pre` (Xiong et al. 2020), which trains without a warm-up.
        normalization: of attention scores, `softmax` or `relu`.
        dropout: rate of dropout on what each sub-layer adds, section 5.4 of the paper.
        attention_dropout: on the attention weights.
        activation_dropout: on the feed-forward network's hidden layer.

    Call arguments:
        inputs: (B, T, D) float.
        mask: (B, 1, T) or (B, T, T) bool, True where attention may look.
        turn: applied to queries and keys, such as rotary positions.
        bias: (B, H, T, T) float, added to attention scores, such as what `AdjacencyBias` gives.

    Returns:
        (B, T, D).

    Raises:
        ValueError: a size is less than 1, the dropout is no rate, or a name is not known.
    """

    sublayers = ("self_attention",)

    def build(self, inputs_shape=None, mask_shape=None) -> None:
        self.build_for(self.width)

    def call(self, inputs, mask, turn=None, bias=None, training=False):
        attention = self.attentions["self_attention"]

        def look(x):
            return attention(x, attention.project(x, turn), mask, turn=turn, bias=bias, training=training)

        x = self.residual("self_attention", inputs, look, training)
        return self.residual("feed_forward", x, lambda x: self.feed_forward(x, training=training), training)


@keras.saving.register_keras_serializable("zoo")
class CausalBlock(_Block):
    """A block of a Transformer that has a decoder alone, Liu et al. (2018), Radford et al. (2018).

    Self-attention to what came before, feed-forward. `step` does for one position of K hypotheses, which go
    on from one prompt, what the call does for all positions of one sequence.

    Args:
        width, heads, units, activation, norm, normalization, dropout, attention_dropout, activation_dropout:
            see `EncoderBlock`.

    Call arguments:
        inputs: (B, T, D) float.
        mask: (B, T, T) bool, True where a position may look at another.
        turn: applied to queries and keys, such as rotary positions.

    Returns:
        (B, T, D), and the keys and values of all positions, leaves (B, H, T, D / H).
    """

    sublayers = ("self_attention",)

    def build(self, inputs_shape=None, mask_shape=None) -> None:
        self.build_for(self.width)

    def call(self, inputs, mask, turn=None, training=False):
        attention = self.attentions["self_attention"]
        memories = []

        def look_back(x):
            memories.append(attention.project(x, turn))
            return attention(x, memories[-1], mask, turn=turn, training=training)

        x = self.residual("self_attention", inputs, look_back, training)
        x = self.residual("feed_forward", x, lambda x: self.feed_forward(x, training=training), training)
        return x, memories[-1]

    def step(self, rows, place: Place, cache: KeysValues, prompt: KeysValues, prompt_mask, turn=None):
        """One position of K hypotheses.

        Args:
            rows: (B * K, D) float, the hypotheses of a source side by side.
            place: the position, counted from the prompt's end.
            cache: leaves (B, K, H, L, D / H), keys and values of the positions before.
            prompt: leaves (B, H, P, D / H), keys and values of the prompt, as the call gave them.
            prompt_mask: (B, P) bool, True where the prompt has a token.
            turn: applied to queries and keys (B * K, H, 1, D / H), such as rotary positions.

        Returns:
            (B * K, D), and the cache with this position in it.
        """
        attention = self.attentions["self_attention"]
        width, caches = cache.keys.shape[1], []

        def look_back(x):
            caches.append(_remember(cache, attention.project_rows(x, turn), place))
            return attention.look_back_beyond(
                x, _rows(caches[-1]), place.filled, prompt, prompt_mask, width, turn
            )

        x = self.residual("self_attention", rows, look_back, False)
        return self.residual("feed_forward", x, self.feed_forward, False), caches[-1]


@keras.saving.register_keras_serializable("zoo")
class DecoderBlock(_Block):
    """A block of the Transformer's decoder, Vaswani et al. (2017), section 3.1.

    Self-attention to what came before, cross-attention to the memory, feed-forward. `step` does for one
    position of K hypotheses what the call does for all positions of one, with keys and values that it keeps
    in a cache.

    Args:
        width, heads, units, activation, norm, normalization, dropout, attention_dropout, activation_dropout:
            see `EncoderBlock`.

    Call arguments:
        inputs: (B, T, D) float.
        mask: (T, T) bool, True where a position may look at another.
        memory: `KeysValues` (B, H, S, D / H), what `project_memory` gave.
        memory_mask: (B, 1, S) bool, True where the source has a token.
        turn: applied to queries and keys of the self-attention, such as rotary positions.

    Returns:
        (B, T, D).
    """

    sublayers = ("self_attention", "cross_attention")

    def build(self, inputs_shape=None) -> None:
        self.build_for(self.width)

    def get_build_config(self):
        return self.attentions["cross_attention"].get_build_config()

    def build_from_config(self, config) -> None:
        self.build_for(config["memory_width"])

    def project_memory(self, values) -> KeysValues:
        """Keys and values of what the encoder says, (B, S, M)."""
        return self.attentions["cross_attention"].project(values)

    def call(self, inputs, mask, memory, memory_mask, turn=None, training=False):
        attention = self.attentions["self_attention"]

        def look_back(x):
            return attention(x, attention.project(x, turn), mask, turn=turn, training=training)

        def look(x):
            return self.attentions["cross_attention"](x, memory, memory_mask, training=training)

        x = self.residual("self_attention", inputs, look_back, training)
        x = self.residual("cross_attention", x, look, training)
        return self.residual("feed_forward", x, lambda x: self.feed_forward(x, training=training), training)

    def step(self, rows, place: Place, cache: KeysValues, memory: KeysValues, memory_mask, turn=None):
        """One position of K hypotheses.

        Args:
            rows: (B * K, D) float, the hypotheses of a source side by side.
            place: the position.
            cache: leaves (B, K, H, L, D / H), keys and values of the positions before.
            memory, memory_mask: as in the call.
            turn: applied to queries and keys (B * K, H, 1, D / H), such as rotary positions.

        Returns:
            (B * K, D), and the cache with this position in it.
        """
        return self.aligned_step(rows, place, cache, memory, memory_mask, turn)[:2]

    def aligned_step(self, rows, place: Place, cache: KeysValues, memory: KeysValues, memory_mask, turn=None):
        """What `step` gives, and how each head of the cross-attention spread for it, (B, H, K, S)."""
        attentions = self.attentions
        width, caches, spread = cache.keys.shape[1], [], []

        def look_back(x):
            attention = attentions["self_attention"]
            caches.append(_remember(cache, attention.project_rows(x, turn), place))
            return attention.look_back(x, _rows(caches[-1]), place.filled, turn)

        def look(x):
            read, weights = attentions["cross_attention"].read(x, memory, memory_mask, width)
            spread.append(weights)
            return read

        x = self.residual("self_attention", rows, look_back, False)
        x = self.residual("cross_attention", x, look, False)
        return self.residual("feed_forward", x, self.feed_forward, False), caches[-1], spread[-1]

    def alignment(self, inputs, mask, memory: KeysValues, memory_mask, turn=None):
        """How the cross-attention spreads, the mean over its heads: (B, T, S). Arguments as in the call."""
        attention = self.attentions["self_attention"]
        x = self.residual(
            "self_attention",
            inputs,
            lambda x: attention(x, attention.project(x, turn), mask, turn=turn),
            False,
        )
        x = self.norms["cross_attention"](x) if self.norm == "pre" else x
        return ops.mean(self.attentions["cross_attention"].alignment(x, memory.keys, memory_mask), axis=1)


def _rows(cache: KeysValues) -> KeysValues:
    """(B, K, H, L, D / H) to (B * K, H, L, D / H)."""
    return KeysValues(*(ops.reshape(leaf, (-1, *leaf.shape[2:])) for leaf in cache))


def _remember(cache: KeysValues, new: KeysValues, place: Place) -> KeysValues:
    """A cache (B, K, H, L, D / H) with what is new (B * K, H, 1, D / H) at a place."""
    written = (place.write(old, one) for old, one in zip(_rows(cache), new, strict=True))
    return KeysValues(*(ops.reshape(leaf, (-1, *cache.keys.shape[1:])) for leaf in written))
