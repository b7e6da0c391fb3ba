"""WAV files of all sorts, in one batch: what can be read is, and what cannot says why and harms nobody."""

import struct

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf.meta_graph_pb2 import MetaGraphDef
from wav_files import RATE, part, tone, wav

from zoo.predictors.waveforms import read_waveforms
from zoo.verify.graph import known_operations
from zoo.verify.operations import operations

LONG = 500
GUID = struct.pack("<HHIH", 22, 16, 4, 1) + b"\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71"
STEREO = np.array([[1000, 3000], [-2, 2], [-32768, -32768]])

READ = {
    "plain": (wav([1, -2, 32767, -32768]), [1, -2, 32767, -32768]),
    "both channels": (wav(STEREO.ravel(), channels=2), [2000, 0, -32768]),
    "a longer header": (wav([5, 6], form=0xFFFE, longer=GUID), [5, 6]),
    "another part before": (wav([7], before=part(b"LIST", b"abcd")), [7]),
    "a part of odd length before": (wav([7], before=part(b"LIST", b"abc")), [7]),
    "many parts before": (wav([7], before=part(b"junk", b"") * 20), [7]),
    "a part that says data": (wav([7], before=part(b"LIST", b"data\2\0\0\0zz")), [7]),
    "size not known": (wav([7, 8], size=2**32 - 1), [7, 8]),
    "cut": (wav([7, 8, 9], size=1000), [7, 8, 9]),
    "cut within a sample": (wav(data=b"\7\0\x08", size=4), [7]),
    "something behind": (wav([7]) + b"abc", [7]),
    "as long as may be": (wav(range(LONG)), range(LONG)),
    "longer than may be": (wav(range(LONG + 9)), range(LONG)),
}

NOT_READ = {
    "nothing": (b"", "there are no bytes"),
    "a text": ("👍🏽🎉".encode(), "not a WAV file"),
    "noise": (b"\xff\xfe" * 99, "not a WAV file"),
    "four letters": (b"RIFF", "not a WAV file"),
    "no wave": (wav([1]).replace(b"WAVE", b"AVI "), "not a WAV file"),
    "cut in the header": (wav([1])[:30], "not a WAV file"),
    "no samples": (wav([]), "there are no samples"),
    "half a sample": (wav(data=b"\1"), "there are no samples"),
    "no part with data": (wav([1])[:36], "not a WAV file"),
    "a part beyond the end": (wav([1], before=b"LIST\xff\xff\xff\xff"), "not a WAV file"),
    "too many parts": (wav([1], before=part(b"junk", b"") * 40), "not a WAV file"),
    "eight bits": (wav(data=b"\x80" * 9, bits=8), "expected 16 bits a sample, got 8"),
    "numbers with a point": (wav(data=b"\0" * 8, form=3, bits=32), "expected samples in PCM"),
    "another rate": (wav([1], rate=44100), "expected 8000 samples a second, got 44100"),
    "no channel": (wav([1], channels=0), "expected one channel or two"),
    "six channels": (wav([1] * 6, channels=6), "expected one channel or two"),
}


@pytest.fixture(scope="module")
def read():
    """As an export has it: traced once, for a batch of any size."""
    function = tf.function(
        lambda audio: read_waveforms(audio, sample_rate=RATE, max_samples=LONG)._asdict(),
        input_signature=[tf.TensorSpec([None], tf.string)],
        autograph=False,
    )
    return lambda files: {name: value.numpy() for name, value in function(tf.constant(files)).items()}


@pytest.fixture(scope="module")
def together(read):
    return read([file for file, _ in (*READ.values(), *NOT_READ.values())])


@pytest.mark.parametrize("name", READ)
def test_a_file_is_read_beside_broken_ones(together, name):
    row, expected = list(READ).index(name), np.array(READ[name][1], "float32")
    assert together["problem"][row] == b""
    assert together["mask"][row].sum() == len(expected)
    assert together["mask"][row, : len(expected)].all()
    np.testing.assert_array_equal(together["samples"][row, : len(expected)], expected / 2**15)
    assert not together["samples"][row, len(expected) :].any()


@pytest.mark.parametrize("name", NOT_READ)
def test_what_cannot_be_read_is_silence_and_says_why(together, name):
    row = len(READ) + list(NOT_READ).index(name)
    assert together["problem"][row].decode() == NOT_READ[name][1]
    assert not together["mask"][row].any()
    assert not together["samples"][row].any()


@pytest.mark.parametrize("files", [[], [b""], [b"\xff"]])
def test_a_batch_with_nothing_in_it(read, files):
    answer = read(np.array(files, object))
    assert answer["samples"].shape == answer["mask"].shape == (len(files), 1)
    assert answer["problem"].shape == (len(files),)


def test_samples_are_those_of_tensorflows_own_reader(read):
    file = tone(440.0, 0.05)
    np.testing.assert_array_equal(read([file])["samples"][0], tf.audio.decode_wav(file).audio[:, 0])


def test_its_operations_are_known_to_the_server():
    function = tf.function(lambda audio: read_waveforms(audio, sample_rate=RATE, max_samples=LONG))
    graph = function.get_concrete_function(tf.TensorSpec([None], tf.string)).graph.as_graph_def()
    assert operations(MetaGraphDef(graph_def=graph)) <= known_operations().keys()
