"""How numbers go: of a training over its epochs, of a score over lengths, of a gradient through time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator

from zoo.plots.style import ACCENT, FAINT, HUES, LEGEND, WARM, dress, panels

__all__ = ["gradient_norms", "learning_curve", "score_variance", "scores_by_length"]

DECADES = 7
"""Of a logarithmic axis, at most as many are labelled."""


def learning_curve(history: Mapping[str, Sequence[float]]) -> Figure:
    """Draw what `fit` recorded of each epoch: one panel a quantity, training and validation together.

    Args:
        history: values of each epoch by name, as in Keras' `History.history`; names of what was measured in
            validation begin with `val_`.

    Raises:
        ValueError: nothing was recorded, or not the same number of epochs for all.
    """
    epochs = {name: len(values) for name, values in history.items()}
    if len(set(epochs.values())) != 1 or 0 in epochs.values():
        raise ValueError(
            f"A history must hold one value per epoch for every name, got these numbers of values: {epochs}. "
            "Pass what `fit` returned after at least one epoch."
        )
    names = list(dict.fromkeys(name.removeprefix("val_") for name in history))
    figure, row = panels(len(names))
    for name, axes in zip(names, row, strict=True):
        _draw_epochs(axes, name, history)
    return figure


def scores_by_length(
    scores: Mapping[str, Sequence[float]], buckets: Sequence[tuple[int, int, int]], *, metric: str
) -> Figure:
    """Draw how well systems do on short and on long sources.

    Args:
        scores: by name of a system, one number for each of N buckets, as
            `zoo.metrics.by_length.scores_by_length` gives them.
        buckets: the shortest and the longest source of each of the N buckets, and how many pairs it holds.
        metric: its name.

    Raises:
        ValueError: there is no system or no bucket, or not one score for each bucket.
    """
    counts = {name: len(values) for name, values in scores.items()}
    if not buckets or set(counts.values()) != {len(buckets)}:
        raise ValueError(
            f"Each system needs one score for each of the buckets, of which there is at least one; got "
            f"{len(buckets)} buckets and these numbers of scores: {counts}."
        )
    figure, (axes,) = panels(1, width=max(4.4, 0.75 * len(buckets) + 1))
    places = range(len(buckets))
    for place, (name, values) in enumerate(scores.items()):
        colour = to_hex(HUES(place / max(1, len(scores) - 1)))
        axes.plot(places, values, "o-", label=name, color=colour, linewidth=1.8, markersize=4.5)
    axes.set_xticks(places, [f"{shortest}–{longest}\n{pairs:,}" for shortest, longest, pairs in buckets])
    axes.set_ylim(bottom=0)
    dress(axes, metric.replace("_", " "), "source tokens, and pairs of that length")
    return figure


def gradient_norms(curves: Mapping[str, Sequence[float]]) -> Figure:
    """Draw how much of a gradient arrives at each time step, over the distance from the loss.

    Each step back multiplies the gradient: on a logarithmic axis, what vanishes or explodes is a straight
    line.

    Args:
        curves: by name, norms (T,) of the gradient with respect to the state after each step, the loss being
            at the last one; what `zoo.diagnostics.state_gradient_norms` gives. T may differ. A norm of 0, a
            gradient too small for its number format, is left out.

    Raises:
        ValueError: there is no curve, or one is empty, or holds something else than finite norms.
    """
    norms = {name: np.asarray(values, np.float64) for name, values in curves.items()}
    for name, values in norms.items():
        # Written so that NaN fails too.
        if values.ndim != 1 or not values.size or not np.all((values >= 0) & np.isfinite(values)):
            raise ValueError(
                f"Gradient norms are finite numbers of at least 0, one for each step, got {values} for "
                f"{name!r}. If they grew beyond all numbers, take fewer steps."
            )
    if not norms:
        raise ValueError("There must be at least one curve to draw, got none.")
    figure, (axes,) = panels(1, width=7.0, height=3.6)
    for (name, values), hue in zip(norms.items(), HUES(np.linspace(0, 1, len(norms))), strict=True):
        shown = np.where(values > 0, values, np.nan)[::-1]
        marks: dict[str, Any] = {"marker": "o", "markersize": 3.5, "markevery": values.size // 20 + 1}
        axes.plot(shown, label=name, color=to_hex(hue), linewidth=1.8, **marks)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(numticks=DECADES))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8, min_n_ticks=1))
    dress(axes, "norm of the gradient", "steps back from the loss")
    # Beside the curves, in the order in which they end.
    by_end = sorted(norms, key=lambda name: norms[name][0], reverse=True)
    lines = {line.get_label(): line for line in axes.lines}
    axes.legend(handles=[lines[name] for name in by_end], loc="upper left", bbox_to_anchor=(1, 1), **LEGEND)
    return figure


def score_variance(
    widths: Sequence[int], unscaled: Sequence[Sequence[float]], scaled: Sequence[Sequence[float]]
) -> Figure:
    """Draw what the width of queries and keys does to their dot products, and what that does to a softmax.

    The arguments are what `zoo.diagnostics.dot_product_variance` gives, one after the other.

    Args:
        widths: W sizes of queries and keys.
        unscaled: of dot products as they are, each (W,): the variance, the variance by theory, the largest
            weight of a softmax over them, the norm of its gradient.
        scaled: the same of dot products over the root of the width.

    Raises:
        ValueError: there are no widths, or not one number of each kind for each width.
    """
    shapes = {np.shape(unscaled), np.shape(scaled)}
    if shapes != {(4, len(widths))} or not len(widths):
        raise ValueError(
            f"Expected 4 rows of {len(widths)} numbers, one for each of at least one width, unscaled and "
            f"scaled, got shapes {sorted(shapes)}. Pass `*dot_product_variance(widths)`."
        )
    titles = ("variance of scores", "largest weight", "norm of the softmax's gradient")
    figure, row = panels(3, width=3.7)
    for label, colour, values in (("q · k", WARM, unscaled), ("q · k / √d", ACCENT, scaled)):
        variance, theory, largest, gradient = values
        row[0].plot(widths, theory, "--", color=colour, linewidth=1.2, alpha=0.6)
        for axes, measured, mark in zip(row, (variance, largest, gradient), ("o", "o-", "o-"), strict=True):
            axes.plot(widths, measured, mark, label=label, color=colour, linewidth=1.8, markersize=4.5)
    row[0].plot([], [], "--", color=FAINT, linewidth=1.2, label="theory")
    row[0].set_yscale("log")
    row[0].yaxis.set_major_locator(LogLocator(numticks=DECADES))
    for axes, title in zip(row, titles, strict=True):
        axes.set_xscale("log", base=2)
        axes.set_xticks(list(widths), [str(width) for width in widths])
        dress(axes, title, "width d of queries and keys")
    row[1].set_ylim(0, 1.05)
    row[2].set_ylim(bottom=0)
    return figure


def _draw_epochs(axes: Axes, name: str, history: Mapping[str, Sequence[float]]) -> None:
    """A quantity in training and in validation."""
    epochs = range(1, len(next(iter(history.values()))) + 1)
    for label, key, colour in (("training", name, FAINT), ("validation", f"val_{name}", ACCENT)):
        if key in history:
            axes.plot(epochs, history[key], "o-", label=label, color=colour, linewidth=1.8, markersize=3.5)
    axes.set_xlim(0.7, epochs[-1] + 0.3)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8, min_n_ticks=1))
    dress(axes, name.replace("_", " "), "epoch")
