"""From trained models to what an export asks of them: texts or bytes in, answers out, graph operations alone.

Models that generate stand in a `Predictor`; those that label or measure in one of their own:

    Predictor                    serving_default, greedy, beam, generate, sample, score, align
    TaggingPredictor             serving_default, tag (tokens, labels, scores)
    TokenRegressingPredictor     serving_default, tag (tokens, values)
    ClassifyingPredictor         serving_default, classify
    RegressingPredictor          serving_default, regress
    RecordClassifyingPredictor   the same, but for what a reader reads: a `SoundReader` WAV files,
    RecordRegressingPredictor    as bytes in `audio`, a `NodeSetReader` lines of nodes and edges in `nodes`

All have `signatures()` and `assets()`, which is all that `zoo.export.write` knows of them.
"""

from zoo.predictor import Predictor, Signature
from zoo.predictors.classifying import Classification, ClassifyingPredictor
from zoo.predictors.node_sets import NodeSetReader
from zoo.predictors.record_classifying import RecordClassification, RecordClassifyingPredictor
from zoo.predictors.record_regressing import RecordRegressingPredictor, RecordValue
from zoo.predictors.regressing import RegressingPredictor
from zoo.predictors.sounds import SoundReader
from zoo.predictors.tagging import Tagging, TaggingPredictor
from zoo.predictors.token_regressing import TokenRegressingPredictor, TokenValues

__all__ = [
    "Classification",
    "ClassifyingPredictor",
    "NodeSetReader",
    "Predictor",
    "RecordClassification",
    "RecordClassifyingPredictor",
    "RecordRegressingPredictor",
    "RecordValue",
    "RegressingPredictor",
    "Signature",
    "SoundReader",
    "Tagging",
    "TaggingPredictor",
    "TokenRegressingPredictor",
    "TokenValues",
]
