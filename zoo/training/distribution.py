"""One training on several devices, or in several processes on several machines.

`tf.distribute` adds the gradients up; here is what it and Keras leave to be said: who gets which rows, and
what keeps `fit` from failing among workers.
"""

from typing import NamedTuple, Protocol

import keras
import tensorflow as tf

from zoo.data.batches import AHEAD

__all__ = ["AmongWorkers", "OneProcess", "Placement", "Workers", "even_rows", "placement"]


class Placement(Protocol):
    """Where a training takes place."""

    def trainee(self, model: keras.Model) -> keras.Model:
        """What `fit` is called on, which shares the variables of the model."""

    def share(self, batches: tf.data.Dataset) -> tf.data.Dataset:
        """What this process takes of batches that all processes make alike."""

    def steps(self, count: int) -> int | None:
        """How `fit` is told the number of batches; None: it sees that by itself."""


class OneProcess(NamedTuple):
    """All devices belong to this process."""

    def trainee(self, model: keras.Model) -> keras.Model:
        """The model itself."""
        return model

    def share(self, batches: tf.data.Dataset) -> tf.data.Dataset:
        """All; Keras shares a batch among the devices."""
        return batches

    def steps(self, count: int) -> int | None:
        """Keras sees it by itself."""
        return None


class Workers(NamedTuple):
    """Processes that `tf.distribute.MultiWorkerMirroredStrategy` makes one training of."""

    strategy: tf.distribute.MultiWorkerMirroredStrategy

    def trainee(self, model: keras.Model) -> keras.Model:
        """The model as one of several."""
        with self.strategy.scope():
            return AmongWorkers(model)

    def share(self, batches: tf.data.Dataset) -> tf.data.Dataset:
        """The rows of this worker, one part for each of its devices in turn."""
        resolver = self.strategy.cluster_resolver
        count = self.strategy.num_replicas_in_sync
        devices = count // len(resolver.cluster_spec().as_dict()["worker"])

        def parts(*batch):
            numbers = tf.data.Dataset.range(resolver.task_id * devices, (resolver.task_id + 1) * devices)
            return numbers.map(lambda number: tf.nest.map_structure(lambda rows: rows[number::count], batch))

        return self.strategy.distribute_datasets_from_function(lambda _: batches.flat_map(parts))

    def steps(self, count: int) -> int | None:
        """Distributed batches do not know their number."""
        return count


def placement(strategy: tf.distribute.Strategy) -> Placement:
    """Where a strategy trains."""
    among_workers = isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)
    return Workers(strategy) if among_workers else OneProcess()


class AmongWorkers(keras.Model):
    """A model that Keras can `fit` among workers.

    Keras builds a model from a batch, but cannot read one that is distributed over workers; and it takes the
    mean of what the workers log along an axis that numbers do not have.

    Args:
        model: what trains.
    """

    def __init__(self, model: keras.Model) -> None:
        super().__init__(dtype=model.dtype_policy)  # by which `compile` knows whether to scale the loss
        self.model = model

    def call(self, inputs, training=False):
        return self.model(inputs, training=training)

    def train_step(self, data):
        return {name: figure[None] for name, figure in super().train_step(data).items()}

    def test_step(self, data):
        return {name: figure[None] for name, figure in super().test_step(data).items()}

    def _maybe_symbolic_build(self, iterator=None, data_batch=None):
        if iterator is not None:
            _, _, batches = next(iter(iterator))
            results = self.distribute_strategy.experimental_local_results
            data_batch = tf.nest.map_structure(lambda part: results(part)[0], next(batches))
        super()._maybe_symbolic_build(data_batch=data_batch)


def even_rows(batches: tf.data.Dataset, devices: int) -> tf.data.Dataset:
    """Add rows of padding, which weigh nothing, until each device gets as many rows as every other.

    Keras takes the mean of what the devices get to find out what a batch looks like, which fails where they
    get unequal numbers of rows.

    Args:
        batches: of tensors (B, ...), zero where there is nothing.
        devices: that share each batch.
    """

    def padded(tensor: tf.Tensor) -> tf.Tensor:
        missing = -tf.shape(tensor)[0] % devices
        return tf.pad(tensor, [[0, missing], *[[0, 0]] * (tensor.shape.rank - 1)])

    return batches.map(lambda *batch: tf.nest.map_structure(padded, batch), num_parallel_calls=AHEAD)
