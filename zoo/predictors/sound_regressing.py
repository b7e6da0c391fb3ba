"""Sounds to a number for each."""

from typing import Any, NamedTuple

import tensorflow as tf

from zoo.predictor import Signature
from zoo.predictors.hearing import AUDIO, Features, HearingPredictor
from zoo.predictors.regressing import check_finite

__all__ = ["SoundRegressingPredictor", "SoundValue"]


class SoundValue(NamedTuple):
    """A number for every sound."""

    value: tf.Tensor
    """(B,) float32."""
    problem: tf.Tensor
    """(B,) strings: why there is nothing to be heard; or empty."""


class SoundRegressingPredictor(HearingPredictor):
    """A trained regressor of speech, or of other sounds, that is asked with the bytes of WAV files.

    Args:
        model: `{"source": (B, T, M) float}` to numbers (B, 1), such as a `SequenceRegressor` over a
            `zoo.models.frame_encoder.RecurrentFrameEncoder`.
        features: from waveforms to frames: `zoo.layers.LogMel`.
        silent_value: the answer where there is nothing to be heard; finite in float32, for JSON.
        max_seconds: of each file, what is beyond is not heard.

    Raises:
        ValueError: the value is not finite in float32, or the bound is below one sample.
    """

    def __init__(
        self, model: Any, features: Features, *, silent_value: float = 0.0, max_seconds: float = 30.0
    ) -> None:
        super().__init__(model, features, (None, 1), max_seconds=max_seconds)
        self.silent_value = check_finite(silent_value=silent_value)

    def regress(self, audio: Any) -> SoundValue:
        """Files (B,), as bytes, to a number for each."""
        heard = self.hear(audio)
        return SoundValue(tf.where(heard.silent, self.silent_value, heard.outputs[:, 0]), heard.problem)

    def signatures(self) -> dict[str, Signature]:
        """`regress`: value and problem. `serving_default`: value."""
        return {
            "serving_default": Signature(lambda audio: {"value": self.regress(audio).value}, AUDIO),
            "regress": Signature(lambda audio: self.regress(audio)._asdict(), AUDIO),
        }
