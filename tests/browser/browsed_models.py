"""Models for the page to ask, one for each thing that it shows, with answers that a test can compute."""

import json

import tensorflow as tf
from fake_predictor import BOTH, TEXT, FakePredictor

from zoo.predictor import Signature

WIDTH = 3
KNOBS = {
    "width": tf.int32,
    "length_penalty": tf.float32,
    "min_length": tf.int32,
    "max_length": tf.int32,
    "prefix": tf.string,
}
DRAWING = {"seed": tf.int32, "temperature": tf.float32, "top_k": tf.int32, "top_p": tf.float32}
EXAMPLES = ("hello there", "7 - 8", "Straße 7", "<b>bold</b>")
LABELS = ("calm", "loud", "odd")


class Shouting(FakePredictor):
    """All seven signatures; the beam's further texts have marks at their ends."""

    def signatures(self):
        return super().signatures() | {
            "generate": Signature(self.generate, TEXT | _specs(KNOBS)),
            "sample": Signature(self.sample, TEXT | _specs(DRAWING)),
        }

    def beam(self, text):
        greedy = self.greedy(text)
        texts = tf.stack([greedy["text"], greedy["text"] + "!", tf.zeros_like(greedy["text"])], axis=1)
        scores = tf.stack(
            [greedy["score"], greedy["score"] - 1.0, tf.fill(tf.shape(greedy["score"]), -1e9)], 1
        )
        lengths = tf.stack([greedy["length"], greedy["length"] + 1, greedy["length"] * 0], axis=1)
        return {"text": texts, "score": scores, "ranked_score": scores / 2, "length": lengths}

    def generate(self, text, width, length_penalty, min_length, max_length, prefix):
        """Each place tells the knobs."""
        knobs = [width, length_penalty, min_length, max_length]
        told = tf.strings.join(
            [prefix, *(tf.strings.as_string(knob, shortest=knob.dtype.is_floating) for knob in knobs)],
            separator="|",
        )
        places = tf.range(WIDTH)[None]
        wide = tf.where(width[:, None] == 0, WIDTH, width[:, None])
        texts = told[:, None] + "#" + tf.strings.as_string(places)
        scores = tf.where(places < wide, -tf.cast(places, tf.float32), -1e9) + tf.zeros([tf.size(text), 1])
        return {
            "text": texts,
            "score": scores,
            "ranked_score": scores,
            "length": tf.cast(scores * 0, tf.int32),
        }

    def sample(self, text, seed, temperature, top_k, top_p):
        """Seeds that are alike modulo 3 draw alike."""
        drawn = tf.strings.join([tf.zeros_like(text), tf.strings.as_string(seed % 3)], "draw ")
        score = tf.cast(-(seed % 3), tf.float32) - temperature * 0 - top_p * 0
        return {"text": drawn, "score": score, "length": top_k}


def _specs(dtypes):
    return {name: tf.TensorSpec([None], dtype) for name, dtype in dtypes.items()}


def _tag(text):
    tokens = tf.strings.unicode_split(text, "UTF-8")
    numeric = tf.strings.regex_full_match(tokens.values, "[0-9]")
    labels = tokens.with_values(tf.where(numeric, "digit", "other"))
    scores = tokens.with_values(tf.where(numeric, 0.75, 0.5))
    return {"tokens": tokens.to_tensor(), "labels": labels.to_tensor(), "scores": scores.to_tensor()}


def _classify(text):
    probabilities = tf.constant([[0.25, 0.625, 0.125]]) + tf.zeros([tf.size(text), 1])
    return {
        "label": tf.fill(tf.shape(text), LABELS[1]),
        "score": probabilities[:, 1],
        "probabilities": probabilities,
    }


def _shout(text):
    return {"text": tf.strings.upper(text)}


def write_models(folder):
    """Write all of them below a folder, as NAME/1."""
    shouting = Shouting()
    signatures = {name: (each.function, each.inputs) for name, each in shouting.signatures().items()}
    _save(folder / "a_shout", shouting, signatures)
    _describe(folder / "a_shout", "Writes texts in capitals.", EXAMPLES)
    _save(folder / "tagger", tf.Module(), {"tag": (_tag, TEXT)})
    _describe(folder / "tagger", "Finds digits.", ["a1"])
    _save(folder / "classifier", tf.Module(), {"classify": (_classify, TEXT)})
    _describe(folder / "classifier", "Always loud.", ["x"], LABELS)
    length = {"regress": (lambda text: {"value": tf.cast(tf.strings.length(text), tf.float32) / 2}, TEXT)}
    _save(folder / "regressor", tf.Module(), length)
    _save(folder / "plain", tf.Module(), {"serving_default": (_shout, TEXT)})
    numbers = {"serving_default": (lambda x: {"y": x / 2}, _specs({"x": tf.float32}))}
    _save(folder / "numbers", tf.Module(), numbers)
    picky = tf.Module()
    refuse = {"serving_default": (lambda text: {"text": tf.strings.substr(text, 3, 1)}, TEXT)}
    _save(folder / "picky", picky, refuse)
    pairs = {"score": (shouting.score, BOTH)}
    _save(folder / "scorer", shouting, pairs)


def _save(folder, module, signatures):
    functions = {}
    for name, (function, specs) in signatures.items():
        named = {key: tf.TensorSpec(spec.shape, spec.dtype, name=key) for key, spec in specs.items()}
        functions[name] = tf.function(function, autograph=False).get_concrete_function(**named)
    folder.mkdir(parents=True)
    tf.saved_model.save(module, str(folder / "unfinished"), signatures=functions)
    (folder / "unfinished").rename(folder / "1")


def _describe(folder, description, examples, labels=()):
    extra = folder / "1" / "assets.extra"
    extra.mkdir()
    card = {"card": {"name": folder.name, "description": description, "languages": ["en"]}}
    (extra / "zoo.json").write_text(json.dumps(card))
    golden = [
        {"signature": "greedy", "inputs": {"text": text}, "outputs": {}} for text in ("", "👍🏽🎉", *examples)
    ]
    (extra / "golden.json").write_text(json.dumps(golden), encoding="utf-8")
    if labels:
        (extra / "labels.txt").write_text("".join(f"{label}\n" for label in labels))
