"""Makes the classes of protobuf messages from tables of their fields.

Each table becomes a file in a pool of its own, so that messages of the same names, which TensorFlow registers
in the pool that all share, do no harm, whichever is imported first.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, message_factory, wrappers_pb2
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto

__all__ = ["Field", "message_classes"]


class Field(NamedTuple):
    """A field of a message.

    Attributes:
        number: its number on the wire.
        type: a scalar type such as `int64`, or a message by its full name, with a dot before it.
        repeated: whether there are any number of values.
        by_name: whether it is a map from strings to such values.
    """

    number: int
    type: str
    repeated: bool = False
    by_name: bool = False


def message_classes(name: str, package: str, messages: Mapping[str, Mapping[str, Field]]) -> dict[str, Any]:
    """The classes of the messages of a file, by name.

    Args:
        name: of the file, such as `health.proto`.
        package: the package that the messages are in.
        messages: message name to its fields by name.
    """
    made = descriptor_pb2.FileDescriptorProto(name=name, package=package, syntax="proto3")
    pool = descriptor_pool.DescriptorPool()
    for known in (any_pb2, wrappers_pb2):
        made.dependency.append(known.DESCRIPTOR.name)
        pool.AddSerializedFile(known.DESCRIPTOR.serialized_pb)
    for message, fields in messages.items():
        described = made.message_type.add(name=message)
        for field_name, field in fields.items():
            _describe(described, f".{package}.{message}", field_name, field)
    pool.AddSerializedFile(made.SerializeToString())
    return {
        message: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{message}"))
        for message in messages
    }


def _describe(message: DescriptorProto, full_name: str, name: str, field: Field) -> None:
    """Add a field to a message; a map is a repeated message of keys and values."""
    if not field.by_name:
        message.field.append(_descriptor(name, field))
        return
    entry = "".join(word.capitalize() for word in name.split("_")) + "Entry"
    pair = message.nested_type.add(name=entry)
    pair.options.map_entry = True
    pair.field.extend(
        [_descriptor("key", Field(1, "string")), _descriptor("value", field._replace(number=2))]
    )
    message.field.append(_descriptor(name, Field(field.number, f"{full_name}.{entry}", repeated=True)))


def _descriptor(name: str, field: Field) -> FieldDescriptorProto:
    made = FieldDescriptorProto(name=name, number=field.number)
    made.label = made.LABEL_REPEATED if field.repeated else made.LABEL_OPTIONAL
    if field.type.startswith("."):
        made.type, made.type_name = made.TYPE_MESSAGE, field.type
    else:
        made.type = FieldDescriptorProto.Type.Value(f"TYPE_{field.type.upper()}")
    return made
