"""Sounds as a model takes them, from the bytes of WAV files."""

from typing import Any, Protocol

import tensorflow as tf

from zoo.predictors.records import Read
from zoo.predictors.waveforms import read_waveforms

__all__ = ["Features", "SoundReader"]


class Features(Protocol):
    """From waveforms to the frames that a model takes, such as `zoo.layers.LogMel`."""

    sample_rate: int
    """Samples of a second."""

    def __call__(self, waveform: Any, mask: Any) -> Any:
        """Samples (B, N) and where they are, to frames (B, T, M); zeros where no frame counts."""

    def frame_mask(self, mask: Any) -> Any:
        """Where samples are, (B, N), to which frames count, (B, T)."""


class SoundReader:
    """Reads WAV files: 16-bit PCM, of one or two channels, which are averaged.

    The model gets `source`, frames (B, T, M) float, zeros where there is no frame.

    Args:
        features: makes the frames; files must have its sample rate.
        max_seconds: of each file, what is beyond is not read.

    Raises:
        ValueError: the bound is below one sample.
    """

    name = "audio"

    def __init__(self, features: Features, *, max_seconds: float = 30.0) -> None:
        self.features = features
        self.max_samples = round(max_seconds * features.sample_rate)
        if self.max_samples < 1:
            raise ValueError(f"max_seconds must be at least one sample long, got {max_seconds} s.")

    def read(self, records: Any) -> Read:
        """Files (B,), as bytes, to frames."""
        rate = self.features.sample_rate
        waveforms = read_waveforms(records, sample_rate=rate, max_samples=self.max_samples)
        frames = self.features(waveforms.samples, mask=waveforms.mask)
        heard = tf.reduce_any(self.features.frame_mask(waveforms.mask), axis=1)
        problem = tf.where(heard | (waveforms.problem != ""), waveforms.problem, "shorter than a frame")
        return Read({"source": frames}, problem)

    def describe(self) -> dict[str, str]:
        """What files it reads, in words."""
        rate = self.features.sample_rate
        limit = f"{self.max_samples / rate:g} s are read"
        return {"audio.txt": f"WAV, 16-bit PCM, 1 or 2 channels, {rate} samples a second; {limit}.\n"}
