"""From trained models to what an export asks of them: texts or bytes in, answers out, graph operations alone.

Models that generate stand in a `Predictor`; those that label or measure in one of their own:

    Predictor                    serving_default, greedy, beam, score, align
    TaggingPredictor             serving_default, tag (tokens, labels, scores)
    TokenRegressingPredictor     serving_default, tag (tokens, values)
    ClassifyingPredictor         serving_default, classify
    RegressingPredictor          serving_default, regress
    SoundClassifyingPredictor    the same over `audio`, the bytes of WAV files, in place of `text`
    SoundRegressingPredictor

All have `signatures()` and `assets()`, which is all that `zoo.export.write` knows of them.
"""

from zoo.predictor import Predictor, Signature
from zoo.predictors.classifying import Classification, ClassifyingPredictor
from zoo.predictors.regressing import RegressingPredictor
from zoo.predictors.sound_classifying import SoundClassification, SoundClassifyingPredictor
from zoo.predictors.sound_regressing import SoundRegressingPredictor, SoundValue
from zoo.predictors.tagging import Tagging, TaggingPredictor
from zoo.predictors.token_regressing import TokenRegressingPredictor, TokenValues

__all__ = [
    "Classification",
    "ClassifyingPredictor",
    "Predictor",
    "RegressingPredictor",
    "Signature",
    "SoundClassification",
    "SoundClassifyingPredictor",
    "SoundRegressingPredictor",
    "SoundValue",
    "Tagging",
    "TaggingPredictor",
    "TokenRegressingPredictor",
    "TokenValues",
]
