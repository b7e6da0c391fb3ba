"""What goes on inside: gradients through time, scores and their softmax, gates, states, operations, order.

Each function measures one thing that is told of these networks, and gives plain numpy arrays and numbers,
without a model that has to be trained. `zoo.plots` draws them. They are written for TensorFlow.
"""

from zoo.diagnostics.gradients import state_gradient_norms
from zoo.diagnostics.operations import OperationCount, operation_counts
from zoo.diagnostics.order import OrderDifference, order_blindness
from zoo.diagnostics.scores import DotProductVariance, ScoreStatistics, dot_product_variance
from zoo.diagnostics.states import GatesOverTime, encoder_states, gates_over_time

__all__ = [
    "DotProductVariance",
    "GatesOverTime",
    "OperationCount",
    "OrderDifference",
    "ScoreStatistics",
    "dot_product_variance",
    "encoder_states",
    "gates_over_time",
    "operation_counts",
    "order_blindness",
    "state_gradient_norms",
]
