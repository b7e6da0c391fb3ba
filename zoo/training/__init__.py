"""Training with Keras' own `compile` and `fit`."""

__all__: list[str] = []
