"""The layers of the zoo: each from its equations, each a Keras layer.

One alphabet in all shapes: **B** sources, **S** source length, **T** target length, **K** hypotheses per
source, **D** width, **H** heads, **U** attention units, **V** vocabulary, **L** maximum length; **I** is the
width of an input where it is not D.
"""

from zoo.layers.attention import (
    AdditiveAttention,
    Attention,
    DotAttention,
    GeneralAttention,
    ScaledDotAttention,
    masked_softmax,
)
from zoo.layers.cache import Place, empty_cache
from zoo.layers.cells import (
    Cell,
    GRUCell,
    HiddenState,
    LSTMCell,
    LSTMGates,
    LSTMState,
    RNNCell,
    climb,
    make_cell,
)
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
from zoo.layers.multi_head import KeysValues, MultiHeadAttention, masked_relu
from zoo.layers.nodes import AdjacencyBias
from zoo.layers.normalization import LayerNorm
from zoo.layers.pooling import AttentionPooling, Pooling
from zoo.layers.positions import LearnedPositions, RotaryPositions, SinusoidalPositions
from zoo.layers.projection import Projection
from zoo.layers.readout import MaxoutReadout
from zoo.layers.recurrent import Recurrent, RecurrentStack
from zoo.layers.scan import scan
from zoo.layers.transformer import CausalBlock, DecoderBlock, EncoderBlock, FeedForward

__all__ = [
    "MFCC",
    "AdditiveAttention",
    "AdjacencyBias",
    "Attention",
    "AttentionPooling",
    "CausalBlock",
    "Cell",
    "DecoderBlock",
    "DotAttention",
    "EncoderBlock",
    "FeedForward",
    "FrameNormalization",
    "FrameStatistics",
    "GRUCell",
    "GeneralAttention",
    "HiddenState",
    "KeysValues",
    "LSTMCell",
    "LSTMGates",
    "LSTMState",
    "LayerNorm",
    "LearnedPositions",
    "LogMel",
    "MaxoutReadout",
    "MultiHeadAttention",
    "OneHot",
    "Place",
    "Pooling",
    "Projection",
    "RNNCell",
    "Recurrent",
    "RecurrentStack",
    "RotaryPositions",
    "ScaledDotAttention",
    "SinusoidalPositions",
    "TiedEmbedding",
    "adjacency_mask",
    "causal_mask",
    "climb",
    "empty_cache",
    "frame_mask",
    "frame_statistics",
    "make_cell",
    "masked_relu",
    "masked_softmax",
    "mel_filters",
    "padding_mask",
    "scan",
]
