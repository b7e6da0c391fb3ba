"""WAV files as programs write them, and as they should not."""

import struct

import numpy as np

RATE = 8000


def wav(samples=(), *, form=1, channels=1, rate=RATE, bits=16, before=b"", size=None, data=None, longer=b""):
    """The bytes of a file; `before` are parts before the samples, `longer` what follows the sixteen bytes of
    the header, `size` what the file claims to have of samples, `data` their bytes."""
    content = np.asarray(samples, "<i2").tobytes() if data is None else data
    frame = channels * bits // 8
    header = struct.pack("<HHIIHH", form, channels, rate, rate * frame, frame, bits) + longer
    parts = b"fmt " + struct.pack("<I", len(header)) + header + before
    parts += b"data" + struct.pack("<I", len(content) if size is None else size) + content
    return b"RIFF" + struct.pack("<I", min(4 + len(parts), 2**32 - 1)) + b"WAVE" + parts


def part(name, content):
    """A part of a file, made even as the format has it."""
    return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def tone(hertz, seconds=0.2, *, loudness=0.5, rate=RATE):
    """A file with one tone in it."""
    times = np.arange(round(seconds * rate)) / rate
    return wav(np.round(loudness * 32767 * np.sin(2 * np.pi * hertz * times)).astype("<i2"), rate=rate)
