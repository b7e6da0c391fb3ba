"""Pictures: where a model looked, how its training went, and what goes on inside.

Every function gives a `matplotlib.figure.Figure` that belongs to nobody: there is no window to close and no
screen needed. Save it, `figure.savefig("alignment.png")`, or leave it as the last line of a notebook's cell.
Nothing is computed here: `zoo.diagnostics` and a client's `align` give what is drawn.
"""

from zoo.plots.alignment import alignment_heat_map, alignment_lines, alignments
from zoo.plots.curves import gradient_norms, learning_curve, score_variance, scores_by_length
from zoo.plots.over_time import gates

__all__ = [
    "alignment_heat_map",
    "alignment_lines",
    "alignments",
    "gates",
    "gradient_norms",
    "learning_curve",
    "score_variance",
    "scores_by_length",
]
