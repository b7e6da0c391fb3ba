"""How much of a gradient arrives at each step of a recurrent layer."""

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from keras import ops, tree

from zoo.layers import Recurrent

__all__ = ["mean_direction", "state_gradient_norms"]


def mean_direction(hidden):
    """A loss whose gradient has norm 1 everywhere: `sum(h) / sqrt(D)`, (B, D) to (B,)."""
    return ops.sum(hidden, axis=-1) / hidden.shape[-1] ** 0.5


def state_gradient_norms(
    layer: Recurrent, inputs, *, loss: Callable[[Any], Any] = mean_direction
) -> np.ndarray:
    """Norm of the gradient of a loss at the last step with respect to the state after each step.

    With s_t the state after step t, the chain rule makes it a product with one Jacobian a step, which shrinks
    or grows like a power (Bengio, Simard & Frasconi 1994; Pascanu, Mikolov & Bengio 2013, section 2.1)::

        dL/ds_t = dL/ds_T  ds_T/ds_T-1 ... ds_t+1/ds_t

    For an RNN each factor is `diag(1 - h^2) U`. An LSTM's state is (h, c), and dc'/dc is the forget gate,
    without a weight or a tanh: open gates let the gradient pass (Hochreiter & Schmidhuber 1997, Gers et al.
    2000).

    Args:
        layer: its weights are used as they are; they are made if there are none yet. To see what weaker or
            stronger recurrence does, assign other weights to `layer.cell.recurrent_projection.kernel`.
        inputs: (B, T, I) float, without padding.
        loss: the hidden state after the last step (B, D) to a loss for each example, (B,). By default its
            gradient has norm 1, so norms are what is left of 1.

    Returns:
        (T,) norms, the mean over the examples; aligned with the inputs, so a backward layer's last step is at
        index 0.
    """
    inputs = ops.convert_to_tensor(inputs, layer.compute_dtype)
    if not layer.built:
        layer.build(inputs.shape)
    order = range(inputs.shape[1])[:: -1 if layer.direction == "backward" else 1]
    projected = layer.cell.project(inputs)
    state, states = layer.cell.initial_state(inputs.shape[0]), []
    with tf.GradientTape() as tape:
        tape.watch(state)
        for t in order:
            # A copy of h and one of c: what each hands on, and not what c has done to h in the same step.
            state = tree.map_structure(tf.identity, layer.cell(projected[:, t], state))
            states.append(state)
        total = ops.sum(loss(state.hidden))
    gradients = tape.gradient(total, states, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    norms = np.empty(len(states))
    for t, leaves in zip(order, gradients, strict=True):
        whole = np.concatenate([ops.convert_to_numpy(leaf).astype("float64") for leaf in leaves], axis=-1)
        norms[t] = np.linalg.norm(whole, axis=-1).mean()
    return norms
