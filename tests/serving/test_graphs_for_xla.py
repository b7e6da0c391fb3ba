"""TensorFlow Serving has XLA switched off: what is made for it is refused when it is loaded, not when it is
asked."""

import pytest
import tensorflow as tf
from tensorflow.compiler.tf2xla.python import xla
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel
from tiny_models import X, half_plus_two, save

from zoo.serving.folders import BrokenVersionError
from zoo.serving.loader import load

compiled = tf.function(lambda x: x + 1.0, jit_compile=True, input_signature=[X])


def compiled_in_a_branch(x):
    return tf.cond(tf.size(x) >= 0, lambda: compiled(x), lambda: x)


def marked(x):
    with tf.xla.experimental.jit_scope():
        return x * 2.0


def of_xla(x):
    return xla.dynamic_update_slice(tf.zeros_like(x), x, [0])


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (compiled, "is compiled with XLA"),
        (compiled_in_a_branch, "is compiled with XLA"),
        (marked, "asks for XLA"),
        (of_xla, "The op XlaDynamicUpdateSlice belongs to XLA"),
    ],
    ids=["compiled", "compiled in a branch", "marked", "of XLA"],
)
def test_graphs_that_are_refused(tmp_path, function, told):
    save(tmp_path / "1", tf.Module(), serving_default=(lambda x: {"y": function(x)}, [X]))
    with pytest.raises(BrokenVersionError, match=told) as caught:
        load(tmp_path / "1")
    assert "without jit_compile=True" in str(caught.value)


def test_the_mark_may_stand_with_a_function_that_an_attribute_names(tmp_path):
    file = half_plus_two(tmp_path / "1") / "saved_model.pb"
    saved = SavedModel.FromString(file.read_bytes())
    node = saved.meta_graphs[0].graph_def.node[0]
    node.attr["then"].list.func.add(name="f").attr["_XlaMustCompile"].b = True
    file.write_bytes(saved.SerializeToString())
    with pytest.raises(BrokenVersionError, match=f"The call {node.name} asks for XLA"):
        load(tmp_path / "1")
