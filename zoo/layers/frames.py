"""From the waveform of speech to a vector for each short stretch of it, in the graph."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import keras
import numpy as np
from keras import ops

from zoo.layers.masks import frame_mask
from zoo.layers.sizes import require_positive

__all__ = ["MFCC", "FrameNormalization", "FrameStatistics", "LogMel", "frame_statistics", "mel_filters"]

LEAST_DEVIATION = 1e-5


@keras.saving.register_keras_serializable("zoo")
class LogMel(keras.layers.Layer):
    """For each frame of a waveform, the logarithms of its energies in bands that are equally wide to the ear.

    For the frame of W samples that begins at sample t, and a transform of F points, the least power of two
    that is not below W (the HTK Book, sections 5.2 and 5.4)::

        w_n = (1 - cos(2 pi n / W)) / 2                        Hann window, periodic
        P_k = |sum_n w_n x_{t+n} exp(-2 pi i k n / F)|^2       power spectrum, k = 0 ... F/2
        y_m = ln max(sum_k M_km P_k, floor)                    M: `mel_filters`

    All of it is computed in float32, whatever the policy: half precision cannot hold a power.

    Args:
        sample_rate: samples of a second.
        window_seconds: length of a frame; W is this many seconds in samples, rounded.
        hop_seconds: from the start of a frame to that of the next, rounded to samples likewise.
        bands: number of bands, M in shapes.
        low_hertz: where the lowest band begins.
        high_hertz: where the highest band ends; None is half the sample rate.
        floor: least energy of a band, in the square of the waveform's unit.

    Call arguments:
        waveform: (B, N) float, sound pressure in any unit, such as -1 to 1; padded on the right, so that the
            first frame begins where the sound does.
        mask: (B, N) bool, True where there is a sample.

    Returns:
        (B, T, M), T = ceil(N / hop). Frames that do not count, by `frame_mask`, are zero.

    Raises:
        ValueError: the sample rate is less than 1, a length is below one sample, the floor is not positive,
            or the bands cannot be made (`mel_filters`).
    """

    def __init__(
        self,
        sample_rate: int,
        *,
        window_seconds: float = 0.025,
        hop_seconds: float = 0.010,
        bands: int = 40,
        low_hertz: float = 20.0,
        high_hertz: float | None = None,
        floor: float = 1e-10,
        **kwargs,
    ) -> None:
        super().__init__(autocast=False, **kwargs)
        require_positive(sample_rate=sample_rate)
        if floor <= 0:
            raise ValueError(
                f"floor must be above 0, which has no logarithm, got {floor}. Give a number above."
            )
        self.sample_rate = sample_rate
        self.window_seconds = window_seconds
        self.hop_seconds = hop_seconds
        self.bands = bands
        self.low_hertz = low_hertz
        self.high_hertz = high_hertz
        self.floor = floor
        self.window = _samples("window_seconds", window_seconds, sample_rate)
        self.hop = _samples("hop_seconds", hop_seconds, sample_rate)
        self.fft_length = 2 ** (self.window - 1).bit_length()
        self.filters = mel_filters(
            bands,
            fft_length=self.fft_length,
            sample_rate=sample_rate,
            low_hertz=low_hertz,
            high_hertz=sample_rate / 2 if high_hertz is None else high_hertz,
        )

    def call(self, waveform, mask):
        waveform = ops.where(mask, ops.cast(waveform, "float32"), 0.0)
        waveform = ops.pad(waveform, ((0, 0), (0, self.window - 1)))
        hann = (1 - np.cos(2 * np.pi * np.arange(self.window) / self.window)) / 2
        frames = ops.extract_sequences(waveform, self.window, self.hop) * hann.astype("float32")
        real, imaginary = ops.rfft(frames, self.fft_length)
        energies = ops.matmul(ops.square(real) + ops.square(imaginary), self.filters)
        logarithms = ops.log(ops.maximum(energies, self.floor))
        return ops.cast(ops.where(self.frame_mask(mask)[..., None], logarithms, 0.0), self.compute_dtype)

    def frame_mask(self, mask):
        """Mask of samples (B, N) to mask of frames, (B, T)."""
        return frame_mask(mask, window=self.window, hop=self.hop)

    def compute_mask(self, waveform, previous_mask):
        """None: the mask of the frames is what `frame_mask` gives, handed on by name."""
        return None

    def get_config(self):
        config = {
            "sample_rate": self.sample_rate,
            "window_seconds": self.window_seconds,
            "hop_seconds": self.hop_seconds,
            "bands": self.bands,
            "low_hertz": self.low_hertz,
            "high_hertz": self.high_hertz,
            "floor": self.floor,
        }
        return {**super().get_config(), **config}


def _samples(name: str, seconds: float, sample_rate: int) -> int:
    samples = round(seconds * sample_rate)
    if samples < 1:
        raise ValueError(
            f"{name} must be at least one sample long, got {seconds} s at {sample_rate} samples of a second."
        )
    return samples


def mel_filters(
    bands: int, *, fft_length: int, sample_rate: int, low_hertz: float, high_hertz: float
) -> np.ndarray:
    """What each frequency of a power spectrum adds to each band, by the HTK Book, section 5.4::

        mel(f) = 2595 log10(1 + f / 700)

    The bands are triangles of height 1 over the mel scale, each from the middle of the band below to the
    middle of the band above; middles and ends are equally far apart in mel.

    Args:
        bands: number of bands, M.
        fft_length: F, points of the transform, even.
        sample_rate: samples of a second.
        low_hertz, high_hertz: where the lowest band begins and the highest ends.

    Returns:
        (F/2 + 1, M) float32.

    Raises:
        ValueError: there is no band, the ends do not lie in order between 0 and half the sample rate, or a
            band holds no frequency of the spectrum.
    """
    require_positive(bands=bands)
    if not 0 <= low_hertz < high_hertz <= sample_rate / 2:
        raise ValueError(
            f"Bands must lie between 0 and half the sample rate, {sample_rate / 2} Hz, got {low_hertz} to "
            f"{high_hertz} Hz."
        )
    mel = _mel(np.arange(fft_length // 2 + 1) * sample_rate / fft_length)[:, None]
    edges = np.linspace(_mel(low_hertz), _mel(high_hertz), bands + 2)
    lower, middle, upper = edges[:-2], edges[1:-1], edges[2:]
    filters = np.maximum(0, np.minimum((mel - lower) / (middle - lower), (upper - mel) / (upper - middle)))
    empty = np.flatnonzero(filters.max(axis=0) == 0)
    if empty.size:
        raise ValueError(
            f"Band {empty[0]} of {bands} holds none of the {len(mel)} frequencies of the spectrum: "
            "take fewer bands, a longer window, or a wider range."
        )
    return filters.astype("float32")


def _mel(hertz):
    return 2595 * np.log10(1 + np.asarray(hertz) / 700)


@keras.saving.register_keras_serializable("zoo")
class MFCC(keras.layers.Layer):
    """Mel-frequency cepstral coefficients of what `LogMel` gives, by Davis & Mermelstein (1980): the discrete
    cosine transform, type II, orthonormal, of which the first coefficients are kept::

        c_k = s_k sum_m y_m cos(pi k (m + 1/2) / M)      s_0 = sqrt(1/M), else s_k = sqrt(2/M)

    Args:
        coefficients: how many are kept, C in shapes, c_0 the first of them.

    Call arguments:
        inputs: (..., M) float, logarithms of energies in M bands.

    Returns:
        (..., C). Frames of zeros, which do not count, stay zeros.

    Raises:
        ValueError: C is less than 1, or, when it is called, greater than M.
    """

    def __init__(self, coefficients: int = 13, **kwargs) -> None:
        super().__init__(**kwargs)
        require_positive(coefficients=coefficients)
        self.supports_masking = True
        self.coefficients = coefficients

    def call(self, inputs):
        bands = inputs.shape[-1]
        if self.coefficients > bands:
            raise ValueError(f"{self.coefficients} coefficients need as many bands at least, got {bands}.")
        order, band = np.arange(self.coefficients), np.arange(bands)[:, None]
        cosines = np.cos(np.pi * order * (band + 0.5) / bands) * np.where(order == 0, 1, 2**0.5) / bands**0.5
        return ops.matmul(inputs, ops.cast(cosines.astype("float32"), inputs.dtype))

    def get_config(self):
        return {**super().get_config(), "coefficients": self.coefficients}


class FrameStatistics(NamedTuple):
    """Of each number in a frame, over all frames of some recordings."""

    mean: Any
    """(D,)"""
    deviation: Any
    """(D,) standard deviation, of the population."""


def frame_statistics(batches: Iterable[tuple[Any, Any]]) -> FrameStatistics:
    """Mean and deviation over the frames that count, one batch at a time.

    Args:
        batches: pairs of frames (B, T, D) and mask (B, T), True where a frame counts.

    Returns:
        `FrameStatistics` in float32.

    Raises:
        ValueError: no frame counts.
    """
    count, mean, spread = 0, np.float64(0), np.float64(0)  # spread: sum of squared distances from the mean
    for frames, mask in batches:
        chosen = ops.convert_to_numpy(ops.cast(frames, "float32"))[ops.convert_to_numpy(mask)]
        if not len(chosen):
            continue
        chosen = chosen.astype("float64")
        shift = chosen.mean(axis=0) - mean
        total = count + len(chosen)
        # Chan, Golub & LeVeque (1979): two parts are joined without the loss of digits of a sum of squares.
        spread = spread + chosen.var(axis=0) * len(chosen) + shift**2 * count * len(chosen) / total
        mean = mean + shift * len(chosen) / total
        count = total
    if not count:
        raise ValueError("Statistics need at least one frame whose mask is True, got none.")
    return FrameStatistics(mean.astype("float32"), np.sqrt(spread / count).astype("float32"))


@keras.saving.register_keras_serializable("zoo")
class FrameNormalization(keras.layers.Layer):
    """Brings each number of a frame to mean 0 and deviation 1, as measured over recordings beforehand::

        y = (x - mean) / deviation

    The statistics are weights that no training moves; they are saved and exported with the model. Until
    `set_statistics` they are 0 and 1. A number that hardly ever moves, by less than 1e-5, is only shifted.

    Call arguments:
        inputs: (B, T, D) float.
        mask: (B, T) bool, True where a frame counts.

    Returns:
        (B, T, D), zero where no frame counts.
    """

    def __init__(self, **kwargs) -> None:
        super().__init__(autocast=False, **kwargs)

    def build(self, inputs_shape, mask_shape=None) -> None:
        def statistic(name: str, initializer: str):
            shape = (inputs_shape[-1],)
            return self.add_weight(shape, initializer, dtype="float32", trainable=False, name=name)

        self.mean = statistic("mean", "zeros")
        self.deviation = statistic("deviation", "ones")
        self.built = True

    def set_statistics(self, statistics: FrameStatistics) -> None:
        """Normalise by what `frame_statistics` measured."""
        if not self.built:
            self.build((None, None, len(statistics.mean)))
        self.mean.assign(statistics.mean)
        self.deviation.assign(np.where(statistics.deviation < LEAST_DEVIATION, 1, statistics.deviation))

    def call(self, inputs, mask):
        normalized = (ops.cast(inputs, "float32") - self.mean) / self.deviation
        return ops.cast(ops.where(mask[..., None], normalized, 0.0), self.compute_dtype)

    def compute_mask(self, inputs, previous_mask):
        """None: the mask of the frames is handed on by name."""
        return None
