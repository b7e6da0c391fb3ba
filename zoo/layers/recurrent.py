"""Recurrent layers: cells run over time, in either direction or in both, one above the other."""

import keras
from keras import ops, tree

from zoo.layers.cells import make_cell
from zoo.layers.keras_loop import LOOPS, TWINS, KerasLoop, gpu_is_visible
from zoo.layers.normalization import LayerNorm
from zoo.layers.scan import scan
from zoo.layers.sizes import require_positive, require_rate

__all__ = ["DIRECTIONS", "Recurrent", "RecurrentStack"]

DIRECTIONS = ("forward", "backward", "bidirectional")


@keras.saving.register_keras_serializable("zoo")
class Recurrent(keras.layers.Layer):
    """A recurrent cell run over time, in one direction, that padding cannot touch.

    At a position whose mask is False the state is carried through unchanged, and the output is zero. So left
    and right padding both give the states of the unpadded run. `backward` begins at the last position; its
    outputs stay aligned with the inputs. To read a source backwards, as Sutskever et al. (2014) do, is to run
    over it backwards.

    Two loops compute the same with the same weights. `scan` is our own, and runs anywhere. `keras` is that of
    `keras.layers.GRU` and `keras.layers.LSTM`, which on a GPU is cuDNN. It runs in training alone: what
    predicts, and so what is exported, always runs `scan`, and needs no GPU. Weights that were saved under one
    loop are those of the other. `auto` is `keras` for a GRU or an LSTM where TensorFlow has a GPU when the
    layer is built, and otherwise `scan`; it is `scan` for an RNN, which cuDNN would not speed up in Keras.

    XLA compiles the scan, anew for each length that it meets, and cannot compile cuDNN. So `jit_compile=True`
    is for layers that were asked for `scan`; from any other Keras warns, and goes on without XLA.

    Args:
        units: size of the state, D in shapes.
        cell: `rnn`, `gru` or `lstm`.
        direction: `forward` or `backward`.
        loop: what runs the cell in training: `auto`, `scan`, or, for a GRU or an LSTM, `keras`.

    Call arguments:
        inputs: (B, T, I) float, T at least 1.
        mask: (B, T) bool, True where there is a token.
        training: whether this is a step of training.

    Returns:
        Outputs (B, T, D), and the final state of the cell with leaves (B, D).

    Raises:
        ValueError: the cell, the direction or the loop is not known, or Keras' loop does not run the cell.
    """

    def __init__(
        self,
        units: int,
        *,
        cell: str = "lstm",
        direction: str = "forward",
        loop: str = "auto",
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        if direction not in DIRECTIONS[:2]:
            raise ValueError(f"direction must be one of {', '.join(DIRECTIONS[:2])}, got {direction!r}.")
        if loop not in LOOPS:
            raise ValueError(f"loop must be one of {', '.join(LOOPS)}, got {loop!r}.")
        self.units = units
        self.direction = direction
        self.loop = loop
        self.cell = make_cell(cell, units, dtype=self.dtype_policy, name=cell)
        self.cell_name = cell
        if loop == "keras" and cell not in TWINS:
            raise ValueError(
                f"The loop 'keras' runs {' and '.join(TWINS)}, got the cell {cell!r}; 'auto' runs every cell."
            )
        self.supports_jit = loop == "scan"
        self.supports_masking = True

    def build(self, inputs_shape, mask_shape=None) -> None:
        self.cell.build_for(inputs_shape[-1])
        by_keras = self.loop == "keras" or (
            self.loop == "auto" and self.cell_name in TWINS and gpu_is_visible()
        )
        self.keras_loop = KerasLoop(self.cell, self.cell_name, self.direction) if by_keras else None
        self.built = True

    def call(self, inputs, mask, training=False):
        if training and self.keras_loop is not None:
            return self.keras_loop(inputs, mask)
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
        own = {"units": self.units, "cell": self.cell_name, "direction": self.direction, "loop": self.loop}
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
        loop: what runs the cells in training, see `Recurrent`.

    Call arguments:
        inputs: (B, T, I) float, T at least 1.
        mask: (B, T) bool, True where there is a token.

    Returns:
        Outputs (B, T, D), or (B, T, 2D) if bidirectional, and a tuple of the final hidden states of all
        layers side by side, (B, depth * D), for each direction: of a bidirectional stack first those of the
        forward direction, after the last token, then those of the backward one, after the first.

    Raises:
        ValueError: a size is less than 1, the dropout is no rate, a name is not known, or Keras' loop does
            not run the cell.
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
        loop: str = "auto",
        **kwargs,
    ) -> None:
        super().__init__(**kwargs)
        require_positive(units=units, depth=depth)
        require_rate(dropout=dropout)
        if direction not in DIRECTIONS:
            raise ValueError(f"direction must be one of {', '.join(DIRECTIONS)}, got {direction!r}.")
        self.units = units
        self.cell = cell
        self.depth = depth
        self.direction = direction
        self.dropout = dropout
        self.residual = residual
        self.layer_norm = layer_norm
        self.loop = loop
        self.supports_masking = True
        policy = self.dtype_policy
        directions = DIRECTIONS[:2] if direction == "bidirectional" else (direction,)
        self.layers = [[self._make_layer(one, number) for one in directions] for number in range(depth)]
        self.norms = [
            LayerNorm(dtype=policy, name=f"norm_{number}") for number in range(depth if layer_norm else 0)
        ]
        self.between = keras.layers.Dropout(dropout, dtype=policy, name="dropout")
        self.width = units * len(directions)
        self.summary_width = (depth * units,) * len(directions)

    def _make_layer(self, direction: str, number: int) -> Recurrent:
        own = {"cell": self.cell, "loop": self.loop, "dtype": self.dtype_policy}
        return Recurrent(self.units, direction=direction, name=f"{direction}_{number}", **own)

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
            results = [layer(below, mask, training=training) for layer in directions]
            outputs = ops.concatenate([outputs for outputs, _ in results], axis=-1)
            finals.append([state.hidden for _, state in results])
            if self.residual and number:
                outputs = outputs + inputs
            if self.layer_norm:
                outputs = self.norms[number](outputs)
                outputs = ops.where(mask[..., None], outputs, ops.zeros_like(outputs))
            inputs = outputs
        return inputs, tuple(ops.concatenate(one, axis=-1) for one in zip(*finals, strict=True))

    def compute_mask(self, inputs, previous_mask):
        """Outputs are masked as the inputs are, the final states are not."""
        return (previous_mask, *(None for _ in self.layers[0]))

    def get_config(self):
        own = ("units", "cell", "depth", "direction", "dropout", "residual", "layer_norm", "loop")
        return {**super().get_config(), **{name: getattr(self, name) for name in own}}
