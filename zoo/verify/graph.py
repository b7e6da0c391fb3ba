"""What can be told from the graph as it was written, before it is loaded."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import tensorflow as tf
from google.protobuf.message import Message
from tensorflow.core.protobuf import config_pb2, saved_model_pb2
from tensorflow.python.framework import op_def_registry

from zoo.verify.layout import from_plain
from zoo.verify.operations import is_of_xla, nodes, operations, parts_for_xla
from zoo.verify.report import Rule

__all__ = [
    "RULES",
    "TEXT_OPERATIONS",
    "Written",
    "known_operations",
    "needs",
    "operations",
    "read_meta_graph",
]

TEXT_OPERATIONS = "tensorflow-text"
"""The package whose ops have to be registered before a graph with them can be loaded."""

IMAGE_GRAPHS = 2288
"""The version of graphs that TensorFlow 2.20.0 reads and writes, its `tf.version.GRAPH_DEF_VERSION`."""

NEWER_ATTRIBUTES = frozenset({("TensorListGetItem", "Tshape")})
"""Of the ops that the image knows, the attributes that TensorFlow 2.21 added, found by comparing both
registries. An export leaves out those that have their default value."""

WEIGHT_BYTES = 64 * 1024
"""A floating-point constant above this is taken for a weight. Vocabularies are strings and integers."""

INITIALIZER = "__saved_model_init_op"
"""The signature that TensorFlow adds for itself."""

PREDICT = "tensorflow/serving/predict"
"""The one kind of signature that exports have."""

SERVED_DTYPES = frozenset({"string", "bool", "float32", "float64"}) | {
    f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)
}
"""What TensorFlow Serving can read from and write to JSON."""


class Written(NamedTuple):
    """An export as it was written.

    Attributes:
        manifest: the content of `layout.MANIFEST`.
        meta_graph: the `MetaGraphDef` that is served.
    """

    manifest: Mapping[str, Any]
    meta_graph: Message

    @property
    def signatures(self) -> Mapping[str, Any]:
        """As the manifest has them: name to `inputs` and `outputs` to name to `dtype` and `shape`."""
        return self.manifest["signatures"]


def read_meta_graph(path: Path) -> Message:
    """The graph that is served, a `MetaGraphDef`.

    Raises:
        ValueError: there is not exactly one.
    """
    saved_model = saved_model_pb2.SavedModel.FromString((path / "saved_model.pb").read_bytes())
    served = [graph for graph in saved_model.meta_graphs if "serve" in graph.meta_info_def.tags]
    if len(served) != 1:
        raise ValueError(f"Expected one graph with the tag 'serve' in {path}, got {len(served)}.")
    return served[0]


@cache
def known_operations() -> Mapping[str, str]:
    """Ops that the image tensorflow/serving:2.20.0 can run, each with the package that registers it."""
    package, known = "", {}
    listed = Path(__file__).parent.with_name("tf_serving_ops.txt").read_text(encoding="utf-8")
    for line in listed.splitlines():
        if line.startswith("["):
            package = line.strip("[]")
        elif line and not line.startswith("#"):
            known[line] = package
    return known


def needs(meta_graph: Any) -> list[str]:
    """The packages whose ops a graph has, besides TensorFlow."""
    used = {known_operations().get(name) for name in operations(meta_graph)}
    return [TEXT_OPERATIONS] if TEXT_OPERATIONS in used else []


def _form(tensor: Any) -> dict[str, Any]:
    """Dtype and shape of a `TensorInfo`; the shape is None where not even the rank is known."""
    shape = tf.TensorShape(tensor.tensor_shape)
    return {
        "dtype": tf.as_dtype(tensor.dtype).name,
        "shape": None if shape.rank is None else shape.as_list(),
    }


def _forms(meta_graph: Any) -> dict[str, dict[str, dict[str, Any]]]:
    return {
        name: {
            side: {key: _form(tensor) for key, tensor in getattr(signature, side).items()}
            for side in ("inputs", "outputs")
        }
        for name, signature in meta_graph.signature_def.items()
        if name != INITIALIZER
    }


def _other_signatures(written: Written) -> Iterator[str]:
    found = _forms(written.meta_graph)
    expected = {
        name: {side: signature[side] for side in ("inputs", "outputs")}
        for name, signature in written.signatures.items()
    }
    if "serving_default" not in found:
        yield "There is no signature serving_default."
    for name in sorted(expected.keys() - found.keys()):
        yield f"The graph has no signature {name}, which the manifest has."
    for name in sorted(found.keys() - expected.keys()):
        yield f"The graph has a signature {name}, which the manifest lacks."
    for name in sorted(found.keys() & expected.keys()):
        if found[name] != expected[name]:
            yield f"{name} is {found[name]} where the manifest says {expected[name]}."
        yield from _unfit_neutrals(name, written.signatures[name])
    said, needed = written.manifest["needs"], needs(written.meta_graph)
    if said != needed:
        yield f"The manifest needs {said}, the graph {needed}."


def _unfit_neutrals(name: str, form: Mapping[str, Any]) -> Iterator[str]:
    """Neutral values that the inputs of a signature cannot hold."""
    for key, value in form.get("neutral", {}).items():
        dtype = form["inputs"][key]["dtype"]
        try:
            from_plain(value, dtype)
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            yield f"The manifest gives {key} of {name} the neutral value {value!r}, expected {dtype}."


def _unservable_signatures(written: Written) -> Iterator[str]:
    """What the names, dtypes and shapes do not show."""
    for name, signature in written.meta_graph.signature_def.items():
        if name == INITIALIZER:
            continue
        if signature.method_name != PREDICT:
            yield f"{name} is to be called by {signature.method_name!r}, expected {PREDICT!r}."
        for key, tensor in (*signature.inputs.items(), *signature.outputs.items()):
            if tensor.WhichOneof("encoding") != "name":
                yield f"{key} of {name} is no plain tensor, but {tensor.WhichOneof('encoding')}."


def _unservable_tensors(written: Written) -> Iterator[str]:
    yield from _unservable_signatures(written)
    for name, signature in _forms(written.meta_graph).items():
        if not signature["inputs"] or not signature["outputs"]:
            yield f"{name} has no inputs or no outputs."
        for key, form in signature["inputs"].items():
            if form["shape"] != [None]:
                yield f"Input {key} of {name} has shape {form['shape']}, expected [None]."
        for key, form in signature["outputs"].items():
            if not form["shape"] or form["shape"][0] is not None:
                yield f"Output {key} of {name} has shape {form['shape']}, expected [None, ...]."
        for key, form in [*signature["inputs"].items(), *signature["outputs"].items()]:
            if form["dtype"] not in SERVED_DTYPES:
                yield f"{key} of {name} is {form['dtype']}, which cannot be written as JSON."


def _unknown_operations(written: Written) -> Iterator[str]:
    for name in sorted(operations(written.meta_graph) - known_operations().keys()):
        if "PyFunc" in name:
            yield f"{name} calls Python, which does not run in a server."
        elif not is_of_xla(name):
            yield f"{name} is not known to tensorflow/serving:2.20.0."
    versions = written.meta_graph.graph_def.versions
    needed = versions.min_consumer
    if needed > IMAGE_GRAPHS:
        yield f"The graph needs version {needed} of graphs; tensorflow/serving:2.20.0 reads {IMAGE_GRAPHS}."
    if IMAGE_GRAPHS in versions.bad_consumers:
        yield f"The graph rules version {IMAGE_GRAPHS} of graphs out, which tensorflow/serving:2.20.0 reads."
    for operation, attribute in sorted({*_unknown_attributes(written.meta_graph)}):
        yield f"{operation} has the attribute {attribute}, which tensorflow/serving:2.20.0 does not know."


def _unknown_attributes(meta_graph: Any) -> Iterator[tuple[str, str]]:
    """Pairs of an op and an attribute; an attribute that begins with an underscore is a remark for anyone."""
    for node in nodes(meta_graph):
        definition = op_def_registry.get(node.op)
        if definition is None:  # one of its own functions, or of a package that is not loaded yet
            continue
        known = {attribute.name for attribute in definition.attr}
        for name in node.attr:
            if not name.startswith("_") and (name not in known or (node.op, name) in NEWER_ATTRIBUTES):
                yield node.op, name


def _compiled(written: Written) -> Iterator[str]:
    yield from parts_for_xla(written.meta_graph)
    for node in nodes(written.meta_graph):
        if "XLA" in node.device.upper():
            yield f"{node.name} is placed on {node.device}."
        if "config_proto" in node.attr and _turns_xla_on(node.attr["config_proto"].s):
            yield f"The call {node.name} turns XLA on, as tf.config.optimizer.set_jit does."


def _turns_xla_on(config: bytes) -> bool:
    options = config_pb2.ConfigProto.FromString(config).graph_options.optimizer_options
    return options.global_jit_level > config_pb2.OptimizerOptions.DEFAULT


def _constant_weights(written: Written) -> Iterator[str]:
    for node in nodes(written.meta_graph):
        if node.op != "Const":
            continue
        tensor = node.attr["value"].tensor
        dtype, size = tf.as_dtype(tensor.dtype), tensor.ByteSize()
        if dtype.is_floating and size > WEIGHT_BYTES:
            yield f"The constant {node.name} holds {size} bytes of {dtype.name}."


RULES = (
    Rule(
        "signatures",
        "names, dtypes and shapes are those of the manifest, and so are the packages that it needs",
        "Export again: a manifest and its graph are written together.",
        _other_signatures,
    ),
    Rule(
        "tensors",
        "every input is a [batch], every output begins with the batch, all can be written as JSON",
        "Change what the signature takes and returns.",
        _unservable_tensors,
    ),
    Rule(
        "operations",
        "all ops are known to tensorflow/serving:2.20.0",
        "Write that part with ops of TensorFlow 2.20 or its tensorflow-text.",
        _unknown_operations,
    ),
    Rule(
        "no XLA",
        "nothing is compiled with XLA, which the server has switched off",
        "Take out jit_compile=True, set_jit, and ops such as keras.ops.slice_update, made for XLA.",
        _compiled,
    ),
    Rule(
        "weights",
        "weights are variables, not constants of the graph",
        "Hold the numbers in a variable that the exported function reads.",
        _constant_weights,
    ),
)
"""For a `Written`."""
