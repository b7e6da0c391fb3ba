"""What predictors have in common that are asked with the bytes of WAV files."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import tensorflow as tf

from zoo.predictors.waveforms import read_waveforms

__all__ = ["AUDIO", "Features", "Heard", "HearingPredictor"]

AUDIO = {"audio": tf.TensorSpec([None], tf.string, name="audio")}
"""The inputs of every signature: a batch of files, each as its bytes."""


class Features(Protocol):
    """From waveforms to the frames that a model takes, such as `zoo.layers.LogMel`."""

    sample_rate: int
    """Samples of a second."""

    def __call__(self, waveform: Any, mask: Any) -> Any:
        """Samples (B, N) and where they are, to frames (B, T, M); zeros where no frame counts."""

    def frame_mask(self, mask: Any) -> Any:
        """Where samples are, (B, N), to which frames count, (B, T)."""


class Heard(NamedTuple):
    """What was made of the bytes, and what the model says of it."""

    problem: tf.Tensor
    """(B,) strings: why there is nothing to be heard in a row; empty where there is."""
    silent: tf.Tensor
    """(B,) bool: whether there is nothing to be heard."""
    outputs: tf.Tensor
    """What the model says, in float32; of a silent row it means nothing."""


class HearingPredictor(tf.Module):
    """A reader of WAV files and a maker of frames in front of a model.

    Bytes that are no such file, or one that is too short, do no harm to the others of their batch: there is
    nothing to be heard in them, and `problem` says why.

    Args:
        model: takes `{"source": (B, T, M) float}`, zeros where there is no frame.
        features: makes the frames; files must have its sample rate.
        form: shape of what the model gives, its axes of any length as None.
        max_seconds: of each file, what is beyond is not heard.

    Raises:
        ValueError: the bound is below one sample.
    """

    def __init__(
        self, model: Any, features: Features, form: Sequence[int | None], *, max_seconds: float
    ) -> None:
        super().__init__()
        self.model = model
        self.features = features
        self.form = tuple(form)
        self.max_samples = round(max_seconds * features.sample_rate)
        if self.max_samples < 1:
            raise ValueError(f"max_seconds must be at least one sample long, got {max_seconds} s.")

    def hear(self, audio: Any) -> Heard:
        """Files (B,), as bytes, to what the model says of them.

        Raises:
            ValueError: the model gives something of another form.
        """
        rate = self.features.sample_rate
        waveforms = read_waveforms(audio, sample_rate=rate, max_samples=self.max_samples)
        frames = self.features(waveforms.samples, mask=waveforms.mask)
        heard = tf.reduce_any(self.features.frame_mask(waveforms.mask), axis=1)
        problem = tf.where(heard | (waveforms.problem != ""), waveforms.problem, "shorter than a frame")
        outputs = self.model({"source": frames}, training=False)
        if not outputs.shape.is_compatible_with(self.form):
            raise ValueError(
                f"{type(self).__name__} takes a model whose outputs have the shape {self.form}, "
                f"got {tuple(outputs.shape)} from {type(self.model).__name__}. "
                "See zoo.predictors for one that fits the model."
            )
        return Heard(problem, ~heard, tf.cast(outputs, tf.float32))

    def assets(self) -> dict[str, str]:
        """Files for people who want to review an export: name to content."""
        rate = self.features.sample_rate
        limit = f"{self.max_samples / rate:g} s are heard"
        return {"audio.txt": f"WAV, 16-bit PCM, 1 or 2 channels, {rate} samples a second; {limit}.\n"}
