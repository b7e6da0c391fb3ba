"""The one loop that generates: model, strategy and transforms meet here."""

from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from zoo.decoders.never import NEVER
from zoo.decoders.protocol import Decoded, LogitTransform, Seq2SeqModel, Strategy
from zoo.decoders.reading import reading_of
from zoo.tokenizers.specials import PAD, START

__all__ = ["UNREACHABLE", "continue_parents", "decode", "grow"]

UNREACHABLE = -1e9
"""Score of a hypothesis that does not exist; finite, so that JSON stays JSON."""


def decode(
    model: Seq2SeqModel,
    source: Any,
    strategy: Strategy,
    *,
    max_length: int,
    max_lengths: tf.Tensor | None = None,
    transforms: Sequence[LogitTransform] = (),
) -> Decoded:
    """Generate from a model.

    What holds for every strategy:

    * `scores` are raw: the sum of the model's own log probabilities of the hypothesis' tokens, END counted.
      Teacher-forcing the ids gives the same number. Transforms steer the choice, they do not enter `scores`.
    * `ranked_scores` order the hypotheses: the sum of the transformed log probabilities, divided by the
      strategy's norm of the hypothesis' own length, and with its coverage penalty, if it has one. Without
      transforms, with norm 1 and no penalty, they equal `scores`.
    * `lengths` count tokens without END, and `max_length` bounds them. A hypothesis cut at the bound competes
      as it stands, without END.
    * After its END, nothing of a hypothesis changes. PAD and START are never generated.
    * Hypotheses of one source have distinct ids. Where fewer can be reached than asked for, the others come
      back empty with score -1e9.
    * A source's answer does not depend on its companions.

    Args:
        model: see `Seq2SeqModel`.
        source: what `model.encode` takes, for B sources of one position or more; B may be 0.
        strategy: `Greedy`, `Beam`, `Sample`, or one of your own, see `Strategy`.
        max_length: L, the greatest number of tokens of a hypothesis, END not counted; 0 gives empty ones.
        max_lengths: (B,) int32, a bound for each source, at most `max_length`, which all have otherwise.
        transforms: applied in order to what the search sees.

    Returns:
        `Decoded`, K hypotheses of each source, best first.

    Raises:
        ValueError: `max_length` is negative, the sources are known to have no position, or the strategy wants
            to know where a model without attention looks.
    """
    memory, carry = _begin(model, source, strategy, max_length, max_lengths)
    *_, search = tf.while_loop(
        lambda index, token_ids, state, search: strategy.going_on(search),
        lambda *carry: _step(model, strategy, transforms, memory, carry),
        carry,
        maximum_iterations=max_length,
    )
    return _empty_where_nothing_exists(strategy.finish(search))


def grow(
    model: Seq2SeqModel,
    source: Any,
    strategy: Strategy,
    *,
    max_length: int,
    max_lengths: tf.Tensor | None = None,
    transforms: Sequence[LogitTransform] = (),
) -> Iterator[tf.Tensor]:
    """What `decode` does, one token at a time, for people who want to watch.

    Nothing is traced here: the next answer may be asked of another strategy with other transforms. What takes
    long, the model, may have graphs of its own.

    Args:
        model: see `Seq2SeqModel`; a `TracedModel`, for as many answers as one likes, is faster.
        source, strategy, max_length, max_lengths, transforms: see `decode`.

    Yields:
        (B, K, L) int32 after each token: the hypotheses so far, then PAD. Those of a beam may change from the
        first token on, and the finished ones are not among them; those of `Greedy` and `Sample` only grow.
    """
    memory, carry = _begin(model, source, strategy, max_length, max_lengths)
    while int(carry[0]) < max_length and bool(strategy.going_on(carry[3])):
        carry = _step(model, strategy, transforms, memory, carry)
        yield carry[3].token_ids


def _begin(model, source, strategy, max_length, max_lengths):
    """Memory, and what goes from step to step: index, last tokens, the states of model and search."""
    if max_length < 0:
        raise ValueError(f"max_length must be 0 or more, got {max_length}.")
    _require_positions(source)
    reading = reading_of(model, strategy)
    memory = model.encode(source)
    state = reading.init_state(memory, strategy.width, max_length)
    batch = tf.shape(tf.nest.flatten(memory)[0])[0]
    bounds = tf.fill([batch], max_length) if max_lengths is None else tf.minimum(max_lengths, max_length)
    start = tf.fill([batch, strategy.width], START)
    return memory, (tf.constant(0), start, state, strategy.begin(bounds, max_length))


def _require_positions(source: Any) -> None:
    """Refuse sources without a position, as far as their shape is known when a graph is made."""
    for leaf in tf.nest.flatten(source):
        shape = tf.TensorShape(getattr(leaf, "shape", ()))
        if shape.rank is not None and shape.rank > 1 and shape[1] == 0:
            raise ValueError(
                f"A source has one position or more, got shape {shape}. Close each source with END: an empty "
                "one then has one token, see zoo.tokenizers.sequences.close."
            )


def _step(model, strategy, transforms, memory, carry):
    index, token_ids, state, search = carry
    following, state = reading_of(model, strategy).following(token_ids, index, state, memory)
    for transform in transforms:
        following = transform(following, search.token_ids, index)
    search, token_ids, parents = strategy.choose(search, following, index)
    return index + 1, token_ids, continue_parents(state, parents), search


def continue_parents(state: Any, parents: tf.Tensor) -> Any:
    """Give every hypothesis the state of the one that it continues.

    Args:
        state: leaves (B, K, ...).
        parents: (B, K) int32.

    Returns:
        A state of the same form. With K = 1 there is nothing to choose, and nothing is copied.
    """
    if parents.shape[1] == 1:
        return state
    return tf.nest.map_structure(lambda leaf: tf.gather(leaf, parents, batch_dims=1), state)


def _empty_where_nothing_exists(found: Decoded) -> Decoded:
    exists = found.ranked_scores > NEVER
    return Decoded(
        token_ids=tf.where(exists[:, :, None], found.token_ids, PAD),
        scores=tf.where(exists, tf.maximum(found.scores, UNREACHABLE), UNREACHABLE),
        ranked_scores=tf.where(exists, found.ranked_scores, UNREACHABLE),
        lengths=tf.where(exists, found.lengths, 0),
    )
