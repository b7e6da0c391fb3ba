import warnings
from itertools import combinations, pairwise

import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.transforms import Bbox

from zoo import plots
from zoo.plots.style import BALANCE, HEAT


def drawn(figure):
    """Draws in earnest; a warning, such as one of a missing glyph, is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.canvas.draw()
    return figure


def texts(labels):
    return [label.get_text() for label in labels]


def points(line):
    return line.get_xydata().tolist()


class TestGradientNorms:
    CURVES = {"rnn": [1e-4, 1e-2, 1.0], "lstm": [0.5, 0.5, 0.5, 0.5, 1.0]}  # noqa: RUF012

    def test_curves_go_back_from_the_loss_on_a_logarithmic_axis(self):
        (axes,) = drawn(plots.gradient_norms(self.CURVES)).axes
        assert {line.get_label(): points(line) for line in axes.lines} == {
            "rnn": [[0, 1.0], [1, 1e-2], [2, 1e-4]],
            "lstm": [[0, 1.0], [1, 0.5], [2, 0.5], [3, 0.5], [4, 0.5]],
        }
        assert axes.get_yscale() == "log"
        assert axes.get_xlabel() == "steps back from the loss"

    def test_the_legend_stands_beside_them_in_the_order_in_which_they_end(self):
        figure = drawn(plots.gradient_norms(self.CURVES))
        (axes,) = figure.axes
        legend = axes.get_legend()
        assert texts(legend.get_texts()) == ["lstm", "rnn"]
        colours = {line.get_label(): line.get_color() for line in axes.lines}
        assert [text.get_color() for text in legend.get_texts()] == [colours["lstm"], colours["rnn"]]
        assert legend.get_window_extent().x0 >= axes.get_window_extent().x1
        assert legend.get_window_extent().x1 <= figure.bbox.x1

    def test_what_is_zero_is_left_out_and_one_step_is_enough(self):
        (axes,) = drawn(plots.gradient_norms({"gone": [0.0, 1e-30, 1.0], "short": [1.0]})).axes
        gone, short = axes.lines
        np.testing.assert_array_equal(gone.get_ydata(), [1.0, 1e-30, np.nan])
        assert points(short) == [[0, 1.0]]

    @pytest.mark.parametrize("values", [[], [[1.0]], [-1.0], [float("nan")], [float("inf"), 1.0]])
    def test_other_numbers_are_refused(self, values):
        with pytest.raises(
            ValueError, match=r"finite numbers of at least 0, one for each step, got .* for 'a'"
        ):
            plots.gradient_norms({"a": values})

    def test_there_must_be_a_curve(self):
        with pytest.raises(ValueError, match="at least one curve to draw, got none"):
            plots.gradient_norms({})


class TestScoreVariance:
    UNSCALED = ([4.1, 15.0], [4.0, 16.0], [0.4, 0.7], [0.3, 0.2])
    SCALED = ([1.1, 0.9], [1.0, 1.0], [0.3, 0.3], [0.35, 0.34])

    def test_panels_show_both_and_the_first_theory_too(self):
        figure = drawn(plots.score_variance([4, 16], self.UNSCALED, self.SCALED))
        variance, largest, gradient = figure.axes
        assert [axes.get_title(loc="left") for axes in figure.axes] == [
            "variance of scores",
            "largest weight",
            "norm of the softmax's gradient",
        ]
        assert [line.get_ydata().tolist() for line in variance.lines if line.get_linestyle() == "--"] == [
            [4.0, 16.0],
            [1.0, 1.0],
            [],  # of the legend
        ]
        assert texts(variance.get_legend().get_texts()) == ["q · k", "q · k / √d", "theory"]
        measured = {line.get_label(): line for line in variance.lines}
        assert points(measured["q · k"]) == [[4, 4.1], [16, 15.0]]
        assert points(measured["q · k / √d"]) == [[4, 1.1], [16, 0.9]]
        for axes, row in ((largest, 2), (gradient, 3)):
            assert [line.get_ydata().tolist() for line in axes.lines] == [
                self.UNSCALED[row],
                self.SCALED[row],
            ]
            assert texts(axes.get_xticklabels()) == ["4", "16"]

    @pytest.mark.parametrize("widths", [[], [4], [4, 16, 64]])
    def test_another_number_of_widths_is_refused(self, widths):
        with pytest.raises(
            ValueError, match=rf"Expected 4 rows of {len(widths)} numbers.*got shapes \[\(4, 2\)\]"
        ):
            plots.score_variance(widths, self.UNSCALED, self.SCALED)


GATE = np.random.default_rng(3).uniform(size=(5, 4))
STATE = np.array([[0.5, -2.0], [0.1, 0.2], [0.0, 0.0], [9.0, 9.0], [9.0, 9.0]])
TOKENS = ["年", "a", " ", "", ""]


def mesh_of(axes):
    (mesh,) = [artist for artist in axes.collections if isinstance(artist, QuadMesh)]
    return mesh


class TestGates:
    def test_a_heat_map_a_name_with_a_row_a_unit_and_a_column_a_step(self):
        figure = drawn(plots.gates({"forget": GATE, "cell": STATE}, ["n", "a", " ", "", ""], title="t"))
        forget, _, cell, _ = figure.axes
        assert [axes.get_title(loc="left") for axes in (forget, cell)] == ["forget", "cell"]
        np.testing.assert_array_equal(mesh_of(forget).get_array(), GATE[:3].T)
        np.testing.assert_array_equal(mesh_of(cell).get_array(), STATE[:3].T)
        assert texts(forget.get_xticklabels()) == texts(cell.get_xticklabels()) == ["n", "a", "␣"]
        assert texts(figure.texts) == ["t"]

    def test_gates_go_from_zero_to_one_and_states_around_zero(self):
        forget, scale, cell, signed_scale = drawn(
            plots.gates({"forget": GATE, "cell": STATE}, ["n", "a", " ", "", ""])
        ).axes
        assert mesh_of(forget).get_clim() == (0, 1)
        assert mesh_of(forget).get_cmap() is HEAT
        assert texts(scale.get_yticklabels()) == ["0", "0.5", "1"]
        assert mesh_of(cell).get_clim() == (-2, 2), "what is not drawn does not count"
        assert mesh_of(cell).get_cmap() is BALANCE
        assert texts(signed_scale.get_yticklabels()) == ["−2", "0", "2"]

    def test_without_tokens_steps_are_numbered(self):
        axes, _ = drawn(plots.gates({"forget": GATE})).axes
        assert texts(axes.get_xticklabels()) == ["1", "2", "3", "4", "5"]

    def test_letters_without_a_font_are_shown_as_code_points(self, monkeypatch):
        monkeypatch.setattr("zoo.plots.typeface.FURTHER_LETTERS", ())
        axes, _ = drawn(plots.gates({"门": GATE}, TOKENS)).axes
        assert texts(axes.get_xticklabels()) == ["5E74", "a", "␣"]
        assert axes.get_title(loc="left") == "95E8"

    @pytest.mark.parametrize(("steps", "units"), [(1, 1), (5, 3), (30, 20), (40, 12)])
    def test_nothing_overlaps_or_is_cut(self, steps, units):
        names = ["stack/forward_0", "stack/backward_0", "stack/forward_1"]
        tokens = (["a"] * 30 + ["word"] * 10)[-steps:]
        figure = drawn(plots.gates(dict.fromkeys(names, np.full((steps, units), -0.5)), tokens))
        labels = [label.get_window_extent() for label in figure.axes[0].get_xticklabels()]
        assert all(left.x1 <= right.x0 for left, right in pairwise(labels))
        # With all that stands around axes: tokens, names, numbers of the scales.
        boxes = [axes.get_tightbbox() for axes in figure.axes]
        whole = figure.bbox
        assert all(whole.x0 <= box.x0 and box.x1 <= whole.x1 for box in boxes)
        assert all(whole.y0 <= box.y0 and box.y1 <= whole.y1 for box in boxes)
        panels = [(Bbox.union(boxes[k : k + 2])) for k in range(0, len(boxes), 2)]
        assert not any(panel.overlaps(other) for panel, other in combinations(panels, 2))

    @pytest.mark.parametrize(
        ("values", "tokens"),
        [
            ({}, None),
            ({"a": GATE[None]}, None),
            ({"a": GATE, "b": GATE[:3]}, None),
            ({"a": GATE}, ["x"]),
            ({"a": GATE[:0]}, None),
            ({"a": GATE[:, :0]}, None),
        ],
    )
    def test_other_shapes_are_refused(self, values, tokens):
        with pytest.raises(
            ValueError, match=r"Expected values \(T, D\) by name.*Pass one example, not a batch"
        ):
            plots.gates(values, tokens)

    def test_what_is_no_number_and_nothing_but_padding_are_refused(self):
        with pytest.raises(ValueError, match=r"must be finite, got .* for 'a'"):
            plots.gates({"a": [[float("nan")]]})
        with pytest.raises(ValueError, match="a token that is not empty, got 2 empty ones"):
            plots.gates({"a": GATE[:2]}, ["", ""])
