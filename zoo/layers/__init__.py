"""The layers of the zoo: each from its equations, each a Keras layer."""

from zoo.layers.attention import (
    AdditiveAttention,
    Attention,
    DotAttention,
    GeneralAttention,
    ScaledDotAttention,
    masked_softmax,
)
from zoo.layers.cells import (
    Cell,
    GRUCell,
    HiddenState,
    LSTMCell,
    LSTMGates,
    LSTMState,
    RNNCell,
    make_cell,
)
from zoo.layers.masks import padding_mask
from zoo.layers.readout import MaxoutReadout
from zoo.layers.recurrent import Recurrent, RecurrentStack
from zoo.layers.scan import scan

__all__ = [
    "AdditiveAttention",
    "Attention",
    "Cell",
    "DotAttention",
    "GRUCell",
    "GeneralAttention",
    "HiddenState",
    "LSTMCell",
    "LSTMGates",
    "LSTMState",
    "MaxoutReadout",
    "RNNCell",
    "Recurrent",
    "RecurrentStack",
    "ScaledDotAttention",
    "make_cell",
    "masked_softmax",
    "padding_mask",
    "scan",
]
