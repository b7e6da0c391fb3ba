"""A model whose steps are graphs, for a loop that is none itself."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = ["TracedModel"]


class TracedModel:
    """A generating model in graphs, each traced at its first call and used again from then on.

    `decode` is a loop within one graph, and needs nothing of this. `grow` runs step by step, and takes a
    model as it is or, faster, one of these. Strategies and transforms stay out of the graphs, so another seed
    or transform traces nothing. Only another form does: a state of other axes, and the first source of
    another length, after which lengths are left open.

    Args:
        model: see `Seq2SeqModel`; what it says of its attention, see `AligningModel`, is traced too.
    """

    def __init__(self, model: Any) -> None:
        self.vocab_size = model.vocab_size
        self.encode = _traced(model.encode)
        self.init_state = _traced(model.init_state)
        self.step = _traced_by_form(model.step)
        if hasattr(model, "aligned_step"):  # not `isinstance`, which does not ask properties
            self.aligned_step = _traced_by_form(model.aligned_step)
            self.source_mask = _traced(model.source_mask)


def _traced(function: Callable[..., Any]) -> Callable[..., Any]:
    return tf.function(function, autograph=False, reduce_retracing=True)


def _traced_by_form(step: Callable[..., Any]) -> Callable[..., Any]:
    """A step that knows the axes of its state, as a model may rely on; those of the memory stay open."""
    traced = _traced(lambda form, token_ids, index, state, memory: step(token_ids, index, state, memory))

    def step_of_form(token_ids: Any, index: Any, state: Any, memory: Any) -> Any:
        form = tuple(tuple(leaf.shape) for leaf in tf.nest.flatten(state))
        return traced(form, token_ids, index, state, memory)

    return step_of_form
