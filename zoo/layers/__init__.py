"""The layers of the zoo: each from its equations, each a Keras layer."""

from zoo.layers.attention import AdditiveAttention, masked_softmax
from zoo.layers.masks import padding_mask
from zoo.layers.readout import MaxoutReadout
from zoo.layers.recurrent import LSTM, AttentiveLSTM, AttentiveState, LSTMCell, LSTMState

__all__ = [
    "LSTM",
    "AdditiveAttention",
    "AttentiveLSTM",
    "AttentiveState",
    "LSTMCell",
    "LSTMState",
    "MaxoutReadout",
    "masked_softmax",
    "padding_mask",
]
