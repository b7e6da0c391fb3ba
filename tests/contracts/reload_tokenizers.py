"""Loads a SavedModel of tokenizers without the zoo's tokenizers, and tells what they make of texts."""

import json
import sys

import tensorflow as tf

from zoo.text_operations import register_text_operations

register_text_operations()
loaded = tf.saved_model.load(sys.argv[1])
texts = json.load(sys.stdin)
answers = {}
for name, (encode, decode) in loaded.languages.items():
    ids = encode(tf.constant(texts))
    answers[name] = {
        "ids": ids.numpy().tolist(),
        "texts": [text.decode("utf-8") for text in decode(ids).numpy()],
        "none": int(tf.shape(encode(tf.constant([], tf.string)))[0]),
    }
json.dump(answers, sys.stdout)
