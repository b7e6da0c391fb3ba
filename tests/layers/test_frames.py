import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.layers import (
    MFCC,
    FrameNormalization,
    FrameStatistics,
    LogMel,
    frame_statistics,
    mel_filters,
)

random = np.random.default_rng(6)
RATE = 8000


def mel(hertz):
    return 2595 * np.log10(1 + hertz / 700)


def hertz(mels):
    return 700 * (10 ** (mels / 2595) - 1)


def reference(sound, *, rate=RATE, window=0.025, hop=0.010, bands=40, low=20.0, high=None, floor=1e-10):
    """One sound, (n,), to (frames, bands): one sum after the other, as the equations have them."""
    size, step = round(window * rate), round(hop * rate)
    points = 1
    while points < size:
        points *= 2
    n, k = np.arange(size), np.arange(points // 2 + 1)
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * n / size)
    waves = np.exp(-2j * np.pi * np.outer(k, n) / points)
    edges = np.linspace(mel(low), mel(high or rate / 2), bands + 2)
    rows = []
    for start in range(0, len(sound) - size + 1, step):
        power = np.abs(waves @ (hann * sound[start : start + size])) ** 2
        energies = np.zeros(bands)
        for m in range(bands):
            lower, middle, upper = edges[m : m + 3]
            for place, amount in zip(mel(k * rate / points), power, strict=True):
                if lower < place <= middle:
                    energies[m] += amount * (place - lower) / (middle - lower)
                elif middle < place < upper:
                    energies[m] += amount * (upper - place) / (upper - middle)
        rows.append(np.log(np.maximum(energies, floor)))
    return np.array(rows).reshape(-1, bands)


def sounds(*lengths, rate=RATE):
    """A gliding tone and some noise for each length, padded on the right, and the mask."""
    size = max(lengths)
    t = np.arange(size) / rate
    tones = [np.sin(2 * np.pi * i * (300 + 900 * t) * t) for i in range(1, len(lengths) + 1)]
    rows = tones + random.normal(size=(len(lengths), size)) / 5
    mask = np.arange(size) < np.array(lengths)[:, None]
    return np.where(mask, rows, 0).astype("float32"), mask


def test_log_mel_equals_the_equations():
    waveform, mask = sounds(900, 650, 200, 199, 0)
    found = LogMel(RATE)(waveform, mask).numpy()
    frames = LogMel(RATE).frame_mask(mask).numpy()
    assert found.shape == (5, 12, 40)
    np.testing.assert_array_equal(frames.sum(axis=1), [9, 6, 1, 0, 0])
    for b, count in enumerate(frames.sum(axis=1)):
        np.testing.assert_allclose(found[b, :count], reference(waveform[b][mask[b]]), atol=1e-5)
        assert not found[b, count:].any()


def test_every_setting_counts():
    waveform, mask = sounds(700)
    settings = {"window_seconds": 0.016, "hop_seconds": 0.005, "bands": 12}
    found = LogMel(RATE, low_hertz=100.0, high_hertz=3000.0, floor=0.5, **settings)(waveform, mask)
    expected = reference(waveform[0], window=0.016, hop=0.005, bands=12, low=100, high=3000, floor=0.5)
    assert (expected == np.log(0.5)).any()
    np.testing.assert_allclose(found[0, : len(expected)], expected, atol=1e-5)


def test_the_default_window_and_hop_are_25_and_10_milliseconds():
    layer = LogMel(16_000)
    assert (layer.window, layer.hop, layer.fft_length) == (400, 160, 512)


def test_a_tone_is_loudest_in_its_band():
    middles = hertz(np.linspace(mel(20), mel(4000), 42))[1:-1]
    for band in (5, 20, 35):
        tone = np.sin(2 * np.pi * middles[band] * np.arange(400) / RATE)[None]
        loudest = np.argmax(LogMel(RATE)(tone, np.ones((1, 400), bool))[0, 0])
        assert abs(loudest - band) <= 1


def test_twice_the_pressure_is_four_times_the_energy():
    waveform, mask = sounds(800)
    once, twice = LogMel(RATE)(waveform, mask), LogMel(RATE)(2 * waveform, mask)
    difference = (twice - once)[0, :8]
    np.testing.assert_allclose(difference, np.full(difference.shape, np.log(4)), atol=1e-5)


def test_silence_and_whole_numbers():
    layer, mask = LogMel(RATE), np.ones((1, 300), bool)
    np.testing.assert_allclose(layer(np.zeros((1, 300)), mask)[0, 0], np.full(40, np.log(1e-10)), rtol=1e-6)
    whole = random.integers(-32_768, 32_767, (1, 300), dtype="int16")
    np.testing.assert_allclose(layer(whole, mask)[0, 0], reference(whole[0] / 1)[0], atol=1e-5)


def test_padding_is_never_heard():
    waveform, mask = sounds(900, 420, 0)
    layer = LogMel(RATE)
    alone = layer(waveform[1:2, :420], mask[1:2, :420]).numpy()
    loud = tf.constant(np.where(mask, waveform, 1e4).astype("float32"))
    with tf.GradientTape() as tape:
        tape.watch(loud)
        found = layer(loud, mask)
    np.testing.assert_array_equal(found, layer(waveform, mask))
    np.testing.assert_allclose(found[1, : alone.shape[1]], alone[0], atol=1e-5)
    assert not found[1, alone.shape[1] :].numpy().any()
    gradient = tape.gradient(found, loud).numpy()
    assert np.isfinite(gradient).all()
    assert not gradient[~mask].any()
    assert gradient[mask].any()


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16", "float16"])
def test_half_precision_rounds_the_logarithms_alone(policy):
    """A power of 1e8 is beyond float16; its logarithm is not."""
    waveform, mask = sounds(600)
    found = LogMel(RATE, dtype=policy)(1000 * waveform, mask)
    full = LogMel(RATE)(1000 * waveform, mask)
    assert np.exp(full).max() > 1e8
    np.testing.assert_array_equal(found, tf.cast(full, found.dtype))


def test_in_a_graph_of_any_length():
    layer = LogMel(RATE)
    signature = [tf.TensorSpec((None, None), tf.float32), tf.TensorSpec((None, None), tf.bool)]
    traced = tf.function(lambda waveform, mask: layer(waveform, mask), input_signature=signature)
    for lengths in ((900, 300), (100,), (1,)):
        waveform, mask = sounds(*lengths)
        np.testing.assert_allclose(traced(waveform, mask), layer(waveform, mask), atol=1e-5)
    assert traced(np.zeros((2, 1), "float32"), np.ones((2, 1), bool)).shape == (2, 1, 40)


def test_filters_equal_tensorflows():
    found = mel_filters(23, fft_length=512, sample_rate=16_000, low_hertz=50, high_hertz=7600)
    expected = tf.signal.linear_to_mel_weight_matrix(23, 257, 16_000, 50.0, 7600.0)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_neighbouring_filters_add_up_to_one():
    filters = mel_filters(40, fft_length=512, sample_rate=16_000, low_hertz=0, high_hertz=8000)
    frequencies = np.arange(257) * 16_000 / 512
    edges = hertz(np.linspace(0, mel(8000), 42))
    inside = (frequencies >= edges[1]) & (frequencies <= edges[-2])
    np.testing.assert_allclose(filters.sum(axis=1)[inside], 1, atol=1e-5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"window_seconds": 0.00001}, "window_seconds must be at least one sample long, got 1e-05 s at 8000"),
        ({"hop_seconds": 0}, "hop_seconds must be at least one sample long"),
        ({"high_hertz": 5000.0}, r"between 0 and half the sample rate, 4000.0 Hz, got 20.0 to 5000.0 Hz"),
        ({"low_hertz": 300.0, "high_hertz": 200.0}, "got 300.0 to 200.0 Hz"),
        ({"bands": 200}, "of 200 holds none of the 129 frequencies of the spectrum: take fewer bands"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(ValueError, match=message):
        LogMel(RATE, **settings)


def test_mfcc_equals_the_equation():
    inputs = random.normal(size=(2, 3, 10)).astype("float32")
    found = MFCC(7)(inputs)
    for b, t, k in np.ndindex(2, 3, 7):
        total = sum(inputs[b, t, m] * np.cos(np.pi * k * (m + 0.5) / 10) for m in range(10))
        np.testing.assert_allclose(found[b, t, k], total * np.sqrt((1 if k == 0 else 2) / 10), atol=1e-5)
    np.testing.assert_allclose(found, tf.signal.dct(inputs, type=2, norm="ortho")[..., :7], atol=1e-5)


def test_all_coefficients_keep_lengths():
    inputs = random.normal(size=(4, 10)).astype("float32")
    np.testing.assert_allclose(
        np.linalg.norm(MFCC(10)(inputs), axis=1), np.linalg.norm(inputs, axis=1), rtol=1e-5
    )


def test_more_coefficients_than_bands():
    with pytest.raises(ValueError, match="13 coefficients need as many bands at least, got 10"):
        MFCC(13)(np.zeros((1, 10)))


def recordings():
    """Batches of unlike sizes; numbers far from zero beside their spread, and 1e4 where no frame counts."""
    batches = []
    for rows, length in ((2, 3), (5, 1), (3, 6), (1, 2)):
        frames = random.normal([-12, 1000, 7], [3, 0.01, 0], size=(rows, length, 3))
        mask = random.random((rows, length)) < 0.7
        batches.append((np.where(mask[..., None], frames, 1e4).astype("float32"), mask))
    return [*batches, (np.zeros((2, 2, 3), "float32"), np.zeros((2, 2), bool))]


def test_statistics_are_those_of_all_frames_that_count():
    batches = recordings()
    counting = np.concatenate([frames[mask] for frames, mask in batches]).astype("float64")
    found = frame_statistics(iter(batches))
    np.testing.assert_allclose(found.mean, counting.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(found.deviation, counting.std(axis=0), rtol=1e-4, atol=1e-6)


def test_statistics_of_half_precision_and_of_a_dataset():
    frames, mask = tf.constant([[[1.0], [3.0], [50.0]]], "bfloat16"), tf.constant([[True, True, False]])
    found = frame_statistics(tf.data.Dataset.from_tensors((frames, mask)))
    assert (found.mean.item(), found.deviation.item()) == (2, 1)


def test_statistics_of_nothing():
    with pytest.raises(ValueError, match="at least one frame whose mask is True, got none"):
        frame_statistics([(np.zeros((1, 2, 3)), np.zeros((1, 2), bool))])


def test_normalised_recordings_have_mean_0_and_deviation_1():
    batches, layer = recordings(), FrameNormalization()
    layer.set_statistics(frame_statistics(batches))
    normalized = [layer(frames, mask).numpy() for frames, mask in batches]
    counting = np.concatenate([rows[mask] for rows, (_, mask) in zip(normalized, batches, strict=True)])
    np.testing.assert_allclose(counting.mean(axis=0), 0, atol=1e-2)  # 1000 in float32 has steps of 0.00006
    np.testing.assert_allclose(counting.std(axis=0), [1, 1, 0], atol=1e-2)
    for rows, (_, mask) in zip(normalized, batches, strict=True):
        assert not rows[~mask].any()


def test_normalization_by_hand():
    layer = FrameNormalization()
    layer.set_statistics(FrameStatistics(np.array([1.0, 2.0]), np.array([4.0, 0.0])))
    frames, mask = np.array([[[9.0, 5.0], [7.0, 7.0]]]), np.array([[True, False]])
    np.testing.assert_array_equal(layer(frames, mask), [[[2, 3], [0, 0]]])


def test_training_moves_no_statistics_and_a_saved_model_keeps_them(tmp_path):
    waveform, mask = keras.Input((400,), name="waveform"), keras.Input((400,), dtype="bool", name="mask")
    log_mel, normalization = LogMel(RATE, bands=8), FrameNormalization()
    frames = normalization(MFCC(4)(log_mel(waveform, mask)), log_mel.frame_mask(mask))
    model = keras.Model({"waveform": waveform, "mask": mask}, keras.layers.Dense(1)(frames))

    sound, heard = sounds(400, 300)
    cepstra = MFCC(4)(log_mel(sound, heard))
    normalization.set_statistics(frame_statistics([(cepstra, log_mel.frame_mask(heard))]))
    before = [weight.numpy() for weight in normalization.weights]
    model.compile("sgd", "mse")
    model.fit({"waveform": sound, "mask": heard}, np.ones((2, 5, 1)), verbose=0)
    for weight, value in zip(normalization.weights, before, strict=True):
        np.testing.assert_array_equal(weight, value)
    assert len(model.trainable_weights) == 2

    model.save(tmp_path / "speech.keras")
    again = keras.models.load_model(tmp_path / "speech.keras")
    inputs = {"waveform": sound, "mask": heard}
    np.testing.assert_allclose(again(inputs), model(inputs), atol=1e-6)
