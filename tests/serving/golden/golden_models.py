"""Writes the SavedModels that the golden cases ask, with the configs to serve them by.

One table says it all: model, version, signature, and the graph with its inputs. `n` below is the batch axis.
"""

import tensorflow as tf
import tensorflow_text
from tiny_models import save


def _rows(name, dtype, *axes):
    return tf.TensorSpec([None, *axes], dtype, name=name)


TEXT = _rows("text", tf.string)
X = _rows("x", tf.float32)
EXAMPLES = _rows("inputs", tf.string)
EVERY_TYPE = {
    "flag": tf.bool,
    "small": tf.int8,
    "short": tf.int16,
    "count": tf.int64,
    "byte": tf.uint8,
    "word": tf.uint32,
    "huge": tf.uint64,
    "exact": tf.float64,
}
AWKWARD = 'quote" back\\ tab\t newline\n nul\0 del\x7f slash/ <&> é 中 😀 e\u0301 \u2028'
"""What JSON must escape, what it need not, and what lies outside ASCII."""


def _bytes_in(text):
    return tf.cast(tf.strings.length(text), tf.float32)


def _linear(name, factor, offset):
    return lambda x: {name: factor * x + offset}


def _echo(**names):
    """Each input under the name of an output."""
    return lambda **inputs: {out: tf.identity(inputs[name]) for out, name in names.items()}


def _best_three(text):
    ranks = tf.range(3)
    marks = tf.strings.join(["#", tf.strings.as_string(ranks)])
    return {
        "text": text[:, tf.newaxis] + marks[tf.newaxis],
        "score": _bytes_in(text)[:, tf.newaxis] - 0.5 * tf.cast(ranks, tf.float32),
    }


def _count(steps):
    """Counts one by one, so large numbers take long."""
    target = tf.reduce_max(steps)
    (reached,) = tf.while_loop(
        lambda at: at < target, lambda at: (at + 1,), (tf.constant(0),), parallel_iterations=1
    )
    return {"done": tf.fill(tf.shape(steps), reached)}


def _feature(serialized):
    """The feature `x` of each example, (n, 1); 0 where it has none."""
    layout = {"x": tf.io.FixedLenFeature([1], tf.float32, default_value=[0.0])}
    return tf.io.parse_example(serialized, layout)["x"]


def _regress(inputs):
    return {"outputs": 0.5 * _feature(inputs) + 2.0}


def _classify(inputs):
    x = _feature(inputs)
    classes = tf.broadcast_to([["neg", "pos"]], [tf.size(x), 2])
    return {"classes": classes, "scores": tf.concat([-x, x], axis=1)}


_PLUS_ONE = {"serving_default": (_linear("y", 1.0, 1.0), [X])}

MODELS = {
    "half_plus_two": {1: {"serving_default": (_linear("y", 0.5, 2.0), [X])}},
    "upper": {1: {"serving_default": (lambda text: {"text": tf.strings.upper(text)}, [TEXT])}},
    "pair": {
        1: {
            "serving_default": (
                lambda text: {"text": tf.identity(text), "score": _bytes_in(text)},
                [TEXT],
            )
        }
    },
    "nbest": {1: {"serving_default": (_best_three, [TEXT])}},
    "knobs": {
        1: {
            "serving_default": (
                _echo(text="text", width="width", alpha="alpha"),
                [TEXT, _rows("width", tf.int32), _rows("alpha", tf.float32)],
            )
        }
    },
    "types": {
        1: {
            "serving_default": (
                _echo(**{f"out_{name}": name for name in EVERY_TYPE}),
                [_rows(name, dtype) for name, dtype in EVERY_TYPE.items()],
            )
        }
    },
    "ids": {
        1: {
            "serving_default": (
                lambda ids: {"sum": tf.reduce_sum(ids, axis=1)},
                [_rows("ids", tf.int64, None)],
            )
        }
    },
    "matrix": {
        1: {
            "serving_default": (
                lambda m: {"transposed": tf.linalg.matrix_transpose(m), "trace": tf.linalg.trace(m)},
                [_rows("m", tf.float32, 2, 2)],
            )
        }
    },
    "scalar_out": {
        1: {
            "serving_default": (lambda x: {"y": x + 1.0, "total": tf.reduce_sum(x)}, [X]),
            "single": (lambda x: {"total": tf.reduce_sum(x)}, [X]),
            "mismatch": (lambda x: {"y": tf.identity(x), "z": tf.pad(x, [[0, 1]])}, [X]),
        }
    },
    "raw_bytes": {
        1: {
            "serving_default": (_echo(text_bytes="text", plain="text"), [TEXT]),
            "only_bytes": (_echo(data_bytes="text"), [TEXT]),
            "not_string": (_echo(x_bytes="x"), [X]),
        }
    },
    "slow": {1: {"serving_default": (_count, [_rows("steps", tf.int32)])}},
    "versions": {
        1: _PLUS_ONE,
        2: {"serving_default": (lambda x: {"y": x + 2.0, "z": 10.0 * x}, [X])},
    },
    "broken": {2: _PLUS_ONE},
    "signatures": {
        1: {
            "serving_default": (_echo(y="x"), [X]),
            "double": (_linear("y", 2.0, 0.0), [X]),
            "length": (lambda text: {"length": tf.strings.length(text)}, [TEXT]),
            "special": (lambda x: {"y": 1.0 / x, "root": tf.sqrt(x)}, [X]),
            "wide": (lambda x: {"y": x / 3.0}, [_rows("x", tf.float64)]),
            "none": (lambda: {"answer": tf.constant([6, 42])}, []),
            "constant": (lambda x: {"y": tf.fill(tf.shape(x), AWKWARD)}, [X]),
            "half_in": (lambda x: {"y": tf.cast(x, tf.float32)}, [_rows("x", tf.float16)]),
            "half_out": (lambda x: {"y": tf.cast(x, tf.float16)}, [X]),
            "strict": (
                lambda x, y: {"z": tf.reshape(tf.tensordot(x, y, axes=1), [1])},
                [X, _rows("y", tf.float32)],
            ),
            "empty": (lambda x: {"y": tf.zeros([tf.size(x), 0])}, [X]),
        }
    },
    "examples": {
        1: {
            "serving_default": (_regress, [EXAMPLES]),
            "regress": (_regress, [EXAMPLES]),
            "classify": (_classify, [EXAMPLES]),
        }
    },
    "folded": {1: {"serving_default": (lambda text: {"text": tensorflow_text.case_fold_utf8(text)}, [TEXT])}},
}
"""Model name, version number, signature name; then the function and the specs of its inputs."""

_EVERY_VERSION = ("versions", "broken")
_LABELS = {"versions": {"stable": 1, "canary": 2}}


def write(folder):
    """Write all models and the three configs that the setups name. Version 1 of `broken` cannot be loaded."""
    for name, versions in MODELS.items():
        for number, signatures in versions.items():
            save(folder / name / str(number), tf.Module(), **signatures)
    (folder / "broken" / "1").mkdir()
    entries = "\n".join(_entry(folder, name) for name in MODELS)
    (folder / "models.config").write_text(f"model_config_list {{\n{entries}\n}}\n")
    (folder / "monitoring.config").write_text("prometheus_config { enable: true }\n")
    (folder / "batching.config").write_text(
        "max_batch_size { value: 4 } batch_timeout_micros { value: 0 }\n"
        "max_enqueued_batches { value: 100 } num_batch_threads { value: 1 }\n"
    )


def _entry(folder, name):
    policy = "model_version_policy { all {} }" if name in _EVERY_VERSION else ""
    labels = " ".join(
        f'version_labels {{ key: "{label}" value: {version} }}'
        for label, version in _LABELS.get(name, {}).items()
    )
    place = f'name: "{name}" base_path: "{folder / name}" model_platform: "tensorflow"'
    return f"config {{ {place} {policy} {labels} }}"
