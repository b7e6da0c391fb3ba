"""The layers of the zoo: each from its equations, each a Keras layer."""

from zoo.layers.attention import AdditiveAttention, masked_softmax
from zoo.layers.embedding import OneHot, TiedEmbedding
from zoo.layers.frames import (
    MFCC,
    FrameNormalization,
    FrameStatistics,
    LogMel,
    frame_statistics,
    mel_filters,
)
from zoo.layers.masks import adjacency_mask, causal_mask, frame_mask, padding_mask
from zoo.layers.nodes import AdjacencyBias
from zoo.layers.positions import LearnedPositions, RotaryPositions, SinusoidalPositions
from zoo.layers.readout import MaxoutReadout
from zoo.layers.recurrent import LSTM, AttentiveLSTM, AttentiveState, LSTMCell, LSTMState

__all__ = [
    "LSTM",
    "MFCC",
    "AdditiveAttention",
    "AdjacencyBias",
    "AttentiveLSTM",
    "AttentiveState",
    "FrameNormalization",
    "FrameStatistics",
    "LSTMCell",
    "LSTMState",
    "LearnedPositions",
    "LogMel",
    "MaxoutReadout",
    "OneHot",
    "RotaryPositions",
    "SinusoidalPositions",
    "TiedEmbedding",
    "adjacency_mask",
    "causal_mask",
    "frame_mask",
    "frame_statistics",
    "masked_softmax",
    "mel_filters",
    "padding_mask",
]
