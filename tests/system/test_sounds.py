"""Sounds from training to clients: fit, export, verify, serve, and ask with the bytes of WAV files.

The task is a toy: whether a tone is high or low, and how high it is.
"""

import json
import os
import subprocess
import sys

import curl_commands
import keras
import numpy as np
import pytest
from served_answers import ask, assert_same, clients
from wav_files import RATE, tone, wav

import zoo.export
from zoo.describe import describe
from zoo.layers import LogMel, Pooling, frame_statistics
from zoo.models import RecurrentFrameEncoder, SequenceClassifier, SequenceRegressor
from zoo.predictors import RecordClassifyingPredictor, RecordRegressingPredictor, SoundReader
from zoo.predictors.waveforms import read_waveforms
from zoo.serving.client import Classified, ServingError
from zoo.serving.engines import serve

BANDS, HIGHEST = 12, 3000.0
LABELS = ("low", "high")
FEATURES = {"bands": BANDS, "window_seconds": 0.032, "hop_seconds": 0.016}
BROKEN = (b"", b"no sound", tone(500.0)[:-101], wav([1] * 50), tone(500.0, rate=16000))
WHY = [
    "there are no bytes",
    "not a WAV file",
    "",
    "shorter than a frame",
    "expected 8000 samples a second, got 16000",
]


def pitches(seed, count):
    return np.random.default_rng(seed).uniform(200, HIGHEST, count)


def model_and_features(kind, **own):
    features = LogMel(RATE, **FEATURES)
    encoder = RecurrentFrameEncoder(BANDS, 8, cell="gru", direction="forward")
    return kind(encoder, pooling=Pooling("mean"), **own), features


def fit(model, features, loss, labels, hertz):
    sounds = read_waveforms([tone(pitch) for pitch in hertz], sample_rate=RATE, max_samples=RATE)
    frames = features(sounds.samples, mask=sounds.mask)
    model.encoder.normalization.set_statistics(frame_statistics([(frames, features.frame_mask(sounds.mask))]))
    model.compile(keras.optimizers.Adam(0.02), loss)
    model.fit({"source": frames}, labels, batch_size=32, epochs=6, verbose=0)


def classifying():
    model, features = model_and_features(SequenceClassifier, classes=2)
    hertz = pitches(0, 256)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    fit(model, features, loss, (hertz > HIGHEST / 2).astype(int), hertz)
    return RecordClassifyingPredictor(model, SoundReader(features, max_seconds=1.0), LABELS)


def regressing():
    model, features = model_and_features(SequenceRegressor)
    hertz = pitches(1, 256)
    fit(model, features, "mse", hertz / HIGHEST, hertz)
    return RecordRegressingPredictor(model, SoundReader(features, max_seconds=1.0), blank_value=-1.0)


@pytest.fixture(scope="module")
def predictors():
    keras.utils.set_random_seed(1)
    return {"pitch": classifying(), "hertz": regressing()}


@pytest.fixture(scope="module")
def exports(predictors, tmp_path_factory):
    """Published, so verified in a fresh process."""
    folder = tmp_path_factory.mktemp("saved_models")
    questions = [tone(300.0, 0.05), tone(2500.0, 0.3), tone(1000.0)]
    return {
        name: zoo.export.write(
            predictor,
            folder,
            card=zoo.export.Card(name, "A toy that hears.", name, "none", (), "CC0-1.0"),
            questions=questions,
        )
        for name, predictor in predictors.items()
    }


@pytest.fixture(scope="module")
def running(exports):
    with serve(exports["pitch"].parent.parent, engine="embedded", grpc_port=0, rest_port=0) as running:
        yield running


@pytest.mark.parametrize("name", ["pitch", "hertz"])
def test_clients_get_what_the_predictor_answers_for_sounds_and_for_what_is_none(predictors, running, name):
    files = [*(tone(pitch) for pitch in pitches(2, 6)), *BROKEN]
    for signature, form in predictors[name].signatures().items():
        expected = ask(form, {"audio": files})
        for client in clients(running, name):
            found = client.predict({"audio": files}, signature=signature)
            assert_same(found, expected, f"{name} {signature}")


def test_clients_give_typed_results_for_sounds_as_for_texts(predictors, running):
    files = [*(tone(pitch) for pitch in pitches(4, 4)), *BROKEN]
    classes = ask(predictors["pitch"].signatures()["classify"], {"audio": files})
    numbers = ask(predictors["hertz"].signatures()["regress"], {"audio": files})
    for client in clients(running, "pitch"):
        found = client.classify(files)
        assert all(type(one) is Classified for one in found)
        columns = {name: [getattr(one, name) for one in found] for name in Classified._fields}
        assert_same(columns, {name: classes[name] for name in Classified._fields}, type(client).__name__)
        with pytest.raises(ServingError, match="there is no signature 'regress'"):
            client.regress(files)
    for client in clients(running, "hertz"):
        assert_same({"value": client.regress(files)}, {"value": numbers["value"]}, type(client).__name__)


def test_what_was_learned_is_right_and_broken_files_say_why(running):
    hertz = pitches(3, 20)
    for client in clients(running, "pitch"):
        found = client.predict({"audio": [*map(tone, hertz), *BROKEN]}, signature="classify")
        right = [
            label == LABELS[int(pitch > HIGHEST / 2)]
            for label, pitch in zip(found["label"], hertz, strict=False)
        ]
        assert np.mean(right) >= 0.9
        assert found["problem"] == [""] * 20 + WHY
        assert [label == "" for label in found["label"][20:]] == [bool(why) for why in WHY]
        assert found["probabilities"][20] == [0.0, 0.0]


def test_a_sound_is_answered_alone_as_it_is_beside_longer_and_broken_ones(running):
    alone, beside = [tone(700.0, 0.1)], [tone(700.0, 0.1), tone(2000.0, 0.9), *BROKEN]
    for client in clients(running, "hertz"):
        value = client.predict({"audio": alone})["value"][0]
        values = client.predict({"audio": beside})["value"]
        assert values[0] == pytest.approx(value, abs=1e-5)
        assert values[2] == values[3] == values[5] == values[6] == -1.0


def test_the_manifest_names_the_question(exports):
    manifest = json.loads((exports["pitch"] / "assets.extra" / "zoo.json").read_text())
    assert {form["question"] for form in manifest["signatures"].values()} == {"audio"}
    assert (exports["pitch"] / "assets.extra" / "labels.txt").read_text() == "low\nhigh\n"
    assert (
        "8000 samples a second; 1 s are read" in (exports["pitch"] / "assets.extra" / "audio.txt").read_text()
    )


def test_the_requests_of_the_card_work_as_printed(exports, running):
    from zoo.describe import Where

    card = describe(exports["hertz"], Where(running.rest_url, running.grpc_target))
    assert '{"b64": "' in card
    scripts = [block.split("```")[0] for block in card.split("```python\n")[1:]]
    assert len(scripts) == 2
    for script in scripts:
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, env=os.environ
        )
        assert done.returncode == 0, done.stderr
        assert "0." in done.stdout
    command = card.split("```sh\n")[1].split("\n```")[0]
    assert curl_commands.send(*curl_commands.read(command)).keys() == {"predictions"}
