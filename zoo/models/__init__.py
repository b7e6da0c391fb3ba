"""The models of the zoo.

Those that generate stand behind one protocol (`zoo.decoders.protocol`). Taggers, classifiers and regressors
take `{"source": ids}` and give numbers. All are put together from the same encoders.
"""

from zoo.models.attentive import BahdanauDecoder, LuongDecoder
from zoo.models.class_token import ClassToken
from zoo.models.encoded import Encoded
from zoo.models.ensemble import Ensemble
from zoo.models.frame_encoder import RecurrentFrameEncoder
from zoo.models.language_model import RecurrentLM, TransformerLM
from zoo.models.prompt import Prompt, read_prompt
from zoo.models.recurrent import RecurrentDecoder, RecurrentEncoder
from zoo.models.seq2seq import RecurrentSeq2Seq, Seq2Seq, TransformerSeq2Seq
from zoo.models.sequence_classifier import SequenceClassifier, SequenceRegressor
from zoo.models.sequence_tagger import SequenceTagger, TokenRegressor
from zoo.models.transformer import CausalTransformer, TransformerDecoder, TransformerEncoder
from zoo.models.windowed import WindowedEncoder

__all__ = [
    "BahdanauDecoder",
    "CausalTransformer",
    "ClassToken",
    "Encoded",
    "Ensemble",
    "LuongDecoder",
    "Prompt",
    "RecurrentDecoder",
    "RecurrentEncoder",
    "RecurrentFrameEncoder",
    "RecurrentLM",
    "RecurrentSeq2Seq",
    "Seq2Seq",
    "SequenceClassifier",
    "SequenceRegressor",
    "SequenceTagger",
    "TokenRegressor",
    "TransformerDecoder",
    "TransformerEncoder",
    "TransformerLM",
    "TransformerSeq2Seq",
    "WindowedEncoder",
    "read_prompt",
]
