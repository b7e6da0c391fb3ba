"""What a model, a search strategy and a logit transform promise to the decoding loop.

One alphabet everywhere: **B** sources, **S** source length, **T** target length, **K** hypotheses per source,
**V** vocabulary, **L** maximum length. Axis 0 of every leaf of a memory or a state is the source, axis 1 of
every leaf of a state is the hypothesis; there are no scalars inside.
"""

from typing import Any, NamedTuple, Protocol

import tensorflow as tf

from zoo.decoders.next_tokens import NextTokens

__all__ = ["AligningModel", "Choice", "Decoded", "LogitTransform", "Seq2SeqModel", "Strategy"]


class Decoded(NamedTuple):
    """What a search found, best first. Always these fields, whatever the strategy."""

    token_ids: tf.Tensor
    """(B, K, L) int32: tokens, END where the hypothesis has one, then PAD."""
    scores: tf.Tensor
    """(B, K) float32: the sum of the model's own log probabilities of the tokens, END counted."""
    ranked_scores: tf.Tensor
    """(B, K) float32: what the hypotheses are ordered by."""
    lengths: tf.Tensor
    """(B, K) int32: number of tokens, END not counted."""


class Seq2SeqModel(Protocol):
    """A model that generates. Nobody inherits from this: it is enough to have these members.

    Six laws, each a test over all models of the zoo:

    1. Axes: axis 0 of every leaf is the source, axis 1 of every leaf of a state the hypothesis; B = 0 works.
    2. Constancy: what does not change from step to step is memory, and is never copied for the hypotheses.
    3. Fixed form: a state has the same shapes and dtypes before and after a step.
    4. Purity: a step reads weights and arguments, and writes nothing.
    5. Parity: T steps equal one teacher-forced call.
    6. Independence: the answer to a source depends neither on its companions, nor on their order or padding.
    """

    vocab_size: int
    """Number of target ids, V."""

    def encode(self, source: Any) -> Any:
        """The sources to a memory, leaves (B, ...)."""
        ...

    def init_state(self, memory: Any, width: int, max_length: int) -> Any:
        """State before the first token, leaves (B, K, ...) with K = `width`."""
        ...

    def step(self, token_ids: Any, index: Any, state: Any, memory: Any) -> tuple[Any, Any]:
        """Last tokens (B, K) and their position () to logits (B, K, V) and the next state."""
        ...

    def __call__(self, inputs: Any) -> Any:
        """`{"source": ..., "target_ids": (B, T)}`, ids beginning with START, to logits (B, T, V)."""
        ...


class AligningModel(Seq2SeqModel, Protocol):
    """A model that also tells where it looked."""

    def alignment(self, source: Any, target_ids: Any) -> Any:
        """Source and ids (B, T) beginning with START to attention (B, T, S); rows add up to 1."""
        ...

    def aligned_step(self, token_ids: Any, index: Any, state: Any, memory: Any) -> tuple[Any, Any, Any]:
        """What `step` gives, and its attention (B, K, S): row `index` of what `alignment` says of the ids."""
        ...

    def source_mask(self, memory: Any) -> Any:
        """(B, S) bool, True where the source has a token."""
        ...


class LogitTransform(Protocol):
    """Steers the choice of tokens without touching the scores that are reported."""

    def __call__(self, following: NextTokens, token_ids: tf.Tensor, index: tf.Tensor) -> NextTokens:
        """Change what the search sees.

        Args:
            following: what may come next.
            token_ids: (B, K, L) int32, the hypotheses so far; columns from `index` on are PAD.
            index: () int32, number of tokens so far.
        """
        ...


class Choice(NamedTuple):
    """What a strategy decided in one step."""

    search: Any
    """The strategy's own state, leaves (B, ...)."""
    token_ids: tf.Tensor
    """(B, K) int32: the token that each hypothesis goes on with; PAD where it goes on no more."""
    parents: tf.Tensor
    """(B, K) int32: the hypothesis that each of them continues."""


class Strategy(Protocol):
    """How to search: a small frozen dataclass without state of its own."""

    @property
    def width(self) -> int:
        """Number of hypotheses, K."""
        ...

    @property
    def needs_coverage(self) -> bool:
        """Whether it asks for `NextTokens.coverage`, which takes an `AligningModel`."""
        ...

    def begin(self, bounds: tf.Tensor, max_length: int) -> Any:
        """The search's state before the first token. It has a field `token_ids` (B, K, L).

        Args:
            bounds: (B,) int32, the greatest number of tokens of each source's hypotheses, END not counted.
            max_length: L, no bound is greater.
        """
        ...

    def choose(self, search: Any, following: NextTokens, index: tf.Tensor) -> Choice:
        """One step.

        Args:
            search: the strategy's own state.
            following: what may come next.
            index: () int32, number of tokens so far.
        """
        ...

    def going_on(self, search: Any) -> tf.Tensor:
        """() bool: whether any source still has a hypothesis to continue."""
        ...

    def finish(self, search: Any) -> Decoded:
        """What was found, best first; a ranked score of -inf marks a place without a hypothesis."""
        ...
