import subprocess
import sys
import warnings
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.colors import to_hex

from zoo import plots
from zoo.plots.alignment import WIDEST_LINE
from zoo.plots.typeface import LETTERS

SOURCE = ["1", " ", "M", "a", "y", "</s>", "", ""]
TARGET = ["0", "5", "-", "</s>", ""]
WEIGHTS = np.zeros((5, 8))
WEIGHTS[:4, :6] = np.random.default_rng(7).dirichlet(np.ones(6), size=4)


def texts(labels):
    return [label.get_text() for label in labels]


def heat_map_axes(figure):
    """All axes but the last, which is the scale."""
    return figure.axes[:-1]


def mesh_of(axes):
    (mesh,) = [artist for artist in axes.collections if isinstance(artist, QuadMesh)]
    return mesh


def drawn(figure):
    """Draws in earnest; a warning, such as one of a missing glyph, is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.canvas.draw()
    return figure


def lines_of(figure):
    (axes,) = figure.axes
    (lines,) = [artist for artist in axes.collections if isinstance(artist, PathCollection)]
    return lines


class TestHeatMap:
    def test_rows_are_the_target_and_columns_the_source_without_padding(self):
        (axes,) = heat_map_axes(drawn(plots.alignment_heat_map(SOURCE, TARGET, WEIGHTS)))
        assert texts(axes.get_xticklabels()) == ["1", "␣", "M", "a", "y", "</s>"]
        assert texts(axes.get_yticklabels()) == ["0", "5", "-", "</s>"]
        mesh = mesh_of(axes)
        np.testing.assert_array_equal(mesh.get_array(), WEIGHTS[:4, :6])
        assert mesh.get_clim() == (0, 1)

    def test_the_first_target_token_is_on_top_and_cells_are_square(self):
        figure = drawn(plots.alignment_heat_map(SOURCE, TARGET, WEIGHTS))
        (axes,) = heat_map_axes(figure)
        first, second, *_ = axes.transData.transform(
            [(0.5, y) for y in axes.get_yticks()],
        )
        right = axes.transData.transform((1.5, axes.get_yticks()[0]))
        assert first[1] > second[1]
        assert right[0] - first[0] == pytest.approx(first[1] - second[1])

    def test_darker_is_more(self):
        figure = plots.alignment_heat_map(["a", "b"], ["x", "y"], [[0.1, 0.9], [1.0, 0.0]])
        mesh = mesh_of(heat_map_axes(drawn(figure))[0])
        light = mesh.to_rgba(mesh.get_array().ravel())[:, :3].sum(axis=1)
        assert light[2] < light[1] < light[0] < light[3]

    def test_the_scale_goes_from_zero_to_one(self):
        scale = plots.alignment_heat_map(SOURCE, TARGET, WEIGHTS).axes[-1]
        assert texts(scale.get_yticklabels()) == ["0", "0.5", "1"]

    def test_a_title_is_written_as_it_is(self):
        figure = drawn(plots.alignment_heat_map(SOURCE, TARGET, WEIGHTS, title="from $1 to $2"))
        assert texts(figure.texts) == ["from $1 to $2"]
        assert texts(plots.alignment_heat_map(SOURCE, TARGET, WEIGHTS).texts) == []

    @pytest.mark.parametrize("length", [1, 5, 60, 200])
    def test_nothing_overlaps_or_is_cut(self, length):
        source = [*"abcdefghij" * 20][:length]
        figure = plots.alignment_heat_map(source, ["2019", "-"], np.full((2, length), 1 / length), title="t")
        (axes,) = heat_map_axes(drawn(figure))
        boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
        assert all(left.x1 <= right.x0 for left, right in pairwise(boxes))
        assert min(box.height for box in boxes) >= 8
        others = [text.get_window_extent() for text in (*axes.get_yticklabels(), *figure.texts)]
        whole = figure.bbox
        assert all(whole.x0 <= box.x0 and box.x1 <= whole.x1 for box in boxes + others)
        assert all(whole.y0 <= box.y0 and box.y1 <= whole.y1 for box in boxes + others)

    def test_words_are_written_upright_and_letters_are_not(self):
        figure = drawn(plots.alignment_heat_map(["a", "house"], ["b"], [[0.5, 0.5]]))
        labels = heat_map_axes(figure)[0].get_xticklabels()
        assert [label.get_rotation() for label in labels] == [0, 90]
        assert labels[1].get_window_extent().y1 <= figure.bbox.y1

    def test_input_may_be_any_sequence_and_is_left_alone(self):
        weights = WEIGHTS.copy()
        figure = plots.alignment_heat_map(np.array(SOURCE), tuple(TARGET), weights.tolist())
        assert texts(heat_map_axes(figure)[0].get_yticklabels()) == ["0", "5", "-", "</s>"]
        np.testing.assert_array_equal(weights, WEIGHTS)

    def test_it_can_be_saved(self, tmp_path):
        path = tmp_path / "alignment.png"
        plots.alignment_heat_map(SOURCE, TARGET, WEIGHTS).savefig(path)
        assert path.read_bytes().startswith(b"\x89PNG")


class TestLabels:
    @pytest.mark.parametrize(
        ("token", "shown"),
        [
            ("\t", "⇥"),
            ("\n", "⏎"),
            ("\N{NO-BREAK SPACE}", "␣"),
            ("New York", "New␣York"),
            ("\N{COMBINING ACUTE ACCENT}", "◌\N{COMBINING ACUTE ACCENT}"),
            ("\N{ZERO WIDTH JOINER}", "200D"),
            ("\x00", "0000"),
            ("$x$", "$x$"),
            ("é", "é"),
            ("Ж", "Ж"),
            ("Ω", "Ω"),
            ("", ""),
        ],
    )
    def test_what_is_hard_to_see_is_shown(self, token, shown):
        figure = drawn(plots.alignment_heat_map([token, "x"], ["y"], [[0.5, 0.5]]))
        assert texts(heat_map_axes(figure)[0].get_xticklabels()) == [shown, "x"]

    def test_a_letter_without_a_font_is_shown_as_its_code_point(self, monkeypatch):
        monkeypatch.setattr("zoo.plots.typeface.FURTHER_LETTERS", ())
        figure = drawn(plots.alignment_heat_map(["年", "👍"], ["y"], [[0.5, 0.5]], title="年"))
        assert texts(heat_map_axes(figure)[0].get_xticklabels()) == ["5E74", "1F44D"]
        assert texts(figure.texts) == ["5E74"]

    def test_a_further_font_is_used_where_it_has_the_letter(self, monkeypatch):
        # A font that comes with matplotlib stands for one that has Chinese.
        monkeypatch.setattr("zoo.plots.typeface.FURTHER_LETTERS", ("Not Installed Anywhere", "STIXGeneral"))
        figure = drawn(plots.alignment_heat_map(["\N{LATIN SMALL LETTER D WITH PALATAL HOOK}"], ["y"], [[1]]))
        assert texts(heat_map_axes(figure)[0].get_xticklabels()) == ["ᶁ"]
        assert heat_map_axes(figure)[0].get_xticklabels()[0].get_family() == [*LETTERS, "STIXGeneral"]

    def test_no_further_font_is_opened_without_need(self):
        figure = plots.alignment_heat_map([*"Friday пятница Παρασκευή"], ["y"], np.full((1, 24), 1 / 24))
        assert heat_map_axes(figure)[0].get_xticklabels()[0].get_family() == list(LETTERS)


class TestGrid:
    def test_every_example_has_its_heat_map(self):
        examples = [(SOURCE, TARGET, WEIGHTS), (["a"], ["b"], [[1.0]]), (["c", "d"], ["e"], [[0.3, 0.7]])]
        figure = drawn(plots.alignments(examples, title="three"))
        axes = heat_map_axes(figure)
        assert [mesh_of(each).get_array().shape for each in axes] == [(4, 6), (1, 1), (1, 2)]
        assert texts(axes[2].get_xticklabels()) == ["c", "d"]
        assert texts(figure.texts) == ["three"]

    def test_narrow_ones_stand_side_by_side_and_wide_ones_below_each_other(self):
        narrow = (["a"] * 10, ["b"], np.full((1, 10), 0.1))
        wide = (["a"] * 50, ["b"], np.full((1, 50), 0.02))
        left, right = (each.get_position() for each in heat_map_axes(plots.alignments([narrow, narrow])))
        assert left.y0 == pytest.approx(right.y0)
        assert left.x1 < right.x0
        above, below = (each.get_position() for each in heat_map_axes(plots.alignments([narrow, wide])))
        assert above.y0 > below.y1
        assert above.x0 == pytest.approx(below.x0)

    def test_there_must_be_one(self):
        with pytest.raises(ValueError, match="at least one example to draw, got none"):
            plots.alignments([])


class TestLines:
    def test_there_is_a_line_for_each_pair_as_wide_and_strong_as_its_weight(self):
        lines = lines_of(drawn(plots.alignment_lines(SOURCE, TARGET, WEIGHTS)))
        weights = WEIGHTS[:4, :6].ravel()
        assert len(lines.get_paths()) == 24
        np.testing.assert_allclose(lines.get_linewidths(), WIDEST_LINE * weights)
        np.testing.assert_allclose(lines.get_edgecolors()[:, 3], weights)

    def test_source_is_above_target_and_lines_join_their_tokens(self):
        figure = drawn(plots.alignment_lines(SOURCE, TARGET, WEIGHTS, title="where"))
        labels = figure.axes[0].texts
        source, target = labels[:6], labels[6:]
        assert texts(source) == ["1", "␣", "M", "a", "y", "</s>"]
        assert texts(target) == ["0", "5", "-", "</s>"]
        assert min(y for _, y in map(placed, source)) > max(y for _, y in map(placed, target))
        for number, path in enumerate(lines_of(figure).get_paths()):
            t, s = divmod(number, 6)
            assert path.vertices[0][0] == placed(target[t])[0]
            assert path.vertices[-1][0] == placed(source[s])[0]
        assert texts(figure.texts) == ["where"]

    def test_a_target_token_has_the_colour_of_its_lines(self):
        figure = plots.alignment_lines(SOURCE, TARGET, WEIGHTS)
        colours = lines_of(figure).get_edgecolors()[::6]
        assert [to_hex(label.get_color()) for label in figure.axes[0].texts[6:]] == list(map(to_hex, colours))
        assert len(set(map(to_hex, colours))) == 4

    @pytest.mark.parametrize("source", ["5 May", "x" * 60, ["words", "of", "different", "length", "日本語"]])
    def test_labels_do_not_overlap(self, source):
        weights = np.full((3, len(source)), 1 / len(source))
        figure = drawn(plots.alignment_lines(list(source), ["ein", "b", "langes"], weights))
        labels = figure.axes[0].texts
        for row in (labels[: len(source)], labels[len(source) :]):
            boxes = [label.get_window_extent() for label in row]
            assert all(left.x1 <= right.x0 for left, right in pairwise(boxes))
            assert boxes[0].x0 >= 0
            assert boxes[-1].x1 <= figure.bbox.x1


def placed(label):
    return label.get_position()


@pytest.mark.parametrize("draw", [plots.alignment_heat_map, plots.alignment_lines])
class TestWhatCannotBeDrawn:
    def test_another_shape(self, draw):
        with pytest.raises(ValueError, match=r"expected shape \(5, 8\), got \(8, 5\)\. Pass one example"):
            draw(SOURCE, TARGET, WEIGHTS.T)
        with pytest.raises(ValueError, match=r"got \(1, 5, 8\)"):
            draw(SOURCE, TARGET, WEIGHTS[None])

    @pytest.mark.parametrize("value", [-0.5, 1.5, float("nan")])
    def test_no_weights(self, draw, value):
        with pytest.raises(ValueError, match="lie between 0 and 1, got"):
            draw(["a"], ["b", "c"], [[1.0], [value]])

    @pytest.mark.parametrize(("source", "target"), [(["", ""], ["a"]), (["a", "b"], [""])])
    def test_nothing_but_padding(self, draw, source, target):
        with pytest.raises(ValueError, match="must be a source and a target token to draw, got"):
            draw(source, target, np.zeros((len(target), len(source))))


class TestLearningCurve:
    HISTORY = {  # noqa: RUF012
        "loss": [2.0, 1.0, 0.5],
        "token_accuracy": [0.3, 0.6, 0.9],
        "val_loss": [2.1, 1.2, 0.8],
        "val_token_accuracy": [0.2, 0.5, 0.7],
    }

    def test_a_panel_a_quantity_with_training_and_validation(self):
        figure = drawn(plots.learning_curve(self.HISTORY))
        assert [axes.get_title(loc="left") for axes in figure.axes] == ["loss", "token accuracy"]
        for axes, name in zip(figure.axes, ("loss", "token_accuracy"), strict=True):
            curves = {line.get_label(): line.get_xydata().tolist() for line in axes.lines}
            assert curves == {
                "training": [list(point) for point in enumerate(self.HISTORY[name], start=1)],
                "validation": [list(point) for point in enumerate(self.HISTORY[f"val_{name}"], start=1)],
            }
            assert texts(axes.get_legend().get_texts()) == ["training", "validation"]

    @pytest.mark.parametrize("name", ["loss", "val_loss"])
    def test_one_epoch_of_one_quantity_is_enough(self, name):
        (axes,) = drawn(plots.learning_curve({name: [0.5]})).axes
        assert axes.get_title(loc="left") == "loss"
        low, high = axes.get_xlim()
        assert [tick for tick in axes.get_xticks() if low <= tick <= high] == [1]

    @pytest.mark.parametrize("history", [{}, {"loss": []}, {"loss": [1.0, 2.0], "val_loss": [1.0]}])
    def test_what_cannot_be_drawn(self, history):
        with pytest.raises(ValueError, match="one value per epoch for every name, got"):
            plots.learning_curve(history)


class TestScoresByLength:
    BUCKETS = ((1, 5, 40), (6, 10, 1300), (11, 30, 20))
    SCORES: ClassVar = {"attention": [40.0, 39.0, 37.0], "none": [39.0, 30.0, 12.0]}

    def test_a_line_a_system_over_lengths_with_their_numbers_of_pairs(self):
        (axes,) = drawn(plots.scores_by_length(self.SCORES, self.BUCKETS, metric="bleu_moses")).axes
        assert axes.get_title(loc="left") == "bleu moses"
        assert {line.get_label(): list(line.get_ydata()) for line in axes.lines} == self.SCORES
        assert texts(axes.get_xticklabels()) == ["1–5\n40", "6–10\n1,300", "11–30\n20"]
        assert len({line.get_color() for line in axes.lines}) == 2
        assert axes.get_ylim()[0] == 0

    @pytest.mark.parametrize("scores", [{}, {"a": [1.0]}, {"a": [1.0, 2.0, 3.0], "b": []}])
    def test_what_cannot_be_drawn(self, scores):
        with pytest.raises(ValueError, match="one score for each of the buckets"):
            plots.scores_by_length(scores, self.BUCKETS, metric="bleu")


def test_no_window_is_kept_open_and_no_screen_needed():
    code = (
        "import sys, zoo.plots; sys.exit('matplotlib.pyplot' in sys.modules or 'tensorflow' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
