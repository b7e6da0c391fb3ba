"""What all models of the zoo share: a configuration of what they are made of, and what of that is frozen."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import keras
from keras import tree

__all__ = ["ComposedModel"]


@keras.saving.register_keras_serializable("zoo")
class ComposedModel(keras.Model):
    """A Keras model made of layers that may be frozen one by one.

    Keras writes down whether a model is `trainable`, but not which of the layers are that its constructor
    makes. Here the configuration also has `frozen`, the places of all layers inside that are not trainable.
    So after `model.encoder.embedding.trainable = False` a model that was saved comes back with its embedding
    frozen. `frozen` is no argument of a constructor: `from_config` applies it.
    """

    PARTS: tuple[str, ...] = ()
    """Constructor arguments that are layers or models, or lists of them."""

    def get_config(self):
        parts = {name: keras.saving.serialize_keras_object(getattr(self, name)) for name in self.PARTS}
        frozen = [place for place, layer in _inside(self) if not layer.trainable]
        return {**super().get_config(), **parts, "frozen": frozen}

    @classmethod
    def from_config(cls, config):
        own = {name: value for name, value in config.items() if name != "frozen"}
        parts = {name: keras.saving.deserialize_keras_object(config[name]) for name in cls.PARTS}
        model = cls(**{**own, **parts})
        _freeze(model, set(config.get("frozen", ())))
        return model

    @contextmanager
    def packed(self) -> Iterator[None]:
        """Within, layers that have one use a copy of their weights in a layout that products read faster.

        For exports: copies are made now, and do not follow the weights.
        """
        with ExitStack() as stack:
            for layer in {id(layer): layer for _, layer in _inside(self)}.values():
                if hasattr(layer, "packed") and not isinstance(layer, keras.Model):
                    stack.enter_context(layer.packed())
            yield


def _inside(layer: keras.layers.Layer, around: tuple[Any, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every layer inside a layer, before those inside it, and the attributes that lead there: its place."""
    for name, value in vars(layer).items():
        if name.startswith("_"):
            continue
        for steps, leaf in tree.flatten_with_path(value):
            if isinstance(leaf, keras.layers.Layer):
                place = (*around, name, *steps)
                yield "/".join(map(str, place)), leaf
                yield from _inside(leaf, place)


def _freeze(model: keras.Model, frozen: set[str]) -> None:
    """Freeze the layers at these places, and none else."""
    if not frozen:
        return
    for place, layer in _inside(model):  # Keras hands it on to the layers inside, which then get their own
        layer.trainable = place not in frozen
