"""Figures that look alike."""

import matplotlib
import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from lowpass.figures.palette import PAPER, depth_colours
from lowpass.figures.style import (
    BREADTHS,
    axis_text,
    canvas,
    depth_axis,
    end_labels,
    head,
    look,
    spines,
)
from lowpass.registry import Refusal

from .inspection import assert_clean, box_of, drawn_texts


def variable(**card):
    return xr.DataArray(0.0, name="slem", attrs=card)


def labels_of(ax):
    """Give where labels lie, in points: one pixel is one point before saving."""
    return {text.get_text(): box_of(text) for text in drawn_texts(ax.figure)}


def test_the_demo_figure_is_clean(demo):
    assert_clean(demo)


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda ax: ax.text(0.5, 0.5, "tiny", fontsize=6), "too small"),
        (lambda ax: ax.annotate("away", (1, 0), (300, 0), textcoords="offset points"), "leaves"),
        (lambda ax: [ax.text(0.5, 0.5, word) for word in ("one", "other")], "overlaps"),
        (lambda ax: ax.plot([0, 1], [0, 1], label="line") and ax.legend(), "legend"),
        (lambda ax: ax.plot([0.5], [-3], "o", clip_on=False, scaley=False), "leaves"),
    ],
)
def test_the_inspection_sees_what_is_wrong(spoil, complaint):
    with look():
        figure, (ax,) = canvas("column", 2.4)
        spoil(ax)
        with pytest.raises(AssertionError, match=complaint):
            assert_clean(figure)


@pytest.mark.parametrize("breadth", BREADTHS)
@pytest.mark.parametrize("panels", [(1, 1), (1, 2), (2, 2)])
def test_panels_lie_where_the_inches_say(breadth, panels):
    figure, axes = canvas(
        breadth, 4.0, panels=panels, gaps=(0.5, 0.6), margins={"left": 0.4, "bottom": 0.3}
    )
    inches = [ax.get_window_extent().extents / figure.dpi for ax in axes]
    first, last = inches[0], inches[-1]
    assert len(axes) == panels[0] * panels[1]
    assert_allclose(first[[0, 3]], [0.4, 4.0 - 0.36])
    assert_allclose(last[[2, 1]], [BREADTHS[breadth] - 0.62, 0.3])
    if panels[1] == 2:
        assert_allclose(inches[1][0] - first[2], 0.5)
    if panels[0] == 2:
        assert_allclose(first[1] - last[3], 0.6)


def test_the_look_does_not_depend_on_the_users_settings():
    with matplotlib.rc_context({"axes.grid": True, "font.size": 30, "legend.frameon": False}):
        with look():
            assert not matplotlib.rcParams["axes.grid"]
            assert matplotlib.rcParams["font.family"] == ["STIXGeneral"]
        assert matplotlib.rcParams["font.size"] == 30


def test_figures_are_drawn_without_pyplot():
    figure, _ = canvas("column", 2.4)
    assert type(figure) is Figure
    assert type(figure.canvas).__name__ == "FigureCanvasBase"


def test_ground_and_ink_are_those_of_the_palette(palette):
    with look(palette):
        figure, (ax,) = canvas("column", 2.4, palette)
        head(ax, "a", "A finding")
    assert to_hex(figure.get_facecolor()).upper() == palette.ground
    assert {to_hex(text.get_color()).upper() for text in ax.texts} == {palette.ink}


def test_a_panel_keeps_only_the_spines_it_names():
    with look():
        _, (ax,) = canvas("column", 2.4)
        spines(ax, "bottom")
    assert [side for side, spine in ax.spines.items() if spine.get_visible()] == ["bottom"]


def test_a_long_head_breaks_upwards_within_its_panel():
    with look():
        figure, (ax,) = canvas("column", 2.4)
        head(ax, "a", "Only the mean survives, at the rate of the second eigenvalue of attention")
        boxes = [text.get_window_extent() for text in ax.texts]
    frame = ax.get_window_extent()
    assert len(ax.texts) == 3
    assert ax.texts[0].get_weight() == "bold"
    assert ax.texts[0].get_position()[1] == ax.texts[1].get_position()[1]
    assert min(box.y0 for box in boxes) > frame.y1
    assert max(box.x1 for box in boxes) <= frame.x1 + 1
    assert_clean(figure)


def test_end_labels_keep_their_order_and_nine_points(rng, palette):
    ends = [(1.0, y, f"line {i}", palette.ink) for i, y in enumerate(rng.uniform(0.4, 0.5, 8))]
    with look(palette):
        figure, (ax,) = canvas("column", 2.4, palette)
        ax.plot([0, 1], [0, 1])
        end_labels(ax, ends)
        boxes = labels_of(ax)
    rising = sorted(ends, key=lambda end: end[1])
    middles = np.array([boxes[name].y0 + boxes[name].height / 2 for _, _, name, _ in rising])
    assert (np.diff(middles) >= 9 - 1e-6).all()
    assert_clean(figure)


def test_an_end_label_with_room_lies_at_its_end_in_its_colour():
    with look():
        _, (ax,) = canvas("column", 2.4)
        ax.plot([0, 1], [0, 1])
        end_labels(ax, [(1.0, 0.25, "low", PAPER.remedy), (0.9, 0.75, "high", PAPER.attention)])
        boxes = labels_of(ax)
    low, high = ax.texts
    for y, name in [(0.25, "low"), (0.75, "high")]:
        end = ax.transData.transform((1.0, y))
        assert_allclose(boxes[name].x0, end[0] + 4, atol=0.5)  # hinting
        assert boxes[name].y0 < end[1] < boxes[name].y1
    assert (low.get_color(), high.get_color()) == (PAPER.remedy, PAPER.attention)
    assert low.arrow_patch is None


def test_end_labels_stay_beside_their_panel():
    """Five lines that end on the floor are labelled above it, in order."""
    ends = [(1.0, 0.001 * i, str(i), PAPER.ink) for i in range(5)]
    with look():
        _, (ax,) = canvas("column", 2.4)
        ax.set(xlim=(0, 1), ylim=(0, 1))
        end_labels(ax, ends)
        boxes = labels_of(ax)
    floor = ax.get_window_extent().y0
    middles = [boxes[str(i)].y0 + boxes[str(i)].height / 2 for i in range(5)]
    assert_allclose(middles, floor + 9 * np.arange(5), atol=1.5)  # a centre on the baseline


def test_lines_that_left_the_panel_are_labelled_in_order_at_its_edge():
    """Zero has no place on a logarithmic axis; its label stands on the floor."""
    ends = [(1.0, 1e-3, "small", PAPER.ink), (1.0, 0.0, "zero", PAPER.ink)]
    with look():
        figure, (ax,) = canvas("column", 2.4)
        ax.semilogy([0, 1], [1, 0.1])
        end_labels(ax, [*ends, (1.0, 9.0, "large", PAPER.ink)])
        boxes = labels_of(ax)
    frame = ax.get_window_extent()
    assert boxes["zero"].y0 < frame.y0 < boxes["zero"].y1 < boxes["small"].y1 < frame.y1
    assert boxes["large"].y0 < frame.y1 < boxes["large"].y1
    assert_clean(figure)


def test_end_labels_fix_the_limits():
    with look():
        _, (ax,) = canvas("column", 2.4)
        ax.plot([0, 1], [0, 1])
        end_labels(ax, [(1.0, 1.0, "line", PAPER.ink)])
        limits = ax.get_ylim()
        ax.plot([0, 1], [0, 99])
    assert ax.get_ylim() == limits


@pytest.mark.parametrize("layers", [[0, 1, 2, 4, 8], [0, 16, 400], [0, 1000, 10000]])
def test_depth_is_a_row_of_dots_with_numbers(palette, layers):
    with look(palette):
        figure, (ax,) = canvas("column", 2.4, palette)
        depth_axis(ax, layers, palette)
    assert [line.get_color() for line in ax.lines] == depth_colours(layers, palette)
    assert [text.get_text() for text in ax.texts] == [*map(str, layers), "layer"]
    assert_clean(figure)


@pytest.mark.parametrize(
    ("card", "text"),
    [
        ({"long_name": "bandwidth", "symbol": "h", "units": "years"}, "bandwidth  $h$  (years)"),
        ({"long_name": "gain", "symbol": r"\sigma", "units": "1"}, r"gain  $\sigma$"),
        ({"long_name": "gain", "units": "dimensionless"}, "gain"),
        ({"long_name": "carbon dioxide", "symbol": "", "units": "µmol m⁻²"},
         "carbon dioxide  (μmol m$^{-2}$)"),
    ],
)  # fmt: skip
def test_an_axis_is_named_by_its_card(card, text):
    assert axis_text(variable(**card)).replace("µ", "μ") == text


def test_refuses_an_axis_without_a_card():
    with pytest.raises(Refusal, match="the variable 'slem' has no long_name"):
        axis_text(variable(symbol="s"))


def test_refuses_a_breadth_that_is_not_printed():
    with pytest.raises(Refusal, match="no breadth is called 'poster'"):
        canvas("poster", 2.4)


def test_refuses_panels_that_do_not_fit():
    with pytest.raises(Refusal, match=r"3 x 5 panels do not fit 3.35 x 2.4 inches"):
        canvas("column", 2.4, panels=(3, 5))


def test_refuses_to_label_a_line_that_ends_nowhere():
    with look():
        _, (ax,) = canvas("column", 2.4)
        with pytest.raises(Refusal, match="not all finite"):
            end_labels(ax, [(1.0, float("nan"), "nowhere", PAPER.ink)])
