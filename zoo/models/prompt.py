"""What a language model goes on from: the source of its questions, read as a prompt."""

from typing import Any, NamedTuple

from keras import ops

from zoo.tokenizers.specials import END, PAD, START

__all__ = ["Prompt", "going_on", "read_prompt"]


class Prompt(NamedTuple):
    """START and the tokens of a prompt; the last of them apart: it takes the place of a decoder's START."""

    context: Any
    """(B, P) int: all but the last; what stands where the mask is False says nothing."""
    mask: Any
    """(B, P) bool, True where the context has a token; so many as the prompt has, which may be none."""
    last: Any
    """(B,) int: the last; START of an empty prompt."""

    @property
    def positions(self):
        """Where each token of the context stands, (B, P) int; START stands at 0."""
        return ops.maximum(ops.cumsum(ops.cast(self.mask, "int32"), axis=1) - 1, 0)

    @property
    def length(self):
        """Where the last token stands, (B,) int: the number of tokens of the prompt."""
        return ops.sum(ops.cast(self.mask, "int32"), axis=1)

    def followed_by(self, target_ids):
        """Context and target in one row, the target's START replaced, and what of it is there.

        Args:
            target_ids: (B, T) int, beginning with START.

        Returns:
            Ids (B, P + T) int, and (B, P + T) bool, True where there is a token; all of the target counts.
        """
        here = going_on(self.last, target_ids, ops.arange(ops.shape(target_ids)[1]))
        present = ops.ones_like(here, dtype="bool")
        return ops.concatenate([self.context, here], axis=1), ops.concatenate([self.mask, present], axis=1)


def read_prompt(source) -> Prompt:
    """Take a prompt apart.

    Args:
        source: (B, P) int, P at least 1: tokens, then END, with PAD on either side; the last two are no part
            of the prompt, which may be empty.
    """
    source = ops.cast(source, "int32")
    mask = ops.logical_and(ops.not_equal(source, PAD), ops.not_equal(source, END))
    before = ops.where(mask, source, START)[:, :-1]
    context = ops.concatenate([ops.full_like(source[:, :1], START), before], axis=1)

    rank = ops.cumsum(ops.cast(mask, "int32"), axis=1)
    is_last = ops.logical_and(mask, ops.equal(rank, rank[:, -1:]))
    last = ops.sum(ops.where(is_last, source, 0), axis=1)
    return Prompt(context, mask, ops.where(ops.any(mask, axis=1), last, START))


def going_on(last, token_ids, index):
    """Tokens (B, T) at indices that broadcast to them, with the last one of the prompt (B,) at index 0."""
    return ops.where(ops.equal(index, 0), last[:, None], ops.cast(token_ids, "int32"))
