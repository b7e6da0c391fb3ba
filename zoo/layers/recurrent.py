"""Recurrent layers: cells run over time, in either direction or in both, one above the other."""

import keras
from keras import ops, tree

from zoo.layers.cells import make_cell
from zoo.layers.scan import scan

__all__ = ["DIRECTIONS", "Recurrent", "RecurrentStack"]

DIRECTIONS = ("forward", "backward", "bidirectional")


@keras.saving.register_keras_serializable("zoo")
class Recurrent(keras.layers.Layer):
    """A recurrent cell run over time, in one direction, that padding cannot touch.

    At a position whose mask is False the state is carried through unchanged, and the output is zero. So left
    and right padding both give the states of the unpadded run. `backward` begins at the last position; its
    outputs stay aligned with the inputs. To read a source backwards, as Sutskever et al. (2014) do, is to run
    over it backwards.

    Args:
        units: size of the state, D in shapes.
        cell: `rnn`, `gru` or `lstm`.
        direction: `forward` or `backward`.

    Call arguments:
        inputs: (B, T, I) float, T at least 1.
        mask: (B, T) bool, True where there is a token.

    Returns:
        Outputs (B, T, D), and the final state of the cell with leaves (B, D).

    Raises:
        ValueError: the cell or the direction is not known.
    """

    def __init__(self, units: int, *, cell: str = "lstm", direction: str = "forward", **kwargs) -> None:
        super().__init__(**kwargs)
        if direction not in DIRECTIONS[:2]:
            raise ValueError(f"direction must be one of {', '.join(DIRECTIONS[:2])}, got {direction!r}.")
        self.units = units
        self.direction = direction
        self.cell = make_cell(cell, units, dtype=self.dtype_policy, name=cell)
        self.cell_name = cell
        self.supports_jit = (
            False  # XLA cannot differentiate the loop over a length that the graph does not know
        )
        self.supports_masking = True

    def build(self, inputs_shape, mask_shape=None) -> None:
        self.cell.build_for(inputs_shape[-1])
        self.built = True

    def call(self, inputs, mask):
        states = self.states(inputs, mask)
        outputs = ops.where(mask[..., None], states.hidden, ops.zeros_like(states.hidden))
        last = 0 if self.direction == "backward" else -1
        return outputs, type(states)(*(leaf[:, last] for leaf in states))

    def states(self, inputs, mask):
        """The state of the cell after each position, leaves (B, T, D); padding leaves it as it was."""
        backward = self.direction == "backward"
        steps = (ops.transpose(self.cell.project(inputs), (1, 0, 2)), ops.transpose(mask)[..., None])
        if backward:
            steps = tree.map_structure(lambda leaf: ops.flip(leaf, axis=0), steps)

        def step(state, current):
            projected, present = current
            moved = self.cell(projected, state)
            return type(moved)(*(ops.where(present, new, old) for new, old in zip(moved, state, strict=True)))

        states = scan(step, self.cell.initial_state(ops.shape(inputs)[0]), steps)
        leaves = (ops.flip(leaf, axis=0) if backward else leaf for leaf in states)
        return type(states)(*(ops.transpose(leaf, (1, 0, 2)) for leaf in leaves))

    def compute_mask(self, inputs, previous_mask):
        """Outputs are masked as the inputs are, the final state is not."""
        return (previous_mask, *(None for _ in self.cell.State._fields))

    def get_config(self):
        own = {"units": self.units, "cell": self.cell_name, "direction": self.direction}
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("zoo")
class RecurrentStack(keras.layers.Layer):
    """Recurrent layers one above the other, in one direction or in both.

    In `bidirectional` layers (Schuster & Paliwal 1997) the outputs of both directions stand side by side.
    Dropout is applied between layers, not over time (Zaremba et al. 2014).

    Args:
        units: size of each state, D in shapes.
        cell: `rnn`, `gru` or `lstm`.
        depth: number of layers.
        direction: `forward`, `backward` or `bidirectional`.
        dropout: rate of dropout before every layer but the first.
        residual: whether every layer but the first adds its input to its output (Wu et al. 2016).
        layer_norm: whether the output of each layer is normalised (Ba et al. 2016).

    Call arguments:
        inputs: (B, T, I) float, T at least 1.
        mask: (B, T) bool, True where there is a token.

    Returns:
        Outputs (B, T, D), or (B, T, 2D) if bidirectional, and the final hidden states of the last direction
        of every layer, side by side: (B, depth * D). In a bidirectional stack the last direction is backward,
        so these are the states at the first token.

    Raises:
        ValueError: the cell or the direction is not known.
    """

    def __init__(
        self,
        units: int,
        *,
        cell: str = "lstm",
        depth: int = 1,
        direction: str = "forward",
        dropout: float = 0.0,
        residual: bool = False,
        layer_norm: bool = False,
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        if direction not in DIRECTIONS:
            raise ValueError(f"direction must be one of {', '.join(DIRECTIONS)}, got {direction!r}.")
        self.units = units
        self.cell = cell
        self.depth = depth
        self.direction = direction
        self.dropout = dropout
        self.residual = residual
        self.layer_norm = layer_norm
        self.supports_masking = True
        policy = self.dtype_policy
        directions = DIRECTIONS[:2] if direction == "bidirectional" else (direction,)
        self.layers = [
            [
                Recurrent(units, cell=cell, direction=one, dtype=policy, name=f"{one}_{number}")
                for one in directions
            ]
            for number in range(depth)
        ]
        self.norms = [
            keras.layers.LayerNormalization(dtype=policy, name=f"norm_{number}")
            for number in range(depth if layer_norm else 0)
        ]
        self.between = keras.layers.Dropout(dropout, dtype=policy, name="dropout")
        self.width = units * len(directions)

    def build(self, inputs_shape, mask_shape=None) -> None:
        outputs_shape = (*inputs_shape[:-1], self.width)
        for number, directions in enumerate(self.layers):
            for layer in directions:
                layer.build(outputs_shape if number else inputs_shape)
        for norm in self.norms:
            norm.build(outputs_shape)
        self.built = True

    def call(self, inputs, mask, training=False):
        finals = []
        for number, directions in enumerate(self.layers):
            below = self.between(inputs, training=training) if number else inputs
            results = [layer(below, mask) for layer in directions]
            outputs = ops.concatenate([outputs for outputs, _ in results], axis=-1)
            finals.append(results[-1][1].hidden)
            if self.residual and number:
                outputs = outputs + inputs
            if self.layer_norm:
                outputs = self.norms[number](outputs)
                outputs = ops.where(mask[..., None], outputs, ops.zeros_like(outputs))
            inputs = outputs
        return inputs, ops.concatenate(finals, axis=-1)

    def compute_mask(self, inputs, previous_mask):
        """Outputs are masked as the inputs are, the final states are not."""
        return previous_mask, None

    def get_config(self):
        own = ("units", "cell", "depth", "direction", "dropout", "residual", "layer_norm")
        return {**super().get_config(), **{name: getattr(self, name) for name in own}}
