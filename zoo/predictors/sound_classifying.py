"""Sounds to a label for each."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from zoo.predictor import Signature
from zoo.predictors.classifying import classification
from zoo.predictors.hearing import AUDIO, Features, HearingPredictor
from zoo.predictors.labels import LABELS, check_labels, describe_labels

__all__ = ["SoundClassification", "SoundClassifyingPredictor"]


class SoundClassification(NamedTuple):
    """A label for every sound; the empty one, with probabilities of 0, where there is nothing to be heard."""

    label: tf.Tensor
    """(B,) strings: the most probable label."""
    score: tf.Tensor
    """(B,) float32: its probability."""
    probabilities: tf.Tensor
    """(B, C) float32: of all labels, in their order."""
    problem: tf.Tensor
    """(B,) strings: why there is nothing to be heard, as in `expected 16 bits a sample, got 8`; or empty."""


class SoundClassifyingPredictor(HearingPredictor):
    """A trained classifier of speech, or of other sounds, that is asked with the bytes of WAV files.

    A file is 16-bit PCM, of one or two channels, which are averaged, at the sample rate of the features.

    Args:
        model: `{"source": (B, T, M) float}` to logits (B, C), and C as `classes`, such as a
            `zoo.models.SequenceClassifier` over a `zoo.models.frame_encoder.RecurrentFrameEncoder`.
        features: from waveforms to frames: `zoo.layers.LogMel`.
        labels: the name of each class, a line of text that is not blank.
        max_seconds: of each file, what is beyond is not heard.

    Raises:
        ValueError: the labels are not one for each class, or the bound is below one sample.
    """

    def __init__(
        self, model: Any, features: Features, labels: Sequence[str], *, max_seconds: float = 30.0
    ) -> None:
        super().__init__(model, features, (None, model.classes), max_seconds=max_seconds)
        self.labels = check_labels(labels, model.classes)

    def classify(self, audio: Any) -> SoundClassification:
        """Files (B,), as bytes, to a label for each."""
        heard = self.hear(audio)
        return SoundClassification(
            *classification(self.labels, heard.silent, heard.outputs), problem=heard.problem
        )

    def signatures(self) -> dict[str, Signature]:
        """`classify`: label, score, probabilities and problem. `serving_default`: label."""
        return {
            "serving_default": Signature(lambda audio: {"label": self.classify(audio).label}, AUDIO),
            "classify": Signature(lambda audio: self.classify(audio)._asdict(), AUDIO),
        }

    def assets(self) -> dict[str, str]:
        """Files for people who want to review an export: name to content."""
        return {**super().assets(), LABELS: describe_labels(self.labels)}
