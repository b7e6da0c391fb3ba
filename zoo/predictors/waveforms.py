"""From the bytes of WAV files to the rows of a batch, in graph operations that no bytes make fail.

TensorFlow's own `tf.audio.decode_wav` fails on a file that is cut or of another kind, and with it the whole
batch, that is the requests of others. Here such a row is silence, and says why.
"""

from typing import Any, NamedTuple

import tensorflow as tf

__all__ = ["Waveforms", "read_waveforms"]

CHUNKS = 32
"""How many parts of a file are looked at for the two that matter; few files have more than four."""

PCM, EXTENSIBLE = 1, 0xFFFE
"""Formats of the samples: plain numbers, and what a longer header says."""

FORMAT_BYTES = 26
"""The part of a header that is looked at; the last two bytes only in the longer one."""


class Waveforms(NamedTuple):
    """Sounds, padded on the right to the longest of the batch."""

    samples: tf.Tensor
    """(B, N) float32 from -1 to below 1, the mean of the channels; 0 beyond the end. N is at least 1."""
    mask: tf.Tensor
    """(B, N) bool: where there is a sample."""
    problem: tf.Tensor
    """(B,) strings: why a row has no sample; empty where it has some."""


class _Chunks(NamedTuple):
    """What a walk over the parts of files has found; all (B,)."""

    place: tf.Tensor
    """int64: where the next part begins."""
    form: tf.Tensor
    """Strings: what the part `fmt ` holds; empty before it is found."""
    data: tf.Tensor
    """Strings: what the part `data` holds."""
    found: tf.Tensor
    """bool: whether the part `data` was found."""


def read_waveforms(audio: Any, *, sample_rate: int, max_samples: int) -> Waveforms:
    """Decode WAV files: 16-bit PCM, of one or two channels.

    Files that were cut, and those of programs that write before they know the size, are read as far as there
    are bytes.

    Args:
        audio: (B,) strings, each the bytes of a file.
        sample_rate: samples of a second that a file must have.
        max_samples: what is beyond is not read.
    """
    audio = tf.convert_to_tensor(audio, tf.string)
    chunks = _find_chunks(audio)
    code, channels, rate, bits = _format(chunks.form)
    whole = (tf.strings.substr(audio, 0, 4) == "RIFF") & (_part(audio, 8, 4) == "WAVE")
    problem = _first_that_holds(
        (tf.strings.length(audio) == 0, "there are no bytes"),
        (~whole | (chunks.form == "") | ~chunks.found, "not a WAV file"),
        (code != PCM, "expected samples in PCM"),
        (bits != 16, tf.strings.join(["expected 16 bits a sample, got ", tf.strings.as_string(bits)])),
        ((channels < 1) | (channels > 2), "expected one channel or two"),
        (
            rate != sample_rate,
            tf.strings.join([f"expected {sample_rate} samples a second, got ", tf.strings.as_string(rate)]),
        ),
        (tf.strings.length(chunks.data) < 2 * tf.cast(channels, tf.int32), "there are no samples"),
    )
    data = tf.where(problem == "", chunks.data, "")
    channels = tf.clip_by_value(tf.cast(channels, tf.int32), 1, 2)
    counts = tf.minimum(tf.strings.length(data) // (2 * channels), max_samples)
    length = tf.maximum(1, tf.reduce_max(counts))  # the largest of no counts is the smallest number there is
    # Bytes beyond the end of a row are filled up with zeros.
    numbers = tf.io.decode_raw(data, tf.int16, fixed_length=4 * length)
    first = tf.range(length)[None, :] * channels[:, None]
    left, right = (
        tf.cast(tf.gather(numbers, places, batch_dims=1), tf.float32)
        for places in (first, first + channels[:, None] - 1)
    )
    mask = tf.sequence_mask(counts, length)
    return Waveforms(tf.where(mask, (left + right) / 2**16, 0.0), mask, problem)


def _find_chunks(audio: tf.Tensor) -> _Chunks:
    """Walk over the parts of all files at once: four letters, a size, and so many bytes, made even."""

    def step(number: tf.Tensor, chunks: _Chunks) -> tuple[tf.Tensor, _Chunks]:
        name = _part(audio, chunks.place, 4)
        size = _number(_part(audio, chunks.place + 4, 4))
        content = chunks.place + 8
        is_form = (name == "fmt ") & (chunks.form == "")
        is_data = (name == "data") & ~chunks.found
        return number + 1, _Chunks(
            content + size + size % 2,
            tf.where(is_form, _part(audio, content, tf.minimum(size, FORMAT_BYTES)), chunks.form),
            tf.where(is_data, _part(audio, content, tf.where(is_data, size, 0)), chunks.data),
            chunks.found | is_data,
        )

    def goes_on(number: tf.Tensor, chunks: _Chunks) -> tf.Tensor:
        inside = chunks.place < tf.cast(tf.strings.length(audio), tf.int64)
        return (number < CHUNKS) & tf.reduce_any(inside & ~(chunks.found & (chunks.form != "")))

    start = tf.fill(tf.shape(audio), tf.constant(12, tf.int64))  # after RIFF, a size, and WAVE
    nothing = tf.fill(tf.shape(audio), "")
    return tf.while_loop(
        goes_on, step, (0, _Chunks(start, nothing, nothing, tf.fill(tf.shape(audio), False)))
    )[1]


def _format(form: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
    """Code of the format, channels, samples a second, and bits of a sample; each (B,) int64."""
    code, channels, rate, bits, inner = (
        _number(_part(form, place, size)) for place, size in ((0, 2), (2, 2), (4, 4), (14, 2), (24, 2))
    )
    return tf.where(code == EXTENSIBLE, inner, code), channels, rate, bits


def _part(text: tf.Tensor, place: Any, size: Any) -> tf.Tensor:
    """Bytes of each row from a place on, as many of them as there are."""
    length = tf.cast(tf.strings.length(text), tf.int64)
    start = tf.minimum(tf.cast(place, tf.int64), length)  # `substr` fails beyond the end
    return tf.strings.substr(text, start, tf.cast(tf.broadcast_to(size, tf.shape(text)), tf.int64))


def _number(text: tf.Tensor) -> tf.Tensor:
    """Up to eight bytes as a number (B,) int64, the lowest first; missing ones are zeros."""
    return tf.io.decode_raw(text, tf.int64, fixed_length=8)[:, 0]


def _first_that_holds(*cases: tuple[tf.Tensor, Any]) -> tf.Tensor:
    """For each row the text of the first condition (B,) that it meets; empty if it meets none."""
    said = tf.fill(tf.shape(cases[0][0]), "")
    for condition, text in reversed(cases):
        said = tf.where(condition, text, said)
    return said
